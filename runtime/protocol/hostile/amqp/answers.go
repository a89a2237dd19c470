package amqp

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// ends come in place of an answer, or inside of one.
func ends() []Entry {
	then := func(name, text string, act Act, kind http1.Kind) Entry { return answers(name, text, act, fails(kind)) }
	timesOut := Want{Kind: http1.KindTimeout, Reuse: ReuseMust}
	lates := Want{Kind: http1.KindTimeout, Reuse: ReuseMust, Late: 1}
	return []Entry{
		answers("silence behind a publication", "", stays, timesOut).asking(Ask{Verb: Confirm}),
		answers("a confirm behind the deadline", "", late(ack(1, false)), lates).asking(Ask{Verb: Confirm}),
		answers("a message behind the deadline", "", late(message("late")), lates),
		answers("heartbeats in place of an answer", heartbeat, stays, timesOut).asking(Ask{Verb: Confirm}),
		then("a method without its message", gotten(7), hold, http1.KindTimeout),
		then("a byte of a message now and then", gotten(7)+header(1000), drips(bodies(many("x", 1000), 1), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end in place of an answer", "", half, http1.KindClosed),
		then("a reset in place of an answer", "", reset, http1.KindReset),
		then("the end inside a message", gotten(7)+header(10)+bodies("hel", 3), half, http1.KindTruncated),
		then("the end inside a frame", gotten(7)[:9], half, http1.KindTruncated),
	}
}

// told are errors that a server tells.
func told() []Entry {
	tells := func(name, text string, kind http1.Kind, v Verb) Entry {
		return Entry{Name: name, Server: Behaviour{Answer: text}, Want: Want{Kind: kind, Reuse: ReuseMust}}.asking(Ask{Verb: v})
	}
	return []Entry{
		tells("a missing exchange", closes(1, 404, "NOT_FOUND - no exchange", 60, 40), "server 404", Confirm),
		tells("a missing queue", closes(1, 404, "NOT_FOUND - no queue", 60, 70), "server 404", Get),
		tells("a locked queue", closes(1, 405, "RESOURCE_LOCKED", 60, 70), "server 405", Get),
		tells("an error without words", closes(1, 406, "", 0, 0), "server 406", Get),
		tells("a queue that rejects", nack(1), "server nack", Confirm),
		tells("a message that comes back", returned()+ack(1, false), "server 312", Mandatory),
		answers("a broker that stops", closes(0, 320, "CONNECTION_FORCED", 0, 0), half, fails("server 320")),
		answers("a broker that has failed, and stays", closes(0, 541, "INTERNAL_ERROR", 0, 0), hold, fails("server 541")),
	}
}

// wrong are answers that the protocol forbids, or that are larger than a client takes.
func wrong() []Entry {
	breaks := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	large := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindTooLarge)) }
	confirm := Ask{Verb: Confirm}
	return []Entry{
		breaks("a confirm of a message that was not sent", ack(2, false)).asking(confirm),
		breaks("a confirm that nothing asked for", ack(1, false)),
		breaks("a message that comes back and need not", returned()).asking(confirm),
		breaks("a message of a consumer that there is not", method(1, 60, 60, short("c")+number(1, 8)+"\x00"+short("")+short("jobs"))),
		breaks("an answer to another question", method(1, 50, 11, short("jobs")+number(0, 8))),
		breaks("a class that there is not", method(1, 90, 20, "")),
		breaks("a method of clients", method(1, 60, 70, "\x00\x00"+short("jobs")+"\x00")),
		breaks("a method inside a message", gotten(7)+method(1, 60, 72, short(""))),
		breaks("a body without a header", gotten(7)+bodies("hi", 2)),
		breaks("a header without a method", header(2)),
		breaks("a body longer than its header says", gotten(7)+header(2)+bodies("evil", 4)),
		breaks("properties that are cut", gotten(7)+frame(2, 1, "\x00\x3c\x00\x00"+number(2, 8)+"\x80\x00\x09a")),
		breaks("a table that nests 10,000 deep", gotten(7)+frame(2, 1, "\x00\x3c\x00\x00"+number(2, 8)+"\x20\x00"+nested(10000))),
		breaks("another channel", method(7, 60, 72, short(""))),
		breaks("a frame that does not end", gotten(7)[:len(gotten(7))-1]+"\x00"),
		breaks("a kind of frame that there is not", "\x07\x00\x01\x00\x00\x00\x00\xce"),
		large("a message of 2^63 bytes", gotten(7)+header(1<<63)),
		large("a message beyond what is taken", gotten(7)+header(16<<20+1)),
		large("a frame beyond what was agreed", "\x03\x00\x01\x7f\xff\xff\xff"),
		answers("heartbeats without end", "", floods(heartbeat), fails(http1.KindFlood)),
		answers("bodies without bytes", gotten(7)+header(2), floods(frame(3, 1, "")), fails(http1.KindFlood)),
	}
}

// nested is a table with tables in it.
func nested(depth int) string {
	in := ""
	for range min(depth, 1000) {
		in = long("\x01aF" + long("") + in)
	}
	return long("\x01aF" + in)
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	answer := func(name, text, want string) Entry { return answers(name, text, nil, got(want)) }
	confirm := Ask{Verb: Confirm}
	return []Entry{
		answer("a message", message("hi"), "hi"),
		answer("an empty queue", method(1, 60, 72, short("")), ""),
		answer("an empty message", message(""), ""),
		answer("bodies of one byte", gotten(7)+header(5)+bodies("hello", 1), "hello"),
		answer("a message of 2 MiB", message(many("x", 2<<20)), many("x", 2<<20)),
		answer("heartbeats inside a message", gotten(7)+heartbeat+header(2)+heartbeat+bodies("hi", 2), "hi"),
		answer("1,000 heartbeats before", many(heartbeat, 1000)+message("hi"), "hi"),
		answer("blocked and unblocked before", method(0, 10, 60, short("low"))+method(0, 10, 61, "")+message("hi"), "hi"),
		answer("the channel's flow off and on", method(1, 20, 20, "\x00")+method(1, 20, 20, "\x01")+message("hi"), "hi"),
		answer("a confirm", ack(1, false), "").asking(confirm),
		answer("a confirm of all before", ack(1, true), "").asking(confirm),
		answer("a confirm of all", ack(0, true), "").asking(confirm),
		answers("two confirms for one", ack(1, false)+ack(1, false), nil, Want{Reuse: ReuseMust, Late: 1}).asking(confirm),
		answers("a message, and an error of the channel", message("hi"), later(closes(1, 404, "NOT_FOUND", 60, 40), stays), Want{Body: "hi", Reuse: ReuseMust, Told: 1}).pausing(),
		answers("a message, and a second one", message("hi")+message("evil"), hold, gone("hi")).pausing(),
		{Name: "a message a byte at a time", Server: Behaviour{Then: drips(message("hi"), time.Millisecond, nil)}, Want: got("hi")},
		answers("a message, and the end", message("hi"), quit, gone("hi")).pausing(),
		answers("a message, and a reset", message("hi"), func(s *Session) bool { return s.server.port.Wait(pause/3) && reset(s) }, gone("hi")).pausing(),
		answers("a message, and garbage", message("hi")+"evil", hold, gone("hi")).pausing(),
		answers("a message, and a broker that stops", message("hi"), later(closes(0, 320, "CONNECTION_FORCED", 0, 0), hold), Want{Body: "hi", Told: 1}).pausing(),
	}
}
