package grpc

import (
	"io"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// connections are servers that no call reaches.
func connections() []Entry {
	accept := func(name string, kind http1.Kind, act func(*Conn) bool) Entry {
		return Entry{Name: name, Want: Want{Kind: kind}, Server: Behaviour{Accept: act}}
	}
	say := func(text string) func(*Conn) bool {
		return func(c *Conn) bool { _, _ = io.WriteString(c, text); return c.hold() }
	}
	return []Entry{
		{Name: "nothing listens", Want: Want{Kind: http1.KindRefused}, Once: true},
		accept("it says nothing", http1.KindTimeout, (*Conn).hold),
		accept("it closes", http1.KindClosed, func(c *Conn) bool {
			_, _ = io.CopyN(io.Discard, c.in, int64(len(preface)))
			return false
		}),
		accept("it speaks HTTP/1", http1.KindProtocol, say("HTTP/1.1 400 Bad Request\r\n\r\n")),
		accept("it speaks TLS", http1.KindProtocol, say("\x15\x03\x01\x00\x02\x02\x16\x15\x03\x01\x00\x02\x02\x16")),
		accept("it speaks garbage", http1.KindProtocol, say("\x00\x00\x00\x00\x00\x00\x00\x00\x00evil")),
		accept("its preface comes a byte at a time", http1.KindNone, func(c *Conn) bool {
			for _, one := range []byte{0, 0, 0, 4, 0, 0, 0, 0, 0} {
				if _, _ = c.Write([]byte{one}); !c.wait(time.Millisecond) {
					return false
				}
			}
			return true
		}),
	}
}

// play is an entry whose script says whether the connection stays.
func play(name string, kind http1.Kind, called func(c *Conn, id uint32) bool) Entry {
	return Entry{Name: name, Want: Want{Kind: kind}, Server: Behaviour{Called: called}}
}

// whole is a good answer, with the hostile text.
func whole(c *Conn, id uint32) {
	c.head(id)
	c.data(id, 0, evil())
	c.trailers(id, "grpc-status", "0")
}

// resets are calls that end by a reset of their stream.
func resets() []Entry {
	reset := func(name string, kind http1.Kind, code uint32, begun bool) Entry {
		return answers(name, kind, func(c *Conn, id uint32) {
			if begun {
				c.head(id)
				c.data(id, 0, evil()[:6])
			}
			c.reset(id, code)
		})
	}
	return []Entry{
		reset("a reset with REFUSED_STREAM", http1.KindRefusedStream, 7, false),
		reset("a reset with CANCEL", http1.KindStreamReset, 8, false),
		reset("a reset with INTERNAL_ERROR", http1.KindStreamReset, 2, false),
		reset("a reset with ENHANCE_YOUR_CALM", http1.KindStreamReset, 11, false),
		reset("a reset with NO_ERROR in a message", http1.KindStreamReset, 0, true),
		reset("a reset with CANCEL in a message", http1.KindStreamReset, 8, true),
		reset("a reset with REFUSED_STREAM in a message", http1.KindStreamReset, 7, true),
		reset("a reset with a code that nothing has", http1.KindStreamReset, 1<<31, false),
	}
}

// endings are calls that end by a goodbye or a closed connection.
func endings() []Entry {
	return []Entry{
		play("GOAWAY that names the call, and its answer", http1.KindNone, func(c *Conn, id uint32) bool {
			c.goaway(id, 0)
			whole(c, id)
			return true
		}),
		play("GOAWAY in a message, and the rest", http1.KindNone, func(c *Conn, id uint32) bool {
			c.head(id)
			c.data(id, 0, evil()[:6])
			c.goaway(id, 0)
			c.data(id, 0, evil()[6:])
			c.trailers(id, "grpc-status", "0")
			return true
		}),
		play("GOAWAY that does not name the call", http1.KindGoaway, func(c *Conn, _ uint32) bool {
			c.goaway(0, 0)
			return true
		}),
		play("GOAWAY that names the call, and the end", http1.KindClosed, func(c *Conn, id uint32) bool {
			c.goaway(id, 0)
			return false
		}),
		play("two GOAWAYs, and the answer", http1.KindNone, func(c *Conn, id uint32) bool {
			c.goaway(1<<31-1, 0)
			c.goaway(id, 0)
			whole(c, id)
			return true
		}),
		play("GOAWAY with ENHANCE_YOUR_CALM", http1.KindGoaway, func(c *Conn, _ uint32) bool {
			c.goaway(0, 11)
			return false
		}),
		play("the end before an answer", http1.KindClosed, func(*Conn, uint32) bool { return false }),
		play("the end in a message", http1.KindTruncated, func(c *Conn, id uint32) bool {
			c.head(id)
			c.data(id, 0, evil()[:6])
			return false
		}),
		play("the end before the trailers", http1.KindTruncated, func(c *Conn, id uint32) bool {
			c.head(id)
			c.data(id, 0, evil())
			return false
		}),
		play("a message behind the trailers", http1.KindNone, func(c *Conn, id uint32) bool {
			whole(c, id)
			c.data(id, flagEnd, evil())
			return true
		}),
		play("an answer to a call that nothing made", http1.KindProtocol, func(c *Conn, id uint32) bool {
			c.head(id + 2)
			return c.hold()
		}),
	}
}

// flows are servers whose windows, limits or pace stand in the way.
func flows() []Entry {
	return []Entry{
		{Name: "a window that never opens", Want: Want{Kind: http1.KindWriteTimeout}, Size: 100 << 10},
		{Name: "a window that opens late", Size: 100 << 10, Server: Behaviour{Begun: func(c *Conn, id uint32) {
			if c.wait(20 * time.Millisecond) {
				c.frame(typeWindow, 0, 0, []byte{0, 1, 0, 0})
				c.frame(typeWindow, 0, id, []byte{0, 1, 0, 0})
			}
		}}},
		answers("a message, and no trailers", http1.KindTimeout, func(c *Conn, id uint32) {
			c.head(id)
			c.data(id, 0, evil())
		}),
		answers("a head alone", http1.KindTimeout, func(c *Conn, id uint32) { c.head(id) }),
		answers("no answer", http1.KindTimeout, func(*Conn, uint32) {}),
		answers("10,000 empty frames, and the answer", http1.KindFlood, func(c *Conn, id uint32) {
			c.head(id)
			for range 10_001 {
				c.data(id, 0, nil)
			}
		}),
		answers("pings, and the answer", http1.KindNone, func(c *Conn, id uint32) {
			for range 100 {
				c.frame(typePing, 0, 0, make([]byte, 8))
			}
			c.head(id)
			c.data(id, 0, evil())
			c.trailers(id, "grpc-status", "0")
		}),
		answers("a window update of 0", http1.KindProtocol, func(c *Conn, id uint32) { c.frame(typeWindow, 0, id, make([]byte, 4)) }),
		answers("a window beyond 2^31", http1.KindFlowControl, func(c *Conn, id uint32) {
			c.frame(typeWindow, 0, id, []byte{0x7f, 0xff, 0xff, 0xff})
		}),
	}
}
