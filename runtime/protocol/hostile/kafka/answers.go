package kafka

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// hi is a good answer, and hiBody what a client makes of it.
func hi() string { return produced(0, 7, "", 0) }

const hiBody = `{"topic":"orders","partition":0,"offset":7}`

// ends come in place of an answer, or inside of one.
func ends() []Entry {
	then := func(name string, act Act, kind http1.Kind) Entry { return answers(name, act, fails(kind)) }
	return []Entry{
		then("silence behind a record", hold, http1.KindTimeout),
		then("an answer behind the deadline", tardy, http1.KindTimeout),
		then("half an answer", raw(i32(50)+"$NUMhel", hold), http1.KindTimeout),
		then("a byte of an answer now and then", drips(many("x", 1000), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end in place of an answer", half, http1.KindClosed),
		then("a reset in place of an answer", reset, http1.KindClosed), // as of a connection that was idle: it has carried Metadata,
		then("the end inside an answer", raw(i32(50)+"$NUMhel", half), http1.KindTruncated),
		then("a reset inside an answer", raw(i32(50)+"$NUMhel", reset), http1.KindReset),
	}
}

// told are errors that a broker tells.
func told() []Entry {
	tells := func(name string, code int, why string, kind http1.Kind) Entry {
		return answers(name, says(produced(code, -1, why, 0), nil), Want{Kind: kind, Reuse: ReuseMust})
	}
	return []Entry{
		tells("a leader that has moved", 6, "", "server NOT_LEADER_OR_FOLLOWER"),
		tells("a topic that has gone", 3, "", "server UNKNOWN_TOPIC_OR_PARTITION"),
		tells("a record that is too large", 10, "", "server MESSAGE_TOO_LARGE"),
		tells("too few replicas", 19, "", "server NOT_ENOUGH_REPLICAS"),
		tells("a timeout of the followers", 7, "", "server REQUEST_TIMED_OUT"),
		tells("a record that is refused", 87, "it has no key", "server INVALID_RECORD"),
		tells("an error without a reason", -1, "", "server UNKNOWN_SERVER_ERROR"),
		tells("an error of tomorrow", 999, "", "server ERROR_999"),
		tells("a reason of 30 KiB", 44, many("x", 30<<10), "server POLICY_VIOLATION"),
	}
}

// wrong are answers that the protocol forbids, or that are larger than a client takes.
func wrong() []Entry {
	breaks := func(name string, act Act) Entry { return answers(name, act, fails(http1.KindProtocol)) }
	return []Entry{
		breaks("an answer of another number", raw(i32(4+len(hi()))+"\x00\x00\x00\x63"+hi(), hold)),
		breaks("an answer without a number", raw(i32(2)+"hi", hold)),
		breaks("an answer of -1 bytes", raw("\xff\xff\xff\xff$NUM", hold)),
		breaks("an empty answer", says("", hold)),
		breaks("no topic", says(i32(0)+i32(0), hold)),
		breaks("two topics", says(i32(2)+hi()[4:len(hi())-4]+hi()[4:], hold)),
		breaks("2^31-1 topics", says(i32(1<<31-1), hold)),
		breaks("2^31-1 reasons", says(hi()[:len(hi())-10]+i32(1<<31-1), hold)),
		breaks("an answer that is cut", says(hi()[:20], hold)),
		answers("an answer of 2^31-1 bytes", raw("\x7f\xff\xff\xff$NUM", hold), fails(http1.KindTooLarge)),
		answers("an answer beyond what is taken", raw(i32(16<<20+1)+"$NUM", hold), fails(http1.KindTooLarge)),
	}
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	return []Entry{
		answers("an answer", says(hi(), nil), got(hiBody)),
		answers("an answer with more behind its fields", says(hi()+"more", nil), got(hiBody)),
		answers("a wait of an hour", says(produced(0, 7, "", 3_600_000), nil), Want{Body: hiBody, Reuse: ReuseMust, Throttled: 1}),
		answers("an offset of 2^62", says(produced(0, 1<<62, "", 0), nil), got(`"offset":4611686018427387904`)),
		answers("an answer a byte at a time", drips(hi(), time.Millisecond, nil), got(hiBody)),
		answers("an answer, and the end", says(hi(), quit), gone(hiBody)).pausing(),
		answers("an answer, and FIN alone", says(hi(), half), gone(hiBody)).pausing(),
		answers("an answer, and a reset", says(hi(), waits(reset)), gone(hiBody)).pausing(),
		answers("an answer, and garbage", says(hi(), raw("evil evil evil", hold)), gone(hiBody)).pausing(),
		answers("two answers for one", says(hi(), says(produced(0, 8, "", 0), hold)), gone(hiBody)).pausing(),
	}
}
