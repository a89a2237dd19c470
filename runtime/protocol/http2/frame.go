package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/codec"
)

const (
	frameHead = 9       // bytes before a frame's payload
	frameMost = 1 << 14 // the largest payload that we take, and that every peer must take

	typeData         = 0x0
	typeHeaders      = 0x1
	typePriority     = 0x2
	typeReset        = 0x3
	typeSettings     = 0x4
	typePush         = 0x5
	typePing         = 0x6
	typeGoaway       = 0x7
	typeWindow       = 0x8
	typeContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	settingTable    = 0x1
	settingPush     = 0x2
	settingStreams  = 0x3
	settingWindow   = 0x4
	settingFrame    = 0x5
	settingHeadList = 0x6
)

// frame is the head of one frame.
type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func parseFrame(b []byte) frame {
	_ = b[frameHead-1]
	return frame{payloadLen(b), b[3], b[4], binary.BigEndian.Uint32(b[5:]) &^ (1 << 31)}
}

func payloadLen(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

func putFrame(b []byte, length int, kind, flags byte, stream uint32) {
	_ = b[frameHead-1]
	b[0], b[1], b[2], b[3], b[4] = byte(length>>16), byte(length>>8), byte(length), kind, flags
	binary.BigEndian.PutUint32(b[5:], stream)
}

func appendFrame(b []byte, length int, kind, flags byte, stream uint32) []byte {
	return append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags,
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

func appendSetting(b []byte, id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), value)
}

// intake is how far the server's bytes are cut into frames.
type intake struct {
	carry []byte // the beginning of a unit
	data  dataState
	idle  int // frames in a row that carried nothing
}

func (t *intake) emptied() intake { return intake{carry: t.carry[:0]} }

// nothing counts a frame that carries nothing for any stream. Frames of a response reset the
// count, so that an honest connection may live without end.
func (t *intake) nothing() *fault {
	if t.idle++; t.idle > idleMost {
		return faultFlood
	}
	return nil
}

// unit returns how many contiguous bytes the next step needs: a whole frame, or of DATA only
// the part before the body. known says that SETTINGS arrived; inside is the stream whose header
// block the frame continues, 0 for none.
func unit(b []byte, known bool, inside uint32) (int, *fault) {
	if len(b) < frameHead {
		return frameHead, nil
	}
	f := parseFrame(b)
	if !known {
		switch {
		case string(b[:5]) == "HTTP/":
			return 0, faultHTTP1
		case b[0] == 0x15 || b[0] == 0x16:
			return 0, faultTLS
		case f.kind != typeSettings || f.flags&flagAck != 0:
			return 0, faultPreface
		}
	}
	switch {
	case f.length > frameMost:
		return 0, faultFrameLarge
	case inside != 0 && (f.kind != typeContinuation || f.stream != inside):
		return 0, faultInterleaved
	case f.kind != typeData:
		return frameHead + f.length, nil
	case f.flags&flagPadded != 0 && f.length > 0:
		return frameHead + 1, nil
	}
	return frameHead, nil
}

// Feed decodes the next bytes from the server and reports them to the handler. The handler may
// call Open, Cancel, Output and Sent, but none of them in Begins. After an error every stream
// has failed, the last frame of Output names the fault, and the caller must close the
// connection.
func (c *Conn) Feed(b []byte, on codec.Handler) error {
	in := &c.in
	for c.err == nil {
		if in.data.left > 0 {
			if len(b) == 0 {
				break
			}
			n := min(in.data.left, len(b))
			c.dataPiece(b[:n], on)
			b = b[n:]
			continue
		}
		piece := b
		if len(in.carry) > 0 {
			piece = in.carry
		}
		n, wrong := unit(piece, c.peer.known, c.block.stream)
		if wrong != nil {
			c.fail(wrong, on)
			break
		}
		if len(piece) >= n {
			if len(in.carry) == 0 {
				b = b[n:]
			}
			wrong = c.frame(piece[:n], on)
			in.carry = in.carry[:0]
			if wrong != nil {
				c.fail(wrong, on)
			}
			continue
		}
		if len(b) == 0 {
			break
		}
		n = min(n-len(in.carry), len(b))
		in.carry = append(in.carry, b[:n]...)
		b = b[n:]
	}
	if c.err == nil {
		return nil
	}
	return c.err
}

// frame takes one unit.
func (c *Conn) frame(b []byte, on codec.Handler) *fault {
	f, payload := parseFrame(b), b[frameHead:]
	switch f.kind {
	case typeData:
		return c.onData(f, payload, on)
	case typeHeaders:
		return c.onHeaders(f, payload, on)
	case typeContinuation:
		return c.onContinuation(f, payload, on)
	case typeReset:
		return c.onReset(f, payload, on)
	case typeSettings:
		return c.onSettings(f, payload)
	case typePing:
		return c.onPing(f, payload)
	case typeGoaway:
		return c.onGoaway(f, payload, on)
	case typeWindow:
		return c.onWindow(f, payload, on)
	case typePush:
		return faultPush
	case typePriority:
		return c.onPriority(f)
	}
	return c.in.nothing() // unknown types are ignored (RFC 9113, 4.1)
}
