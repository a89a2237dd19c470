package mongodb

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// connections are about what becomes of the connection before anything is asked.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, At: AtAccept, Act: act, Want: fails(kind)}
	}
	return []Entry{
		{Name: "no server", Once: true, Want: fails(http1.KindRefused)},
		accepts("silence behind the connect", hold, http1.KindConnectTimeout),
		accepts("a banner", raw("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", raw("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("the end behind the connect", half, http1.KindClosed),
		accepts("a reset behind the connect", reset, http1.KindReset),
		accepts("a server that takes no bytes", frozen, http1.KindConnectTimeout),
	}
}

// greetings are answers to hello and SASL.
func greetings() []Entry {
	at := func(place Place, name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, At: place, Act: act, Want: fails(kind)}
	}
	return []Entry{
		at(AtHello, "the end inside hello", raw(i32(200)+"half", half), http1.KindTruncated),
		at(AtHello, "hello a byte now and then", drips(hello(21), 100*time.Millisecond, hold), http1.KindConnectTimeout),
		at(AtHello, "hello of 2^31-1 bytes", raw("\xff\xff\xff\x7f", hold), http1.KindProtocol),
		at(AtHello, "hello of another number", func(s *Session) bool { s.Frame(99, 0, 0, hello(21)); return hold(s) }, http1.KindProtocol),
		at(AtHello, "a server of MongoDB 3.4", says(hello(5), hold), http1.KindProtocol),
		at(AtHello, "a secondary", says(doc(whole("maxWireVersion", 21), text("setName", "rs0"), text("primary", "127.0.0.1:1"), number("ok", 1)), hold), http1.KindMoved),
		at(AtHello, "an error in place of hello", says(fault(59, "no such command"), hold), "server 59"),
		at(AtStart, "a wrong password", says(fault(18, "Authentication failed"), hold), http1.KindAuth),
		at(AtStart, "a password that is repeated", says(fault(18, "no user app with geheim"), hold), http1.KindAuth),
		at(AtStart, "silence in SASL", hold, http1.KindConnectTimeout),
		at(AtStart, "the end in place of a challenge", half, http1.KindClosed),
		at(AtStart, "a challenge without a nonce", says(doc(whole("conversationId", 1), binaryOf("payload", "s=x,i=1"), number("ok", 1)), hold), http1.KindProtocol),
		at(AtStart, "2^31 iterations", func(s *Session) bool {
			s.Say(doc(whole("conversationId", 1), binaryOf("payload", "r="+s.nonce+"x,s=c2FsdA==,i=2147483648"), number("ok", 1)))
			return hold(s)
		}, http1.KindTooLarge),
		at(AtStart, "the end of SASL without a proof", says(doc(whole("conversationId", 1), binaryOf("payload", ""), truth("done"), number("ok", 1)), hold), http1.KindAuth),
	}
}
