package websocket

import (
	"math"
	"sync"

	"hyperscale/runtime/protocol/http1"
)

// frameFaults are frames that RFC 6455 forbids.
func frameFaults() []Entry {
	wrong := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	return []Entry{
		wrong("a masked frame", "\x81\x85\x01\x02\x03\x04Ifmmn"),
		wrong("RSV1", frame(fDeflated, "hello")),
		wrong("RSV2", frame(fText|0x20, "hello")),
		wrong("RSV3 of a ping", frame(fPing|0x10, "")),
		wrong("a reserved opcode", frame(0x83, "hello")),
		wrong("a reserved control opcode", frame(0x8b, "")),
		wrong("a fragmented ping", frame(fPing&^0x80, "pi")+frame(fLast, "ng")),
		wrong("a ping of 126 bytes", frame(fPing, many("x", 126))),
		wrong("a stray continuation", frame(fLast, "stray")),
		wrong("a message inside a message", frame(fTextPart, "one")+text("two")),
		wrong("HTTP for a frame", "HTTP/1.1 400 Bad Request\r\n"+empty),
		Entry{Name: "a masked frame together with 101", Server: Behaviour{Greeting: "\x81\x80\x01\x02\x03\x04", After: hold}, Want: fails(http1.KindProtocol)},
	}
}

// lengths are frames that are large, many, or cut.
func lengths() []Entry {
	large := fails(http1.KindTooLarge)
	flood := fails(http1.KindFlood)
	return []Entry{
		answers("2^63 bytes", announced(1<<63), hold, fails(http1.KindProtocol)),
		answers("2^63-1 bytes", announced(math.MaxInt64), hold, large),
		answers("2^31-1 bytes", announced(math.MaxInt32), hold, large),
		answers("fragments whose sum overflows", frame(fTextPart, "x")+"\x80\x7f\x7f"+many("\xff", 7), hold, large),
		answers("fragments without end", frame(fBinary&^0x80, "x"), floods(frame(fMore, many("x", 8<<10))), large).flooding(),
		answers("a length in too many bytes", "\x81\x7e\x00\x02ok", hold, fails(http1.KindProtocol)),
		answers("a ping flood", "", floods(frame(fPing, "ping")), flood).flooding(),
		answers("a flood of long pings that reads nothing", "", floods(frame(fPing, many("p", 125))), flood).flooding(),
		answers("a pong flood", "", floods(frame(fPong, "")), flood).flooding(),
		answers("empty fragments without end", frame(fTextPart, "x"), floods(frame(fMore, "")), flood).flooding(),
		answers("the end inside a frame's head", "\x81", half, fails(http1.KindTruncated)),
		answers("the end inside a message", "\x81\x05hel", half, fails(http1.KindTruncated)),
		answers("the end between fragments", frame(fTextPart, "hel"), half, fails(http1.KindTruncated)),
		answers("a reset inside a message", "\x81\x05hel", reset, fails(http1.KindReset)),
		Entry{Name: "the end below TLS inside a message", Server: Behaviour{Answer: "\x81\x05hel", Then: cut}, Want: fails(http1.KindTruncated)}.asking(Ask{TLS: true}),
	}
}

// texts are no UTF-8.
func texts() []Entry {
	wrong := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	return []Entry{
		wrong("a text that is not UTF-8", text("caf\xe9")),
		wrong("invalid UTF-8 across fragments", frame(fTextPart, "\xce\xba\xed")+frame(fMore, "\xa0")+frame(fLast, "\x80")),
		wrong("a surrogate", text("\xed\xa0\x80")),
		wrong("a rune that the message cuts", text("\xe2\x82")),
		wrong("invalid UTF-8 in a message without end", frame(fTextPart, "\xf4\x90")),
	}
}

// bomb grows to 17 MiB, above what a client keeps unless it says so.
var bomb = sync.OnceValue(func() string { return deflated(many("\x00", 17<<20)) })

// compressed are messages under permessage-deflate.
func compressed() []Entry {
	deflate := Ask{Compressed: true}
	with := func(name, answer string, then Act, want Want) Entry {
		return answers(name, answer, then, want).asking(deflate)
	}
	bomb := bomb()
	cutShort := deflated("hello, hello, hello, hello")
	return []Entry{
		with("a deflate bomb", frame(fDeflated, bomb), hold, fails(http1.KindBomb)).flooding(),
		with("a deflate bomb in fragments", pieces(fDeflated, bomb, 4096, frame(fPing, "p")), hold, fails(http1.KindBomb)).flooding(),
		with("a text that is no DEFLATE", frame(fDeflated, "\xff\xff\xff"), hold, fails(http1.KindEncoding)),
		with("DEFLATE that is cut", frame(fDeflated, cutShort[:len(cutShort)/2]), hold, fails(http1.KindEncoding)),
		with("DEFLATE that refers to the last message", frame(fDeflated, "\xf2\x00\x11\x00\x00"), hold, fails(http1.KindEncoding)),
		with("a continuation marked as compressed", frame(fDeflatedIn, "\xf2H")+frame(0xc0, "\xcd\xc9\xc9\x07\x00"), hold, fails(http1.KindProtocol)),
		with("a compressed text that is not UTF-8", frame(fDeflated, deflated("caf\xe9")), hold, fails(http1.KindProtocol)),
		with("a compressed message", frame(fDeflated, deflated("hello")), nil, got("hello")),
		with("a compressed message in fragments", pieces(fDeflated, deflated(many("hello ", 99)), 1, frame(fPing, "p")), nil, got(many("hello ", 99))),
		with("a message that is not compressed", text("hello"), nil, got("hello")),
		with("DEFLATE with a final block", frame(fDeflated, "\xf3H\xcd\xc9\xc9\x07\x00\x00"), nil, got("Hello")),
	}
}
