package ssh

import (
	"encoding/binary"
	"io"
)

// Packets of SFTP version 3.
const (
	fxInit, fxVersion                       = 1, 2
	fxOpen, fxClose, fxRead                 = 3, 4, 5
	fxLstat, fxFstat                        = 7, 8
	fxOpendir, fxReaddir                    = 11, 12
	fxRealpath, fxStat                      = 16, 17
	fxStatus, fxHandle, fxData              = 101, 102, 103
	fxName, fxAttrs                         = 104, 105
	statusOK, statusEOF, statusFailure byte = 0, 1, 4
)

// packetMost bounds a packet of the client.
const packetMost = 256 << 10

// packet is a packet with its length.
func packet(kind byte, id uint32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(5+len(rest)))
	return append(binary.BigEndian.AppendUint32(append(b, kind), id), rest...)
}

// text is a text with its length.
func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

func status(id uint32, code byte, message string) []byte {
	return packet(fxStatus, id, append(append([]byte{0, 0, 0, code}, text(message)...), text("")...)...)
}

// attrs are those of a file with a size alone.
func attrs(size byte) []byte { return []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, size} }

// names is an answer to readdir.
func names(id uint32, all ...string) []byte {
	rest := binary.BigEndian.AppendUint32(nil, uint32(len(all)))
	for _, name := range all {
		rest = append(append(append(rest, text(name)...), text(name)...), attrs(1)...)
	}
	return packet(fxName, id, rest...)
}

// files serves the subsystem.
func files(b *Behaviour, c io.ReadWriter) Answer {
	listed := false
	for {
		var head [4]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return Usual
		}
		n := binary.BigEndian.Uint32(head[:])
		if n < 5 || n > packetMost {
			return Hangup
		}
		in := make([]byte, n)
		if _, err := io.ReadFull(c, in); err != nil {
			return Usual
		}
		kind, id := in[0], binary.BigEndian.Uint32(in[1:])
		if b.Flood != nil && kind != fxInit {
			for {
				if _, err := c.Write(b.Flood); err != nil {
					return Usual
				}
			}
		}
		if b.Packet != nil {
			if a := b.Packet(c, kind, id); a == Hangup {
				return a
			} else if a == Said {
				if kind != fxReaddir {
					b.spent()
				}
				continue
			}
		}
		var out []byte
		switch kind {
		case fxInit:
			out = []byte{0, 0, 0, 5, fxVersion, 0, 0, 0, 3}
		case fxOpen, fxOpendir:
			out, listed = packet(fxHandle, id, text("h")...), false
		case fxStat, fxLstat, fxFstat:
			out = packet(fxAttrs, id, attrs(byte(len(Next)))...)
		case fxRead:
			out = status(id, statusEOF, "EOF")
			if offset := binary.BigEndian.Uint64(in[5+4+1:]); offset == 0 {
				out = packet(fxData, id, text(Next)...)
			}
		case fxRealpath:
			out = names(id, "/")
		case fxReaddir:
			if out = names(id, Next); listed {
				out = status(id, statusEOF, "EOF")
			}
			listed = true
		default:
			out = status(id, statusOK, "OK")
		}
		if _, err := c.Write(out); err != nil {
			return Usual
		}
	}
}
