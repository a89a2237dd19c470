package postgres

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// ends come instead of an answer, or inside of one.
func ends() []Entry {
	then := func(name, text string, act Act, kind http1.Kind) Entry {
		return answers(name, behindTable(text), act, fails(kind))
	}
	return []Entry{
		answers("silence behind an operation", nil, hold, fails(http1.KindTimeout)),
		answers("an answer behind the deadline", nil, late, fails(http1.KindTimeout)),
		answers("a byte of an answer now and then", nil, drips(parsed+many("x", 100), 100*time.Millisecond, hold), fails(http1.KindTimeout)),
		then("half a row", row("hello")[:9], hold, http1.KindTimeout),
		then("rows, and no end", row("a")+row("b"), hold, http1.KindTimeout),
		then("an end, and no ReadyForQuery", row("a")+done, hold, http1.KindTimeout),
		answers("the end instead of an answer", nil, half, fails(http1.KindClosed)),
		answers("a reset instead of an answer", nil, reset, fails(http1.KindReset)),
		answers("the end inside a head", as("1\x00"), half, fails(http1.KindTruncated)),
		then("the end inside a row", row("hello")[:9], half, http1.KindTruncated),
		then("the end between rows", row("a"), half, http1.KindTruncated),
		then("the end before ReadyForQuery", row("a")+done, half, http1.KindTruncated),
		then("a reset inside a row", row("hello")[:9], reset, http1.KindReset),
		{Name: "a server that takes no bytes", Ask: Ask{Size: 8 << 20}, Server: Behaviour{Greeting: says(welcome, frozen)}, Want: fails(http1.KindWriteTimeout)},
	}
}

// told are errors that a server tells. The connection goes on, but behind a fatal one.
func told() []Entry {
	fault := func(name, text string, kind http1.Kind) Entry {
		return answers(name, behindTable(text+ready), nil, Want{Kind: kind, Reuse: ReuseMust})
	}
	return []Entry{
		answers("a syntax error", as(tells("ERROR", "42601", "syntax error")+ready), nil, Want{Kind: "server 42601", Reuse: ReuseMust}),
		fault("an error among rows", row("a")+tells("ERROR", "22012", "division by zero"), "server 22012"),
		fault("an error without a code", tells("ERROR", "", "oops"), "server other"),
		fault("a code that is none", tells("ERROR", "4260 ", "oops"), "server other"),
		fault("an error without fields", say('E', "\x00"), "server other"),
		fault("an error of a mebibyte", tells("ERROR", "XX000", many("x", 1<<20)), "server XX000"),
		fault("two errors", tells("ERROR", "22012", "first")+tells("ERROR", "23505", "second"), "server 22012"),
		answers("a server that shuts down", as(tells("FATAL", "57P01", "terminating connection")), half, fails("server 57P01")),
		answers("a server that panics among rows", behindTable(row("a")+tells("PANIC", "XX000", "bug")), half, fails("server XX000")),
	}
}

// wrong are answers that the protocol forbids.
func wrong() []Entry {
	breaks := func(name, text string) Entry { return answers(name, as(text), hold, fails(http1.KindProtocol)) }
	rowed := func(name, text string, kind http1.Kind) Entry {
		return answers(name, behindTable(text), hold, fails(kind))
	}
	return []Entry{
		breaks("a message that there is not", "q\x00\x00\x00\x04"),
		breaks("HTTP instead of an answer", "HTTP/1.1 200 OK\r\n\r\n"),
		breaks("a negative length", "1\xff\xff\xff\xff"),
		breaks("a length of 3", "1\x00\x00\x00\x03"),
		breaks("ParseComplete with a body", say('1', "x")),
		breaks("ParseComplete twice", say('1', "")+say('1', "")),
		breaks("BindComplete before ParseComplete", say('2', "")),
		breaks("ReadyForQuery at once", ready),
		breaks("rows before BindComplete", say('1', "")+row("a")),
		breaks("an authentication later", proven),
		breaks("an error without an end", say('E', "Mx")),
		rowed("ReadyForQuery among rows", row("a")+ready, http1.KindProtocol),
		rowed("ReadyForQuery of a state that there is not", row("a")+done+say('Z', "X"), http1.KindProtocol),
		rowed("an end that names nothing", row("a")+say('C', ""), http1.KindProtocol),
		rowed("rows of different widths", row("a")+row("a", "b"), http1.KindProtocol),
		rowed("a value of -2 bytes", say('D', two(1)+four(0xfffffffe)), http1.KindProtocol),
		rowed("a value that is longer than its row", say('D', two(1)+four(9)+"x"), http1.KindProtocol),
		rowed("a row that is longer than its values", say('D', two(1)+four(1)+"xyz"), http1.KindProtocol),
		rowed("a row without a count", say('D', "\x00"), http1.KindProtocol),
		rowed("65,535 columns", say('D', two(0xffff)+many(four(0), 10)), http1.KindTooLarge),
		rowed("the client copies", say('G', "\x00\x00\x00"), http1.KindOther),
		rowed("the server copies", say('H', "\x00\x00\x00"), http1.KindOther),
		rowed("both copy", say('W', "\x00\x00\x00"), http1.KindOther),
		rowed("copied rows that none asked for", say('d', "x"), http1.KindProtocol),
	}
}

// floods are answers that are large, or have no end.
func floods() []Entry {
	without := func(name, text string, kind http1.Kind) Entry {
		return answers(name, behindTable(""), floodsWith(text), fails(kind))
	}
	return []Entry{
		answers("a row of 2^31-1 bytes", behindTable("D\x7f\xff\xff\xff\x00\x01"), hold, fails(http1.KindTooLarge)),
		answers("a notice of 2^31-1 bytes", behindTable("N\x7f\xff\xff\xffS"), hold, fails(http1.KindTooLarge)),
		without("rows without end", row(many("x", 1000)), http1.KindTooLarge),
		without("errors without end", tells("ERROR", "22012", many("x", 1000)), "too_large"),
		without("notices without end", say('N', "SNOTICE\x00\x00"), http1.KindFlood),
		without("parameters without end", say('S', "a\x00b\x00"), http1.KindFlood),
		without("notifications without end", say('A', four(1)+"c\x00\x00"), http1.KindFlood),
	}
}

// odd are answers that are right, in ways that few are.
func odd() []Entry {
	answer := func(name, want string, all ...string) Entry { return answers(name, rows(all...), nil, got(want)) }
	notice := say('N', "SNOTICE\x00C00000\x00Mhi\x00\x00")
	return []Entry{
		answer("a row", `[{"v":"hi"}]`, row("hi")),
		answer("no row", `[]`),
		answer("1,000 rows", `[{"v":"a"},{"v":"a"}`, many(row("a"), 1000)),
		answer("an empty value", `[{"v":""}]`, row("")),
		answer("NULL", `[{"v":null}]`, say('D', two(1)+four(0xffffffff))),
		answer("a value that is no UTF-8", `[{"v":"`, row("\xffa")),
		answer("a value of a mebibyte", `[{"v":"`+many("x", 100), row(many("x", 1<<20))),
		answer("notices among rows", `[{"v":"a"},{"v":"b"}]`, notice, row("a"), notice, row("b"), notice),
		answer("1,000 notices", `[{"v":"a"}]`, many(notice, 1000), row("a")),
		answer("a parameter among rows", `[{"v":"a"}]`, say('S', "TimeZone\x00UTC\x00"), row("a")),
		answer("a notification among rows", `[{"v":"a"}]`, say('A', four(1)+"c\x00\x00"), row("a")),
		answers("an open transaction", behindTable(row("a")+done+say('Z', "T")), nil, got(`[{"v":"a"}]`)),
		answers("a notice behind", behindTable(row("a")+done+ready+notice), nil, got(`[{"v":"a"}]`)),
		{Name: "an answer a byte at a time", Server: Behaviour{Then: func(s *Session) bool { return drips(rows(row("a"))(s.described), 0, nil)(s) }}, Want: got(`[{"v":"a"}]`)},
		{Name: "an argument of 1 MiB", Ask: Ask{Size: 1 << 20}, Server: Behaviour{Answer: rows(row("a"))}, Want: got(`[{"v":"a"}]`)},
	}
}

// oddEnds are answers behind which the connection ends in some way.
func oddEnds() []Entry {
	one := rows(row("hi"))
	behind := func(name string, act Act) Entry { return answers(name, one, act, gone(`[{"v":"hi"}]`)).pausing() }
	return []Entry{
		behind("an answer, and the end", quit),
		behind("an answer, and FIN alone", half),
		behind("an answer, and a reset", func(s *Session) bool { return s.server.port.Wait(pause/3) && reset(s) }),
		behind("an answer, and a server that shuts down", later(tells("FATAL", "57P01", "terminating connection"), half)),
		behind("two answers for one", func(s *Session) bool { s.Say(one(s.described)); return hold(s) }),
		behind("an answer, and garbage", says("evil", hold)),
		behind("an answer, and rows that none asked for, later", later(row("evil"), hold)),
		behind("an answer, and half a row that none asked for", later(row("evil")[:7], hold)),
		answers("an error, and an answer that none asked for", as(tells("ERROR", "22012", "no")+ready+row("evil")), hold, fails("server 22012")).pausing(),
	}
}
