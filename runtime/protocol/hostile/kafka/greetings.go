package kafka

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// connections are about what becomes of the connection before anything is asked.
func connections() []Entry {
	accepts := func(name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, At: AtAccept, Act: act, Want: fails(kind)}
	}
	return []Entry{
		{Name: "no broker", Once: true, Want: fails(http1.KindRefused)},
		accepts("silence behind the connect", hold, http1.KindConnectTimeout),
		accepts("a banner", raw("220 mail ready\r\n", hold), http1.KindProtocol),
		accepts("HTTP on the port", raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", hold), http1.KindProtocol),
		accepts("TLS on the port", raw("\x15\x03\x01\x00\x02\x02\x46", hold), http1.KindProtocol),
		accepts("garbage on the port", raw("\xff\xff\xfe\x81\x02hi", hold), http1.KindProtocol),
		accepts("the end behind the connect", half, http1.KindClosed),
		accepts("a reset behind the connect", reset, http1.KindReset),
		accepts("a broker that takes no bytes", frozen, http1.KindConnectTimeout),
	}
}

// greetings are answers to ApiVersions and SASL.
func greetings() []Entry {
	at := func(place Place, name string, act Act, kind http1.Kind) Entry {
		return Entry{Name: name, At: place, Act: act, Want: fails(kind)}
	}
	return []Entry{
		at(AtVersions, "the end inside ApiVersions", raw(i32(100)+"$NUM", half), http1.KindTruncated),
		at(AtVersions, "ApiVersions a byte now and then", drips(versions(0)+many("x", 1000), 100*time.Millisecond, hold), http1.KindConnectTimeout),
		at(AtVersions, "ApiVersions of another number", raw(i32(10)+"\x00\x00\x00\x63"+versions(0), hold), http1.KindProtocol),
		at(AtVersions, "ApiVersions of 2^31-1 bytes", raw("\x7f\xff\xff\xff$NUM", hold), http1.KindProtocol),
		at(AtVersions, "ApiVersions of 2^31-1 entries", says(i16(0)+i32(1<<31-1), hold), http1.KindProtocol),
		at(AtVersions, "a broker without Metadata", says(versions(0, [2]int{apiProduce, 8}), hold), http1.KindProtocol),
		at(AtVersions, "an error in place of versions", says(versions(35), hold), "server UNSUPPORTED_VERSION"),
		at(AtHandshake, "no mechanism of ours", says(i16(33)+i32(1)+text("GSSAPI"), hold), http1.KindAuth),
		at(AtHandshake, "silence in SASL", stays, http1.KindConnectTimeout),
		at(AtChallenge, "a user that is not there", says(i16(58)+text("no such user")+i32(0), half), http1.KindAuth),
		at(AtChallenge, "a challenge with another's nonce", says(proves("r=mine,s=c2FsdA==,i=4096"), hold), http1.KindProtocol),
		at(AtChallenge, "a challenge of one iteration", challenges("i=1"), http1.KindProtocol),
		at(AtChallenge, "a challenge of 2^31 iterations", challenges("i=2147483648"), http1.KindTooLarge),
		at(AtChallenge, "silence in place of a challenge", stays, http1.KindConnectTimeout),
		at(AtProof, "a signature that is wrong", says(proves("v=AAAA"), hold), http1.KindAuth),
		at(AtProof, "a wrong password", says(i16(58)+text("Authentication failed")+i32(0), half), http1.KindAuth),
		at(AtProof, "a password that is repeated", says(i16(58)+text("no user app with geheim")+i32(0), half), http1.KindAuth),
		at(AtProof, "the end in place of a verdict", half, http1.KindClosed),
		at(AtProof, "a verdict that is cut", says(i16(0), hold), http1.KindProtocol),
	}
}

// layouts are answers to Metadata.
func layouts() []Entry {
	at := func(name string, act Act, want Want) Entry {
		return Entry{Name: name, At: AtLayout, Act: act, Want: want}
	}
	tells := func(name string, code int, kind http1.Kind) Entry {
		return at(name, says(layout(code, "127.0.0.1", 1, 0, 0, 0), nil), Want{Kind: kind, Reuse: ReuseMust})
	}
	return []Entry{
		tells("a topic that is missing", 3, "server UNKNOWN_TOPIC_OR_PARTITION"),
		tells("a topic that is being made", 5, "server LEADER_NOT_AVAILABLE"),
		tells("a topic that is forbidden", 29, "server TOPIC_AUTHORIZATION_FAILED"),
		at("a topic without partitions", says(layout(0, "127.0.0.1", 1, 0, 0, 0), nil), Want{Kind: http1.KindProtocol, Reuse: ReuseMust}),
		at("a partition without a leader", says(layout(0, "127.0.0.1", 1, 1, 0, -1), nil), Want{Kind: "server LEADER_NOT_AVAILABLE", Reuse: ReuseEither}),
		at("a leader that is no broker", says(layout(0, "127.0.0.1", 1, 1, 0, 7), nil), Want{Kind: "server LEADER_NOT_AVAILABLE", Reuse: ReuseEither}),
		at("a leader that is not there", says(layout(0, "127.0.0.1", 1, 1, 0, 1), nil), Want{Kind: http1.KindRefused, Reuse: ReuseEither}),
		at("a partition beyond their count", says(layout(0, "127.0.0.1", 1, 1, 9, 1), hold), fails(http1.KindProtocol)),
		at("a broker with port 70000", says(layout(0, "127.0.0.1", 70000, 1, 0, 1), hold), fails(http1.KindProtocol)),
		at("2^31-1 brokers", says(i32(0)+i32(1<<31-1), hold), fails(http1.KindProtocol)),
		at("the end in place of a layout", half, fails(http1.KindClosed)),
		at("silence in place of a layout", hold, fails(http1.KindTimeout)),
	}
}
