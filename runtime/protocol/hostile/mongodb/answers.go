package mongodb

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// hi is a good answer, and hiBody what a client makes of it.
func hi() string { return batch("firstBatch", 0, 7) }

const hiBody = `[{"n":7}]`

// ends come in place of an answer, or inside of one.
func ends() []Entry {
	then := func(name string, act Act, kind http1.Kind) Entry { return answers(name, act, fails(kind)) }
	return []Entry{
		then("silence behind a find", hold, http1.KindTimeout),
		then("an answer behind the deadline", tardy, http1.KindTimeout),
		then("half an answer", raw(i32(50)+"half", hold), http1.KindTimeout),
		then("a byte of an answer now and then", drips(hi(), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end in place of an answer", half, http1.KindClosed),
		then("a reset in place of an answer", reset, http1.KindReset),
		then("the end inside an answer", raw(i32(50)+"half", half), http1.KindTruncated),
		then("a reset inside an answer", raw(i32(50)+"half", reset), http1.KindReset),
	}
}

// told are errors that a server tells.
func told() []Entry {
	tells := func(name string, body string, kind http1.Kind) Entry {
		return answers(name, says(body, nil), Want{Kind: kind, Reuse: ReuseMust})
	}
	return []Entry{
		tells("a bad filter", fault(2, "unknown operator"), "server 2"),
		tells("a reason of 30 KiB", fault(96, many("x", 30<<10)), "server 96"),
		tells("an error without a code", doc(number("ok", 0)), "server other"),
		tells("a primary that has stepped down", fault(10107, "not primary"), http1.KindMoved),
		tells("a write error beside ok", doc(whole("n", 0), array("writeErrors", doc(document("0", doc(whole("code", 11000))))), number("ok", 1)), "server 11000"),
		tells("a write concern that failed", doc(document("writeConcernError", doc(whole("code", 64))), number("ok", 1)), "server 64"),
	}
}

// nested is a document so deep.
func nested(n int) string {
	b := doc()
	for range n {
		b = doc(document("a", b))
	}
	return b
}

// wrong are answers that the protocol forbids, or that are larger than a client takes.
func wrong() []Entry {
	breaks := func(name string, act Act) Entry { return answers(name, act, fails(http1.KindProtocol)) }
	framed := func(code, flags int, body string) Act {
		return func(s *Session) bool { s.Frame(s.number, code, flags, body); return hold(s) }
	}
	return []Entry{
		breaks("another's responseTo", func(s *Session) bool { s.Frame(s.number+7, 0, 0, hi()); return hold(s) }),
		breaks("OP_REPLY", framed(1, 0, hi())),
		breaks("OP_COMPRESSED unasked", framed(2012, 0, hi())),
		breaks("moreToCome", framed(0, 2, hi())),
		breaks("a flag of tomorrow", framed(0, 4, hi())),
		breaks("a wrong checksum", framed(0, 1, hi()+"evil")),
		breaks("an answer of -1 bytes", raw("\xff\xff\xff\xff", hold)),
		breaks("an answer of 2^31-1 bytes", raw("\xff\xff\xff\x7f", hold)),
		answers("an answer beyond what is taken", raw(i32(17<<20), hold), fails(http1.KindTooLarge)),
		breaks("no document", framed(0, 0, "")),
		breaks("a document of a negative length", framed(0, 0, i32(-5)+many("x", 20))),
		breaks("a text of a negative length", framed(0, 0, doc("\x02a\x00"+i32(-5)+"x\x00", number("ok", 1)))),
		breaks("BSON 10,000 deep", framed(0, 0, doc(document("deep", nested(10_000)), number("ok", 1)))),
		breaks("a type that there is not", framed(0, 0, doc("\x42a\x00", number("ok", 1)))),
		breaks("an answer without ok", framed(0, 0, doc(whole("n", 1)))),
		breaks("no cursor", framed(0, 0, doc(number("ok", 1)))),
		breaks("a cursor without a batch", framed(0, 0, doc(document("cursor", doc(long("id", 0), text("ns", "shop.orders"))), number("ok", 1)))),
	}
}

// large is a batch of a mebibyte, with more behind it.
func large() string {
	return doc(document("cursor", doc(array("nextBatch", doc(document("0", doc(text("t", many("x", 1<<20)))))), long("id", 7), text("ns", "shop."+Collection))), number("ok", 1))
}

// cursors are answers to getMore.
func cursors() []Entry {
	more := func(name string, act Act, want Want) Entry {
		return Entry{Name: name, At: AtMore, Act: act, Want: want}
	}
	return []Entry{
		more("a cursor of two batches", says(batch("nextBatch", 0, 8), nil), got(`[{"n":1},{"n":8}]`)),
		more("a cursor that is lost", says(fault(43, "cursor not found"), nil), Want{Kind: "server 43", Reuse: ReuseMust}),
		more("the end inside a cursor", half, fails(http1.KindTruncated)),
		more("silence inside a cursor", hold, fails(http1.KindTimeout)),
		more("an endless cursor of documents", endless(large()), fails(http1.KindTooLarge)),
		more("an endless cursor of nothing", endless(batch("nextBatch", 7)), fails(http1.KindFlood)),
	}
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	gone := Want{Body: hiBody}
	return []Entry{
		answers("an answer", says(hi(), nil), got(hiBody)),
		answers("an answer with a flag that may be unknown", func(s *Session) bool { s.Frame(s.number, 0, 1<<20, hi()); return true }, got(hiBody)),
		answers("an empty collection", says(batch("firstBatch", 0), nil), got(`[]`)),
		answers("an answer a byte at a time", drips(hi(), time.Millisecond, nil), got(hiBody)),
		answers("an answer, and the end", says(hi(), quit), gone).pausing(),
		answers("an answer, and a reset", says(hi(), waits(reset)), gone).pausing(),
		answers("an answer, and garbage", says(hi(), raw("evil evil evil evil", hold)), gone).pausing(),
		answers("two answers for one", says(hi(), says(hi(), hold)), gone).pausing(),
	}
}
