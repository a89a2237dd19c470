package amqp

import "hyperscale/runtime/protocol/http1"

// connections are about what becomes of the connection before anything is asked.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Accept: act}, Want: fails(kind)}
	}
	return []Entry{
		Entry{Name: "no server", Want: fails(http1.KindRefused)}.asking(Ask{Once: true}),
		accepts("silence", hold, http1.KindConnectTimeout),
		accepts("HTTP on the port", says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", says("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", says("\x00\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("AMQP 1.0", says("AMQP\x03\x01\x00\x00", half), http1.KindProtocol),
		accepts("the end in place of a greeting", half, http1.KindClosed),
		accepts("a reset in place of a greeting", begun(reset), http1.KindReset),
		accepts("the end inside a greeting", says(start[:40], half), http1.KindTruncated),
		accepts("a greeting a byte now and then", drips(start, pause, hold), http1.KindConnectTimeout),
		accepts("a greeting of 2^31-1 bytes", says("\x01\x00\x00\x7f\xff\xff\xff", hold), http1.KindTooLarge),
		accepts("a greeting that is cut", says(method(0, 10, 10, "\x00\x09\x00\x00\x00\x09"), hold), http1.KindProtocol),
		accepts("another major version", says(method(0, 10, 10, "\x08\x00"+long("")+long("PLAIN")+long("")), hold), http1.KindProtocol),
		accepts("no mechanism that is known", says(method(0, 10, 10, "\x00\x09"+long("")+long("GSSAPI")+long("")), hold), http1.KindAuth),
		accepts("heartbeats in place of a greeting", floods(heartbeat), http1.KindTooLarge),
	}
}

// greetings are answers to the client's part of it.
func greetings() []Entry {
	greets := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Greeting: act}, Want: fails(kind)}
	}
	tunes := func(name, tune string, want Want) Entry {
		return Entry{Name: name, Server: Behaviour{Tune: tune, Answer: message("hi")}, Want: want}
	}
	return []Entry{
		greets("no virtual host", hold, http1.KindConnectTimeout),
		greets("the end in place of a virtual host", half, http1.KindClosed),
		greets("a virtual host that there is not", says(closes(0, 530, "NOT_ALLOWED - vhost", 10, 40), hold), "server 530"),
		greets("a user that is refused, with the password", says(closes(0, 403, "ACCESS_REFUSED app geheim", 0, 0), hold), http1.KindAuth),
		greets("a second question about the user", says(method(0, 10, 20, long("more")), hold), http1.KindAuth),
		greets("a confirm of a message that has not come", says(opened+channelOpened+selected+ack(1, false), hold), http1.KindProtocol).asking(Ask{Verb: Confirm}),
		greets("a message in the greeting", says(message("hi"), hold), http1.KindProtocol),
		greets("a channel that is refused", says(opened+closes(0, 504, "CHANNEL_ERROR", 20, 10), hold), "server 504"),
		tunes("frames of 100 bytes", limits(0, 100, 0), fails(http1.KindProtocol)),
		tunes("frames of 4 KiB, and one channel", limits(1, 4096, 1), got("hi")),
		tunes("no limits", limits(0, 0, 0), got("hi")),
		Entry{Name: "a server that takes no bytes", Server: Behaviour{Greeting: says(opened+channelOpened, frozen)}, Want: fails(http1.KindWriteTimeout)}.asking(Ask{Verb: Confirm, Size: 8 << 20}),
		Entry{Name: "publishers that are blocked", Server: Behaviour{Greeting: says(opened+method(0, 10, 60, short("low on memory")), stays)}, Want: Want{Kind: http1.KindTimeout, Reuse: ReuseMust}}.asking(Ask{Verb: Confirm}),
	}
}
