package mqtt

import "hyperscale/runtime/protocol/http1"

// said is a message of the server for the topic t, with a byte of flags, and an identifier where its QoS has
// one.
func said(flags byte, id, data string) string {
	body := "\x00\x01t" + id + "\x00" + data
	return string([]byte{0x30 | flags, byte(len(body))}) + body
}

// Sessions are entries of clients that subscribe: Answer comes in place of a SUBACK, and the Kind is that of
// the session.
func Sessions() []Entry {
	plays := func(name, text string, then Act, want Want) Entry {
		return answers(name, text, then, want).asking(Ask{Subscribes: true})
	}
	breaks := func(name, text string) Entry { return plays(name, text, hold, fails(http1.KindProtocol)) }
	one := Want{Got: 1}
	return []Entry{
		plays("a subscription that is refused", "\x90\x04$I\x00\x87", hold, fails("server not authorized")),
		plays("a subscription that is over", "\xe0\x01\x8b", hold, fails("server shutting down")),
		plays("another client with the identifier", suback+"\xe0\x01\x8e", hold, fails("server session taken over")),
		plays("the end in place of SUBACK", "", half, fails(http1.KindClosed)),
		plays("the end of a subscription", suback, half, fails(http1.KindClosed)),
		plays("the end inside a message", suback+"\x30\x09", half, fails(http1.KindTruncated)),
		breaks("a SUBACK of another subscription", "\x90\x04\x77\x77\x00\x00"),
		breaks("a SUBACK with too many codes", "\x90\x05$I\x00\x00\x00"),
		breaks("a SUBACK with a code that is none", "\x90\x04$I\x00\x03"),
		breaks("a SUBACK twice", suback+suback),
		breaks("a message of QoS 3", suback+said(6, "\x00\x01", "x")),
		breaks("a message with identifier 0", suback+said(2, "\x00\x00", "x")),
		breaks("a message without a topic", suback+"\x30\x03\x00\x00\x00"),
		breaks("a topic alias that is not known", suback+"\x30\x06\x00\x00\x03\x23\x00\x01"),
		breaks("a topic with a wildcard", suback+"\x30\x04\x00\x01#\x00"),
		breaks("an acknowledgement of no message", suback+"\x40\x02\x00\x01"),
		plays("a message of 256 MiB", suback+"\x30\xff\xff\xff\x7f", hold, fails(http1.KindTooLarge)),
		plays("PUBRELs without end", suback, floods("\x62\x02\x00\x01"), fails(http1.KindFlood)),
		plays("a message", suback+said(0, "", "x"), nil, one),
		plays("a message before SUBACK", said(0, "", "x")+suback, nil, one),
		plays("a message of QoS 2 twice", suback+said(4, "\x00\x07", "x")+said(12, "\x00\x07", "x"), nil, one),
		plays("200 retained messages", suback+many(said(1, "", "x"), 200), nil, Want{Got: 200}),
	}
}
