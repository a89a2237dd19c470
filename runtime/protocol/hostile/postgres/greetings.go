package postgres

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before anything is said.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	return []Entry{
		{Name: "no server", Ask: Ask{Once: true}, Want: fails(http1.KindRefused)},
		accepts("no answer", hold, http1.KindConnectTimeout),
		accepts("a banner", says("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("the end at once", half, http1.KindClosed),
		accepts("a reset at once", reset, http1.KindReset),
	}
}

// greetings are answers to the client's first message.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Greeting: act}, Want: fails(kind)}
	}
	refuses := func(name, text string, kind http1.Kind) Entry { return greets(name, says(text, hold), kind) }
	return []Entry{
		greets("no answer to the greeting", hold, http1.KindConnectTimeout),
		greets("a user that is welcome, and silence", says(proven, hold), http1.KindConnectTimeout),
		greets("a greeting a byte now and then", drips(welcome[:len(welcome)-1]+many("x", 100), pause/3, hold), http1.KindConnectTimeout),
		greets("the end inside a greeting", says(welcome[:12], half), http1.KindTruncated),
		greets("the end between two messages of a greeting", says(proven, half), http1.KindClosed),
		greets("the end behind a greeting", says(welcome, half), http1.KindClosed),
		refuses("too many clients", tells("FATAL", "53300", "sorry, too many clients already"), "server 53300"),
		refuses("a server that starts", tells("FATAL", "57P03", "the database system is starting up"), "server 57P03"),
		refuses("no such database", tells("FATAL", "3D000", "database \"shop\" does not exist"), "server 3D000"),
		refuses("a wrong password", tells("FATAL", "28P01", "password authentication failed"), http1.KindAuth),
		refuses("a password that is repeated", tells("FATAL", "28P01", "not geheim"), http1.KindAuth),
		refuses("the password in clear", say('R', four(3)), http1.KindAuth),
		refuses("a proof that no client knows", say('R', four(7)), http1.KindAuth),
		refuses("a mechanism that no client knows", say('R', four(10)+"SCRAM-SHA-1\x00\x00"), http1.KindAuth),
		greets("a wrong signature", challenges("r=NONCEx,s=c2FsdA==,i=1", say('R', four(12)+"v=AAAA"), hold), http1.KindAuth),
		greets("no signature", challenges("r=NONCEx,s=c2FsdA==,i=1", welcome, hold), http1.KindAuth),
		greets("2^31-1 iterations", challenges("r=NONCEx,s=c2FsdA==,i=2147483647", "", hold), http1.KindTooLarge),
		greets("the nonce of another client", challenges("r=stranger,s=c2FsdA==,i=1", "", hold), http1.KindProtocol),
		greets("the client's own nonce", challenges("r=NONCE,s=c2FsdA==,i=1", "", hold), http1.KindProtocol),
		refuses("a greeting of 2^31-1 bytes", "R\x7f\xff\xff\xff", http1.KindProtocol),
		refuses("a greeting of a negative length", "R\xff\xff\xff\xff", http1.KindProtocol),
		refuses("another version", say('v', four(0)+four(0)), http1.KindProtocol),
		refuses("a transaction that has failed before it began", proven+say('Z', "E"), http1.KindProtocol),
		refuses("rows instead of a greeting", row("x"), http1.KindProtocol),
		refuses("ready without a proof", ready, http1.KindProtocol),
		refuses("an answer to a statement that has not come", welcome+rows(row("evil"))(true), http1.KindProtocol),
		greets("notices instead of a greeting", floodsWith(say('N', "SNOTICE\x00\x00")), http1.KindTooLarge),
		{Name: "a greeting in pieces", Server: Behaviour{Greeting: drips(welcome, 0, nil), Answer: rows(row("hi"))}, Want: got(`[{"v":"hi"}]`)},
		{Name: "notices in a greeting", Server: Behaviour{Greeting: says(say('N', "SNOTICE\x00C00000\x00Mhi\x00\x00")+welcome, nil), Answer: rows(row("hi"))}, Want: got(`[{"v":"hi"}]`)},
	}
}

// secured are answers to the question for TLS.
func secured() []Entry {
	asks := Ask{TLS: true}
	begins := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Ask: asks, Server: Behaviour{Secure: act}, Want: fails(kind)}
	}
	return []Entry{
		begins("no TLS", says("N", hold), http1.KindTLS),
		begins("no TLS, and a welcome in clear", says("N"+welcome, hold), http1.KindTLS),
		begins("an error instead of TLS", says(tells("FATAL", "0A000", "unsupported"), hold), http1.KindTLS),
		begins("HTTP instead of TLS", says("HTTP/1.1 400 Bad Request\r\n\r\n", hold), http1.KindProtocol),
		begins("a welcome in clear before TLS", says("S"+welcome, hold), http1.KindProtocol),
		begins("a byte in clear before TLS", says("SN", hold), http1.KindProtocol),
		begins("a welcome in clear instead of TLS", says("S", later(welcome, hold)), http1.KindTLS).pausing(), // a busy machine reads both at once
		begins("silence instead of TLS", says("S", hold), http1.KindConnectTimeout),
		begins("silence about TLS", hold, http1.KindConnectTimeout),
		begins("the end instead of TLS", says("S", half), http1.KindClosed),
		begins("the end before TLS", half, http1.KindClosed),
		begins("a reset instead of TLS", says("S", reset), http1.KindReset),
		{Name: "a row, under TLS", Ask: asks, Server: Behaviour{Answer: rows(row("hi"))}, Want: got(`[{"v":"hi"}]`)},
		{Name: "a refusal under TLS", Ask: asks, Server: Behaviour{Greeting: says(tells("FATAL", "28P01", "no"), hold)}, Want: fails(http1.KindAuth)},
		{Name: "the end below TLS inside a row", Ask: asks, Server: Behaviour{Answer: behindTable(row("hi")[:8]), Then: cut}, Want: fails(http1.KindTruncated)},
		Entry{Name: "a row, and the end, under TLS", Ask: asks, Server: Behaviour{Answer: rows(row("hi")), Then: quit}, Want: gone(`[{"v":"hi"}]`)}.pausing(),
	}
}

// got is an operation that got its answer and keeps its connection.
func got(body string) Want { return Want{Body: body, Reuse: ReuseMust} }

// gone is an operation that got its answer and loses its connection.
func gone(body string) Want { return Want{Body: body} }
