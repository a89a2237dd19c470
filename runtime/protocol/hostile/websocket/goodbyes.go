package websocket

import "hyperscale/runtime/protocol/http1"

// goodbyes come instead of a message.
func goodbyes() []Entry {
	wrong := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	return []Entry{
		answers("a goodbye with 1000", closing(1000, ""), hold, fails("server 1000")),
		answers("a goodbye with 1011 and a reason", closing(1011, "no database"), hold, fails("server 1011")),
		answers("a goodbye with 4008", closing(4008, "quota"), quit, fails("server 4008")),
		answers("a goodbye without a code", frame(fClose, ""), hold, fails(http1.KindClosed)),
		answers("a goodbye inside a message", frame(fTextPart, "hel")+closing(1001, "")+frame(fLast, "lo"), hold, fails("server 1001")),
		Entry{Name: "a goodbye together with 101", Server: Behaviour{Greeting: closing(1013, "later"), After: hold}, Want: fails("server 1013")},
		wrong("close code 1005", closing(1005, "")),
		wrong("close code 1006", closing(1006, "")),
		wrong("close code 0", closing(0, "")),
		wrong("close code 5000", closing(5000, "")),
		wrong("a goodbye of one byte", frame(fClose, "\x03")),
		wrong("a reason that is not UTF-8", closing(1000, "\xff")),
	}
}

// oddEnds are answers behind which the connection ends in some way.
func oddEnds() []Entry {
	return []Entry{
		answers("a message, and the end", text("ok"), quit, gone("ok")).pausing(),
		answers("a message, and FIN alone", text("ok"), half, gone("ok")).pausing(),
		answers("a message, and a goodbye", text("ok")+closing(1000, ""), quit, gone("ok")).pausing(),
		answers("a message, and a goodbye without TCP's end", text("ok")+closing(1000, "bye"), hold, gone("ok")).pausing(),
		answers("data behind the goodbye", text("ok")+closing(1000, "")+text("evil")+frame(fPing, "evil"), hold, gone("ok")).pausing(),
		answers("garbage behind the goodbye", text("ok")+closing(1000, "")+many("\xff", 100), hold, gone("ok")).pausing(),
		answers("a message, and a breach", text("ok")+frame(0x83, ""), hold, gone("ok")).pausing(),
		Entry{Name: "two messages for one", Server: Behaviour{Answer: text("ok") + text("evil")}, Want: Want{Message: "ok", Reuse: ReuseEither}},
		Entry{Name: "a message, and the end, under TLS", Server: Behaviour{Answer: text("ok"), Then: quit}, Want: gone("ok")}.asking(Ask{TLS: true}).pausing(),
	}
}
