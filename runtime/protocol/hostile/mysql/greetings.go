package mysql

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before the client has said anything.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	refuses := func(name, said string, kind http1.Kind) Entry { return accepts(name, says(said, hold), kind) }
	first := hello(Native, false, false)
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("no greeting", hold, http1.KindConnectTimeout),
		accepts("the end instead of a greeting", half, http1.KindClosed),
		accepts("a reset instead of a greeting", reset, http1.KindReset),
		accepts("the end inside a greeting", says(packet(0, first)[:30], half), http1.KindTruncated),
		accepts("a greeting a byte now and then", drips(packet(0, first), pause/3, hold), http1.KindConnectTimeout),
		refuses("a banner", "220 mail ready\r\n", http1.KindProtocol),
		refuses("HTTP on the port", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", http1.KindProtocol),
		refuses("TLS on the port", "\x15\x03\x01\x00\x02\x02\x46", http1.KindProtocol),
		refuses("a greeting of 16 MiB", "\xff\xff\xff\x00\x0a", http1.KindProtocol),
		refuses("a greeting of version 9", packet(0, "\x09"+first[1:]), http1.KindProtocol),
		refuses("a greeting with the number 1", packet(1, first), http1.KindProtocol),
		refuses("a greeting without a salt", packet(0, first[:20]), http1.KindProtocol),
		refuses("too many connections", packet(0, "\xff\x10\x04Too many connections"), "server 1040"),
		refuses("a host that is blocked", packet(0, failed(1129, "HY000", "Host is blocked")), "server 1129"),
	}
}

// secured are servers that begin TLS. What one says in clear before that may be another one's, and must not count
// in TLS (CVE-2011-0411).
func secured() []Entry {
	first := packet(0, hello(Native, false, true))
	begins := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, TLS: true, Server: Behaviour{Secure: act}, Want: fails(kind)}
	}
	before := func(name, said string, kind http1.Kind) Entry {
		return Entry{Name: name, TLS: true, Server: Behaviour{Accept: says(said, hold)}, Want: fails(kind)}
	}
	return []Entry{
		{Name: "an answer, under TLS", TLS: true, Server: Behaviour{Answer: rows("hi")}, Want: got(`[{"a":"hi"}]`)},
		before("no TLS", packet(0, hello(Native, false, false)), http1.KindTLS),
		before("an OK in clear before TLS", first+packet(1, okPacket), http1.KindProtocol),
		before("an OK in clear before TLS, of the number behind the proof", first+packet(3, okPacket), http1.KindProtocol),
		before("a byte in clear before TLS", first+"\x07", http1.KindProtocol),
		begins("an OK in clear instead of TLS", says(packet(2, okPacket), hold), http1.KindTLS),
		begins("silence instead of TLS", hold, http1.KindConnectTimeout),
		begins("the end instead of TLS", half, http1.KindClosed),
	}
}

// greetings are answers to the introduction.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Greeting: act}, Want: fails(kind)}
	}
	refuses := func(name, said string, kind http1.Kind) Entry { return greets(name, says(said, hold), kind) }
	switches := func(to, salt string) string { return "\xfe" + to + "\x00" + salt + "\x00" }
	asks := func(e Entry, plugin string) Entry { return e.asking(Ask{Plugin: plugin}) }
	const other = "ABCDEFGHIJKLMNOPQRST"
	proved := func(by string, then Act) Act {
		return func(s *Session) bool {
			if is := s.read(3); is != proves(by, other) {
				s.server.blame("the proof is %x", is)
				return false
			}
			return then(s)
		}
	}
	return []Entry{
		greets("no answer to a proof", hold, http1.KindConnectTimeout),
		greets("the end instead of an answer to a proof", half, http1.KindClosed),
		greets("a reset instead of an answer to a proof", reset, http1.KindReset),
		greets("the end behind a greeting", says(packet(2, okPacket), half), http1.KindClosed),
		refuses("a wrong password", packet(2, failed(1045, "28000", "Access denied for user 'app'")), http1.KindAuth),
		refuses("a password that is repeated", packet(2, failed(1045, "28000", "Access denied with geheim")), http1.KindAuth),
		refuses("no such database", packet(2, failed(1049, "42000", "Unknown database 'shop'")), "server 1049"),
		refuses("an answer to a proof with the number 5", packet(5, okPacket), http1.KindProtocol),
		refuses("an OK that is not whole", packet(2, "\x00"), http1.KindProtocol),
		refuses("an answer to a proof too many", packet(2, okPacket)+packet(3, okPacket), http1.KindProtocol),
		refuses("a plugin that is unknown", packet(2, switches("dialog", other)), http1.KindAuth),
		refuses("the password in clear", packet(2, switches("mysql_clear_password", "")), http1.KindAuth),
		refuses("the plugin of MySQL 3", packet(2, "\xfe"), http1.KindAuth),
		refuses("a salt of 3 bytes", packet(2, switches(Native, "abc")), http1.KindProtocol),
		greets("plugin after plugin", says(packet(2, switches(SHA2, other)), proved(SHA2, says(packet(4, switches(Native, other)), hold))), http1.KindProtocol),
		asks(refuses("the password itself", packet(2, "\x01\x04"), http1.KindAuth), SHA2),
		asks(refuses("a word that the plugin has not", packet(2, "\x01\x09"), http1.KindProtocol), SHA2),
		asks(refuses("words for ever", packet(2, "\x01\x03")+packet(3, "\x01\x03"), http1.KindProtocol), SHA2),
		refuses("a word of another plugin", packet(2, "\x01\x03"), http1.KindProtocol),
		{Name: "another plugin", Server: Behaviour{Greeting: says(packet(2, switches(SHA2, other)), proved(SHA2, says(packet(4, "\x01\x03")+packet(5, okPacket), nil))), Answer: rows("hi")}, Want: got(`[{"a":"hi"}]`)},
		{Name: "a greeting in pieces", Server: Behaviour{Greeting: drips(packet(2, okPacket), 0, nil), Answer: rows("hi")}, Want: got(`[{"a":"hi"}]`)},
		Entry{Name: "a password that the server remembers", Server: Behaviour{Answer: rows("hi")}, Want: got(`[{"a":"hi"}]`)}.asking(Ask{Plugin: SHA2}),
	}
}

// preparations are answers to the preparation of a statement.
func preparations() []Entry {
	prepares := func(name string, act Act, want Want) Entry {
		return Entry{Name: name, Ask: Ask{Prepared: true}, Server: Behaviour{Prepare: act}, Want: want}
	}
	refuses := func(name, said string, want Want) Entry { return prepares(name, says(said, nil), want) }
	return []Entry{
		prepares("no answer to a preparation", hold, fails(http1.KindTimeout)),
		prepares("the end instead of an answer to a preparation", half, fails(http1.KindClosed)),
		prepares("the end inside a preparation", says(packet(1, prepared(7, 1, 1)), half), fails(http1.KindTruncated)),
		refuses("a statement that cannot be prepared", packets(failed(1064, "42000", "You have an error")), goesOn("server 1064")),
		refuses("too many prepared statements", packets(failed(1461, "42000", "Can't create more")), goesOn("server 1461")),
		refuses("a statement of the number 0", packets(prepared(0, 0, 1), column("?", kindText)), fails(http1.KindProtocol)),
		refuses("a preparation that is half", packets("\x00\x07"), fails(http1.KindProtocol)),
		refuses("rows for a preparation", rows("evil"), fails(http1.KindProtocol)),
		refuses("parameters that are none", packets(prepared(7, 0, 1), "abc"), fails(http1.KindProtocol)),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{Prepare: func(s *Session) bool {
			s.Say(s.next())
			return frozen(s)
		}}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Prepared: true, Size: 12 << 20}),
	}
}
