package mqtt

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// ends come in place of an answer, or inside of one.
func ends() []Entry {
	then := func(name, text string, act Act, kind http1.Kind) Entry { return answers(name, text, act, fails(kind)) }
	twice := Ask{QoS: 2}
	return []Entry{
		answers("silence behind a message", "", stays, Want{Kind: http1.KindTimeout, Reuse: ReuseMust}),
		answers("an acknowledgement behind the deadline", "", late, Want{Kind: http1.KindTimeout, Reuse: ReuseMust, Late: 1}),
		answers("QoS 2 that is never completed", pubrec, releasing("", stays), Want{Kind: http1.KindTimeout, Reuse: ReuseMust}).asking(twice),
		then("half an acknowledgement", "\x40\x02", hold, http1.KindTimeout),
		then("a byte of an answer now and then", "\x40\xff\x01", drips(many("x", 200), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end in place of an answer", "", half, http1.KindClosed),
		then("the end in place of PUBCOMP", pubrec, releasing("", half), http1.KindClosed).asking(twice),
		then("a reset in place of an answer", "", reset, http1.KindReset),
		then("the end inside an acknowledgement", "\x40\x02", half, http1.KindTruncated),
		then("a reset inside an acknowledgement", "\x40\x02", reset, http1.KindReset),
	}
}

// told are errors that a server tells.
func told() []Entry {
	tells := func(name, text string, kind http1.Kind) Entry {
		return answers(name, text, nil, Want{Kind: kind, Reuse: ReuseMust})
	}
	ends := func(name, text string, kind http1.Kind) Entry { return answers(name, text, half, fails(kind)) }
	return []Entry{
		tells("no right to send", "\x40\x03$I\x87", "server not authorized"),
		tells("no right to send, with a reason", "\x40\x09$I\x87\x05\x1f\x00\x02no", "server not authorized"),
		tells("a PUBREC with an error", "\x50\x03$I\x97", "server quota exceeded").asking(Ask{QoS: 2}),
		tells("an error without words", "\x40\x03$I\x80", "server unspecified error"),
		tells("an error that is none of the standard", "\x40\x03$I\xff", "server other"),
		answers("a PUBCOMP with an error", pubrec, releasing("\x70\x03$I\x92", nil), Want{Kind: "server packet identifier not found", Reuse: ReuseMust}).asking(Ask{QoS: 2}),
		ends("another connection has the identifier", "\xe0\x01\x8e", "server session taken over"),
		ends("a server that shuts down", "\xe0\x02\x8b\x00", "server shutting down"),
		ends("a goodbye without a reason", "\xe0\x00", http1.KindClosed),
		ends("too many messages", "\xe0\x01\x96", "server message rate too high"),
	}
}

// wrong are answers that the protocol forbids, or that are larger than a client takes.
func wrong() []Entry {
	breaks := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	return []Entry{
		breaks("an acknowledgement of identifier 0", "\x40\x02\x00\x00"),
		breaks("an acknowledgement without an identifier", "\x40\x01\x00"),
		breaks("PUBREC for QoS 1", pubrec),
		breaks("PUBCOMP for QoS 1", pubcomp),
		breaks("PUBACK for QoS 2", puback).asking(Ask{QoS: 2}),
		breaks("PUBCOMP before PUBREC", pubcomp).asking(Ask{QoS: 2}),
		breaks("PUBREL", "\x62\x02$I"),
		breaks("flags that PUBACK may not have", "\x42\x02$I"),
		breaks("a reason in version 3.1.1", "\x40\x03$I\x87").asking(Ask{Older: true}),
		breaks("a goodbye in version 3.1.1", "\xe0\x00").asking(Ask{Older: true}),
		breaks("a message that nothing subscribes to", "\x30\x04\x00\x01t\x00"),
		breaks("a length of 5 bytes", "\x40\xff\xff\xff\xff\x01"),
		breaks("a length that is longer than it must be", "\x40\x82\x00$I"),
		breaks("a packet of a client", "\x10\x00"),
		breaks("a packet without a kind", "\x00\x00"),
		breaks("a PINGRESP that was not asked for", pingresp),
		breaks("a SUBACK that was not asked for", "\x90\x04$I\x00\x00"),
		breaks("properties that end too early", "\x40\x04$I\x00\x05"),
		answers("an acknowledgement of 256 MiB", "\x40\xff\xff\xff\x7f", hold, fails(http1.KindTooLarge)),
		answers("acknowledgements of others without end", "", floods("\x40\x02\x77\x77"), fails(http1.KindFlood)),
	}
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	answer := func(name, text string) Entry { return answers(name, text, nil, acknowledged()) }
	return []Entry{
		answer("an acknowledgement", puback),
		answer("one of version 3.1.1", puback).asking(Ask{Older: true}),
		answer("one with a reason and no properties", "\x40\x03$I\x00"),
		answer("one that nothing received", "\x40\x03$I\x10"),
		answer("one with properties", "\x40\x0f$I\x00\x0b\x1f\x00\x01x\x26\x00\x01k\x00\x01v"),
		{Name: "an acknowledgement a byte at a time", Server: Behaviour{Then: drips(puback, time.Millisecond, nil)}, Want: acknowledged()},
		answers("QoS 2", pubrec, releasing(pubcomp, nil), acknowledged()).asking(Ask{QoS: 2}),
		answers("a PUBREC twice", pubrec+pubrec, releasing("", releasing(pubcomp, nil)), acknowledged()).asking(Ask{QoS: 2}),
		answers("an acknowledgement twice", puback+puback, nil, Want{Reuse: ReuseMust, Late: 1}),
		answers("one of another message before", "\x40\x02\x77\x77"+puback, nil, Want{Reuse: ReuseMust, Late: 1}),
		answers("an acknowledgement, and the end", puback, quit, Want{}).pausing(),
		answers("an acknowledgement, and FIN alone", puback, half, Want{}).pausing(),
		answers("an acknowledgement, and garbage", puback+"evil", hold, Want{}).pausing(),
		answers("an acknowledgement, and a goodbye", puback, later("\xe0\x01\x8b", hold), Want{}).pausing(),
	}
}
