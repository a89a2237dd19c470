package nats

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before anything is asked.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("no INFO", hold, http1.KindConnectTimeout),
		accepts("a banner", says("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("too many clients", says("-ERR 'maximum connections exceeded'\r\n", half), "server maximum connections exceeded"),
		accepts("the end in place of INFO", half, http1.KindClosed),
		accepts("a reset in place of INFO", reset, http1.KindReset),
		accepts("the end inside INFO", says(welcome[:40], half), http1.KindTruncated),
		accepts("an INFO a byte now and then", drips(`INFO {"a":"`+many("x", 1000), pause/3, hold), http1.KindConnectTimeout),
		accepts("an INFO that is no JSON", says("INFO {\r\n", hold), http1.KindProtocol),
		accepts("an INFO of 1 MiB", says(`INFO {"a":"`+many("x", 1<<20), hold), http1.KindTooLarge),
		accepts("a max_payload below zero", says("INFO {\"max_payload\":-5}\r\n", hold), http1.KindProtocol),
		accepts("PING in place of INFO", says("PING\r\n", hold), http1.KindProtocol),
	}
}

// greetings are answers to CONNECT.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Greeting: act}, Want: fails(kind)}
	}
	refuses := func(name, text string, kind http1.Kind) Entry { return greets(name, says(text, hold), kind) }
	return []Entry{
		greets("no PONG", hold, http1.KindConnectTimeout),
		greets("the end in place of PONG", half, http1.KindClosed),
		greets("a reset in place of PONG", reset, http1.KindReset),
		refuses("a wrong password", "-ERR 'Authorization Violation'\r\n", http1.KindAuth),
		refuses("a password that is repeated", "-ERR 'Authorization Violation: app geheim'\r\n", http1.KindAuth),
		refuses("TLS behind all", "-ERR 'Secure Connection - TLS Required'\r\n", http1.KindTLS),
		refuses("a message in the greeting", "MSG a 1 1\r\nx\r\nPONG\r\n", http1.KindProtocol),
		greets("lines in place of PONG, without end", floods("+OK\r\n"), http1.KindTooLarge),
		greets("the end behind the greeting", says("PONG\r\n", half), http1.KindClosed),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{Greeting: says("PONG\r\n", frozen)}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Size: 8 << 20}),
		{Name: "a greeting in pieces, with lines between", Server: Behaviour{Greeting: drips("+OK\r\nPING\r\n"+welcome+"PONG\r\n", 0, func(s *Session) bool { return s.line() == "PONG" }), Answer: msg("hi")}, Want: got("hi")},
	}
}
