package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// settings are the values of the server's SETTINGS.
type settings struct {
	known   bool   // the first ones came
	lowered bool   // the next header block must begin with a table size update
	streams uint32 // MAX_CONCURRENT_STREAMS
	table   uint32 // HEADER_TABLE_SIZE
	window  int64  // INITIAL_WINDOW_SIZE
	frame   int    // MAX_FRAME_SIZE
}

// firstSettings are those of a server that said nothing.
var firstSettings = settings{streams: 1<<32 - 1, table: tableMost, window: windowFirst, frame: frameMost}

// take takes one setting.
func (p *settings) take(id uint16, value uint32) *fault {
	switch id {
	case settingTable:
		p.lowered = p.lowered || value < p.table
		p.table = value
	case settingPush:
		if value != 0 {
			return faultSettings
		}
	case settingStreams:
		p.streams = value
	case settingWindow:
		if value > windowMost {
			return faultInitialLarge
		}
		p.window = int64(value)
	case settingFrame:
		if value < frameMost || value > 1<<24-1 {
			return faultSettings
		}
		p.frame = int(value)
	}
	return nil
}

// onSettings takes the server's SETTINGS, all or nothing of a frame, and answers.
func (c *Conn) onSettings(f frame, b []byte) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case f.flags&flagAck != 0 && len(b) != 0, len(b)%6 != 0:
		return faultFrameSize
	case f.flags&flagAck != 0:
		return c.in.nothing()
	}
	for ; len(b) > 0; b = b[6:] {
		before, id := c.peer.window, binary.BigEndian.Uint16(b)
		if wrong := c.peer.take(id, binary.BigEndian.Uint32(b[2:])); wrong != nil {
			return wrong
		}
		if id == settingWindow {
			if wrong := c.streams.widen(c.peer.window - before); wrong != nil {
				return wrong
			}
			c.flow.requeue(&c.streams)
		}
	}
	c.peer.known = true
	c.out.acknowledge(typeSettings, nil)
	return c.answered()
}

// widen moves the windows of all open streams; they may become negative.
func (t *streams) widen(by int64) *fault {
	for i := range t.slots {
		s := &t.slots[i]
		if s.id == 0 {
			continue
		}
		if s.sendWindow += by; s.sendWindow > windowMost {
			return faultInitialLarge
		}
	}
	return nil
}

// party is one side of a connection.
type party uint8

const (
	neither party = iota
	us
	server
)

// farewell is the GOAWAY after which the connection opens nothing more.
type farewell struct {
	by   party
	code Code
	last uint32 // streams above it were never processed
}

// cuts is why a stream fails whose connection ended in order.
func (w *farewell) cuts(s *stream) *http1.Error {
	switch began := s.status != 0 || s.interim != 0; {
	case !began && w.code == CodeNone:
		return errClosed
	case !began:
		return errClosedBy.of(w.code)
	case w.code == CodeNone:
		return errTruncated
	}
	return errTruncatedBy.of(w.code)
}
