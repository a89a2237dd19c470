package mysql

import "time"

// odd are answers that are right, in ways that few are.
func odd() []Entry {
	answer := func(name, said, want string) Entry { return answers(name, said, nil, got(want)) }
	return []Entry{
		answer("rows", rows("a", "b"), `[{"a":"a"},{"a":"b"}]`),
		answer("no row", rows(), "[]"),
		answer("an OK", packets(okPacket), "[]"),
		answer("an OK with a text", packets(okPacket+"Rows matched: 1"), "[]"),
		answer("a value that is no UTF-8", rows("\xffa\x00"), "[{\"a\":\"\ufffda\\u0000\"}]"),
		answer("NULL, and a text that begins like it", packets("\x02", column("a", kindText), column("b", kindText), "\xfb"+text("\xfb"), endPacket), "[{\"a\":null,\"b\":\"\ufffd\"}]"),
		answer("two columns of one name", packets("\x02", column("a", kindText), column("a", kindText), text("1")+text("2"), endPacket), `[{"a":"1","a":"2"}]`),
		answer("two results", packets("\x01", column("a", kindText), text("1"), moreEnd, "\x01", column("b", kindText), text("2"), endPacket), `[{"b":"2"}]`),
		answer("300 rows, whose numbers begin again", rows(make([]string, 300)...), `{"a":""}`),
		answer("a value of 2 MiB", rows(many("x", 2<<20)), `[{"a":"`+many("x", 100)),
		answer("a length in more bytes than it needs", packets("\x01", column("a", kindText), "\xfd\x02\x00\x00hi", endPacket), `[{"a":"hi"}]`),
		{Name: "an answer a byte at a time", Server: Behaviour{Then: drips(rows("hi"), time.Millisecond, nil)}, Want: got(`[{"a":"hi"}]`)},
		Entry{Name: "descriptions that end", Server: Behaviour{Answer: packets("\x01", column("a", kindText), eofPacket, text("hi"), eofPacket)}, Want: got(`[{"a":"hi"}]`)}.asking(Ask{Full: true}),
		Entry{Name: "a prepared statement where descriptions end", Server: Behaviour{Answer: packets("\x01", column("a", kindText), eofPacket, "\x00\x00"+text("hi"), eofPacket)}, Want: got(`[{"a":"hi"}]`)}.asking(Ask{Full: true, Prepared: true}),
		Entry{Name: "other columns than were prepared", Server: Behaviour{Answer: packets("\x02", column("x", kindLong), column("y", kindText), "\x00\x08\x07\x00\x00\x00", endPacket)}, Want: got(`[{"x":7,"y":null}]`)}.asking(Ask{Prepared: true}),
		Entry{Name: "an argument of 1 MiB", Server: Behaviour{Answer: packets(okPacket)}, Want: got("[]")}.asking(Ask{Prepared: true, Size: 1 << 20}),
	}
}

// oddEnds are answers behind which the connection ends in some way.
func oddEnds() []Entry {
	const hi = `[{"a":"hi"}]`
	return []Entry{
		answers("an answer, and the end", rows("hi"), quit, gone(hi)).pausing(),
		answers("an answer, and FIN alone", rows("hi"), half, gone(hi)).pausing(),
		answers("an answer, and a reset", rows("hi"), func(s *Session) bool { return s.server.wait(pause/3) && reset(s) }, gone(hi)).pausing(),
		answers("two answers for one", rows("hi")+rows("evil"), hold, gone(hi)).pausing(),
		answers("an answer, and garbage", rows("hi")+"evil", hold, gone(hi)).pausing(),
		answers("an answer, and one that no statement asked for, later", rows("hi"), later(rows("evil"), hold), gone(hi)).pausing(),
		answers("an answer, and why the connection ends", rows("hi"), later(packet(0, failed(4031, "HY000", "idle for too long")), half), gone(hi)).pausing(),
		answers("an error, and an answer that no statement asked for", packets(failed(1062, "23000", "twice"))+rows("evil"), hold, fails("server 1062")),
	}
}
