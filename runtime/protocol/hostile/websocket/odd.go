package websocket

import "time"

// odd are servers that are right, in ways that few are.
func odd() []Entry {
	answer := func(name, text, want string) Entry { return answers(name, text, nil, got(want)) }
	cased := "HTTP/1.1 101\r\nUPGRADE: WebSocket\r\nconnection: keep-alive, UPGRADE\r\nSEC-WEBSOCKET-ACCEPT: KEY\r\n\r\n"
	next := got(Next)
	pinged := frame(fPing, "are you there?")
	pings := func(text string) Behaviour {
		return Behaviour{Answer: text, Then: ponged("are you there?", says(frame(fText, "ok"), nil))}
	}
	return []Entry{
		upgrade("fields in any case, no reason", cased, nil, next),
		upgrade("interim answers before 101", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"+switching+"\r\n", nil, next),
		upgrade("101 with a length", switching+"Content-Length: 0\r\n\r\n", nil, next),
		upgrade("101 with cookies", switching+"Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n", nil, next),
		upgrade("a protocol that was offered", switching+"Sec-WebSocket-Protocol: v2\r\n\r\n", nil, next).asking(Ask{Protocols: []string{"v1", "v2"}}),
		upgrade("none of the protocols that were offered", switching+"\r\n", nil, next).asking(Ask{Protocols: []string{"v1", "v2"}}),
		{Name: "a ping together with 101", Server: Behaviour{Greeting: frame(fPing, "hi")}, Want: next},
		answer("a text", text("hello"), "hello"),
		answer("an empty text", text(""), ""),
		{Name: "a binary message", Server: Behaviour{Answer: frame(fBinary, "\xff\x00")}, Want: Want{Message: "\xff\x00", Binary: true, Reuse: ReuseMust}},
		answer("a message of 64 KiB", text(many("x", 1<<16)), many("x", 1<<16)),
		answer("a message of 2 MiB in fragments", pieces(fText, many("ä", 1<<20), 16<<10-1, ""), many("ä", 1<<20)),
		answer("fragments of a byte with pings between them", pieces(fText, "κόσμε", 1, frame(fPing, "p")), "κόσμε"),
		answer("empty fragments", frame(fTextPart, "")+frame(fMore, "")+frame(fMore, "ok")+frame(fLast, ""), "ok"),
		answer("pongs that no ping asked for", many(frame(fPong, "unasked"), 9)+text("ok"), "ok"),
		answer("1,000 pings before a message", many(frame(fPing, ""), 1000)+text("ok"), "ok"),
		{Name: "a ping that must be answered first", Server: pings(pinged), Want: got("ok")},
		{Name: "a ping inside a message, answered first", Server: Behaviour{
			Answer: frame(fTextPart, "o") + pinged, Then: ponged("are you there?", says(frame(fLast, "k"), nil)),
		}, Want: got("ok")},
		{Name: "pings of 125 bytes, the last of which must be answered", Server: pings(many(frame(fPing, many("p", 125)), 300) + pinged), Want: got("ok")},
		{Name: "a message a byte at a time", Server: Behaviour{Then: drips(text("hello"), time.Millisecond, nil)}, Want: got("hello")},
		Entry{Name: "a text, under TLS", Server: Behaviour{Answer: text("hello")}, Want: got("hello")}.asking(Ask{TLS: true}),
		Entry{Name: "a ping that must be answered first, under TLS", Server: pings(pinged), Want: got("ok")}.asking(Ask{TLS: true}),
		Entry{Name: "a message of 1 MiB from the client", Server: Behaviour{Answer: text("ok")}, Want: got("ok")}.asking(Ask{Size: 1 << 20}),
		Entry{Name: "a compressed message of 1 MiB from the client", Server: Behaviour{Answer: text("ok")}, Want: got("ok")}.asking(Ask{Size: 1 << 20, Compressed: true}),
	}
}
