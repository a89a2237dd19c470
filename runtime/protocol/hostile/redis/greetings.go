package redis

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before anything is said.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("no answer", hold, http1.KindTimeout),
		accepts("a banner", says("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("too many clients", says("-ERR max number of clients reached\r\n", half), "server ERR").pausing(),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{Accept: frozen}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Size: 8 << 20}),
	}
}

// greetings are answers to HELLO, AUTH and SELECT.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Ask: Ask{Greets: true}, Server: Behaviour{Greeting: asked(act)}, Want: fails(kind)}
	}
	refuses := func(name, text string, kind http1.Kind) Entry { return greets(name, says(text, hold), kind) }
	return []Entry{
		greets("no answer to the greeting", hold, http1.KindConnectTimeout),
		greets("no answer to SELECT", says(welcome[:len(welcome)-5], hold), http1.KindConnectTimeout),
		greets("the end instead of a greeting", half, http1.KindClosed),
		greets("a reset instead of a greeting", reset, http1.KindReset),
		greets("the end inside a greeting", says(welcome[:30], half), http1.KindTruncated),
		greets("the end between two answers of a greeting", says(welcome[:len(welcome)-5], half), http1.KindClosed),
		greets("a greeting a byte now and then", drips("$100\r\n"+many("x", 100), pause/3, hold), http1.KindConnectTimeout),
		refuses("a wrong password", "-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH Authentication required.\r\n", http1.KindAuth),
		refuses("a password that is repeated", "-WRONGPASS for app: geheim\r\n-NOAUTH Authentication required.\r\n", http1.KindAuth),
		refuses("a server without passwords", "-ERR AUTH <password> called without any password configured for the default user.\r\n+OK\r\n", http1.KindAuth),
		refuses("a server that knows no HELLO", "-ERR unknown command `HELLO`\r\n+OK\r\n", "server ERR"),
		refuses("another version", "-NOPROTO unsupported protocol version\r\n+OK\r\n", "server NOPROTO"),
		refuses("no such database", welcome[:len(welcome)-5]+"-ERR DB index is out of range\r\n", "server ERR"),
		refuses("a greeting while it loads", "-LOADING Redis is loading the dataset in memory\r\n", "server LOADING"),
		refuses("a greeting that is another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", http1.KindProtocol),
		refuses("a greeting with an answer too many", welcome+"+OK\r\n", http1.KindProtocol),
		refuses("a greeting of 2^31-1 bytes", "$2147483647\r\n", http1.KindTooLarge),
		greets("a greeting without end", says("*?\r\n", floods(":1\r\n")), http1.KindTooLarge).flooding(),
		greets("pushes instead of a greeting", floods(">1\r\n+x\r\n"), http1.KindFlood).flooding(),
		Entry{Name: "pushes around a greeting", Ask: Ask{Greets: true}, Server: Behaviour{Greeting: asked(says(">1\r\n+x\r\n"+welcome+">1\r\n+y\r\n", nil)), Answer: "+hi\r\n"}, Want: got(`"hi"`)},
		Entry{Name: "a greeting in pieces", Ask: Ask{Greets: true}, Server: Behaviour{Greeting: asked(drips(welcome, 0, nil)), Answer: "+hi\r\n"}, Want: got(`"hi"`)},
		Entry{Name: "the end behind a greeting", Ask: Ask{Greets: true}, Server: Behaviour{Greeting: asked(says(welcome, half))}, Want: fails(http1.KindClosed)},
	}
}
