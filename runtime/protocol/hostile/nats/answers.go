package nats

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// ends come in place of an answer, or inside of one.
func ends() []Entry {
	then := func(name, text string, act Act, kind http1.Kind) Entry { return answers(name, text, act, fails(kind)) }
	return []Entry{
		answers("silence behind an operation", "", stays, Want{Kind: http1.KindTimeout, Reuse: ReuseMust}),
		answers("an answer behind the deadline", "", late, Want{Kind: http1.KindTimeout, Reuse: ReuseMust, Late: 1}),
		answers("a PING in place of an answer", "PING\r\n", stays, Want{Kind: http1.KindTimeout, Reuse: ReuseMust}),
		then("half an answer", "MSG $R 1 10\r\nhel", hold, http1.KindTimeout),
		then("a byte of an answer now and then", "MSG $R 1 1000\r\n", drips(many("x", 1000), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end in place of an answer", "", half, http1.KindClosed),
		then("a reset in place of an answer", "", reset, http1.KindReset),
		then("the end inside a message", "MSG $R 1 10\r\nhel", half, http1.KindTruncated),
		then("the end inside a line", "MSG $R", half, http1.KindTruncated),
		then("a reset inside a message", "MSG $R 1 10\r\nhel", reset, http1.KindReset),
	}
}

// told are errors that a server tells.
func told() []Entry {
	tells := func(name, text string, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Answer: text}, Want: Want{Kind: kind, Reuse: ReuseMust}}
	}
	ends := func(name, text string, kind http1.Kind) Entry { return answers(name, text, half, fails(kind)) }
	return []Entry{
		tells("no responders", hmsg(" 503", ""), "server 503"),
		tells("a status with a text", hmsg(" 408 Request Timeout", ""), "server 408"),
		tells("no right to send", "-ERR 'Permissions Violation for Publish to \"a\"'\r\n", "server permissions violation"),
		tells("no right to send, and a PONG", "-ERR 'Permissions Violation for Publish to \"a\"'\r\n", "server permissions violation").asking(Ask{Verb: Flush}),
		tells("no right to receive replies", "-ERR 'Permissions Violation for Subscription to \"$R\"'\r\n", "server permissions violation"),
		tells("a full stream", msg(`{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},"stream":"A","seq":0}`), "server 10077").asking(Ask{Verb: Stream}),
		tells("no stream", hmsg(" 503", ""), "server 503").asking(Ask{Verb: Stream}),
		ends("a payload too large", "-ERR 'Maximum Payload Violation'\r\n", "server maximum payload violation"),
		ends("a stale connection", "-ERR 'Stale Connection'\r\n", "server stale connection"),
		ends("a slow consumer", "-ERR 'Slow Consumer'\r\n", "server slow consumer"),
		ends("an error without words", "-ERR ''\r\n", "server other"),
		ends("an error of a kilobyte", "-ERR '"+many("x", 1024)+"'\r\n", "server other"),
		answers("an error about another subject", "-ERR 'Permissions Violation for Publish to \"z\"'\r\n"+msg("hi"), nil, Want{Body: "hi", Reuse: ReuseMust, Told: 1}),
	}
}

// wrong are answers that the protocol forbids, or that are larger than a client takes.
func wrong() []Entry {
	breaks := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	large := func(name, answer string, act Act) Entry {
		return answers(name, answer, act, fails(http1.KindTooLarge))
	}
	return []Entry{
		breaks("a size that is no number", "MSG $R 1 two\r\nhi\r\n"),
		breaks("a size below zero", "MSG $R 1 -2\r\nhi\r\n"),
		breaks("a size of 20 digits", "MSG $R 1 99999999999999999999\r\n"),
		breaks("a message without a size", "MSG $R 1\r\n"),
		breaks("a message longer than its size", "MSG $R 1 2\r\nhello\r\n"),
		breaks("a header longer than its message", "HMSG $R 1 9 2\r\nhi\r\n"),
		breaks("a header that is none", "HMSG $R 1 2 4\r\nhihi\r\n"),
		breaks("a message of a subscription that was not made", "MSG $R 7 2\r\nhi\r\n"),
		breaks("a message of another subject", "MSG other 1 2\r\nhi\r\n"),
		breaks("a PONG that was not asked for", "PONG\r\n"),
		breaks("a line without CR", "PING\n"),
		breaks("a line that is none", "PUB a 1\r\nx\r\n"),
		breaks("an acknowledgement of a service", msg("ok")).asking(Ask{Verb: Stream}),
		breaks("an acknowledgement without a number", msg(`{"stream":"A"}`)).asking(Ask{Verb: Stream}),
		large("a message of 2^31-1 bytes", "MSG $R 1 2147483647\r\nx", hold),
		large("a message beyond what is taken", "MSG $R 1 16777217\r\nx", hold),
		large("a line without end", "INFO {", floods("x")),
		large("257 fields", hmsg("\r\n"+many("a: b\r\n", 256)+"a: b", ""), hold),
		answers("PINGs without end", "", floods("PING\r\n"), fails(http1.KindFlood)),
		answers("INFOs without end", "", floods("INFO {}\r\n"), fails(http1.KindFlood)),
	}
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	answer := func(name, text, want string) Entry { return answers(name, text, nil, got(want)) }
	return []Entry{
		answer("an answer", msg("hi"), "hi"),
		answer("an answer with a reply of its own", "MSG $R 1 back 2\r\nhi\r\n", "hi"),
		answer("an answer with a header", hmsg("\r\na: b", "hi"), "hi"),
		answer("an empty answer", msg(""), ""),
		answer("an answer that has line ends", msg("a\r\nPING\r\nb"), "a\r\nPING\r\nb"),
		answer("an answer of 2 MiB", msg(many("x", 2<<20)), many("x", 2<<20)),
		answer("PING, +OK and INFO before", "PING\r\n+OK\r\n"+welcome+msg("hi"), "hi"),
		answer("a server that is about to go", `INFO {"headers":true,"ldm":true,"max_payload":67108864}`+"\r\n"+msg("hi"), "hi"),
		answer("1,000 PINGs before", many("PING\r\n", 1000)+msg("hi"), "hi"),
		answers("two answers for one", msg("hi")+msg("evil"), nil, Want{Body: "hi", Reuse: ReuseMust, Late: 1}),
		answers("an answer, and a second one later", msg("hi"), later(msg("evil"), stays), Want{Body: "hi", Reuse: ReuseMust, Late: 1}).pausing(),
		answer("an acknowledgement", msg(`{"stream":"A","seq":7}`), `"seq":7`).asking(Ask{Verb: Stream}),
		answer("an acknowledgement of a domain", msg(`{"stream":"A","domain":"hub","seq":7,"duplicate":true}`), `"hub"`).asking(Ask{Verb: Stream}),
		{Name: "an answer a byte at a time", Server: Behaviour{Then: drips(msg("hi"), time.Millisecond, nil)}, Want: got("hi")},
		answers("an answer, and the end", msg("hi"), quit, gone("hi")).pausing(),
		answers("an answer, and FIN alone", msg("hi"), half, gone("hi")).pausing(),
		answers("an answer, and a reset", msg("hi"), func(s *Session) bool { return s.server.port.Wait(pause/3) && reset(s) }, gone("hi")).pausing(),
		answers("an answer, and garbage", msg("hi")+"evil", hold, gone("hi")).pausing(),
		answers("an answer, and a stale connection", msg("hi"), later("-ERR 'Stale Connection'\r\n", hold), Want{Body: "hi", Told: 1}).pausing(),
	}
}
