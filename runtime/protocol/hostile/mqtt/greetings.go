package mqtt

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before anything is asked.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("a banner", says("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("the end in place of CONNACK", half, http1.KindClosed),
		accepts("a reset in place of CONNACK", reset, http1.KindReset),
		accepts("the end inside CONNACK", says(welcome[:3], half), http1.KindTruncated),
	}
}

// greetings are answers to CONNECT.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Greeting: act}, Want: fails(kind)}
	}
	refuses := func(name, text string, kind http1.Kind) Entry { return greets(name, says(text, hold), kind) }
	older := func(name, text string, kind http1.Kind) Entry {
		return refuses(name+", version 3.1.1", text, kind).asking(Ask{Older: true})
	}
	return []Entry{
		greets("no CONNACK", hold, http1.KindConnectTimeout),
		greets("a CONNACK a byte now and then", drips("\x20\xff\x7f\x00\x00"+many("x", 1000), pause/3, hold), http1.KindConnectTimeout),
		refuses("a wrong password", "\x20\x03\x00\x86\x00", http1.KindAuth),
		refuses("a password that is repeated", "\x20\x0c\x00\x87\x09\x1f\x00\x06geheim", http1.KindAuth),
		refuses("another way to prove a user", "\x20\x03\x00\x8c\x00", http1.KindAuth),
		refuses("an identifier that is not valid", "\x20\x03\x00\x85\x00", "server client identifier not valid"),
		refuses("a server that is busy", "\x20\x03\x00\x89\x00", "server busy"),
		refuses("a server that is elsewhere", "\x20\x03\x00\x9d\x00", "server moved"),
		refuses("too many connections in a second", "\x20\x03\x00\x9f\x00", "server connection rate exceeded"),
		refuses("a server of version 3", "\x20\x02\x00\x01", "server unsupported protocol version"),
		older("another version", "\x20\x02\x00\x01", "server unsupported protocol version"),
		older("an identifier that is not valid", "\x20\x02\x00\x02", "server client identifier not valid"),
		older("a server that is unavailable", "\x20\x02\x00\x03", "server unavailable"),
		older("a wrong password", "\x20\x02\x00\x04", http1.KindAuth),
		older("no right to connect", "\x20\x02\x00\x05", http1.KindAuth),
		older("a CONNACK of version 5", welcome, http1.KindProtocol),
		refuses("a session that was not asked for", "\x20\x03\x01\x00\x00", http1.KindProtocol),
		refuses("flags that are none", "\x20\x03\x02\x00\x00", http1.KindProtocol),
		refuses("a property that is none", "\x20\x05\x00\x00\x02\x77\x00", http1.KindProtocol),
		refuses("a receive maximum of 0", "\x20\x06\x00\x00\x03\x21\x00\x00", http1.KindProtocol),
		refuses("properties longer than the packet", "\x20\x03\x00\x00\x7f", http1.KindProtocol),
		refuses("a CONNACK with a length of 5 bytes", "\x20\xff\xff\xff\xff\x01", http1.KindProtocol),
		refuses("a CONNACK of 256 MiB", "\x20\xff\xff\xff\x7f\x00\x00", http1.KindProtocol),
		refuses("a message in place of CONNACK", "\x30\x04\x00\x01t\x00", http1.KindProtocol),
		refuses("AUTH in place of CONNACK", "\xf0\x00", http1.KindProtocol),
		greets("the end behind the greeting", says(welcome, half), http1.KindClosed),
		greets("an acknowledgement of a message that has not come", says(welcome+"\x40\x02\x00\x01", hold), http1.KindProtocol),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{Greeting: says(welcome, frozen)}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Size: 8 << 20}),
	}
}

// limits are what a CONNACK allows.
func limits() []Entry {
	allows := func(name, properties string, want Want) Entry {
		text := "\x20" + string(rune(3+len(properties))) + "\x00\x00" + string(rune(len(properties))) + properties
		return Entry{Name: name, Server: Behaviour{Greeting: says(text, nil)}, Want: want}
	}
	value := Want{Kind: http1.KindValue, Reuse: ReuseMust}
	return []Entry{
		allows("packets of 40 bytes", "\x27\x00\x00\x00\x28", value).asking(Ask{Size: 100}),
		allows("no QoS 2", "\x24\x01", value).asking(Ask{QoS: 2}),
		allows("a keep alive of a second", "\x13\x00\x01", acknowledged()),
		allows("properties that no client needs", "\x12\x00\x02id\x1f\x00\x02hi\x26\x00\x01k\x00\x01v\x28\x00", acknowledged()),
		{Name: "a receive maximum of 1, and silence", Server: Behaviour{Greeting: says("\x20\x06\x00\x00\x03\x21\x00\x01", nil), Then: hold}, Want: fails(http1.KindTimeout)},
		{Name: "a greeting in pieces", Server: Behaviour{Greeting: drips(welcome, 0, nil)}, Want: acknowledged()},
	}
}
