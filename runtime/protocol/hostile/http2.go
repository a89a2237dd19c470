package hostile

import "hyperscale/runtime/protocol/http1"

// odd2 is unusual, and right.
func odd2() []HTTP2Entry {
	var f frames
	return []HTTP2Entry{
		of("answers in any order", f.whole(5, 1, 3), two, two, two),
		of("bodies in turns", f.head(1, 0, ":status", "200").head(3, 0, ":status", "200").data(1, 0, "a").data(3, 0, "bb").data(1, ends, "c").data(3, ends, "").whole(5), two, two, two),
		of("padding, priority and CONTINUATION", f.frame(fHeaders, padded|weighed, 1, "\x03\x00\x00\x00\x00\x10"+block(":status", "200")+"xxx").
			frame(fContinuation, 0, 1, block("a", "b")).frame(fContinuation, headEnds, 1, "").
			data(1, padded, "\x02a\x00\x00").data(1, padded|ends, "\x00b").whole(3, 5), two, two, two),
		of("unknown frames, settings and flags", f.frame(0xfa, 0xff, 77, "??").settings(99, 5).frame(fPriority, 0, 9, "12345").
			head(1, 0xd0, ":status", "200").data(1, 0xf0|ends, "ok").whole(3, 5), two, two, two),
		of("no HPACK table is allowed", f.settings(setTable, 0).whole(1, 3, 5), two, two, two),
		of("HPACK's table is used", f.frame(fHeaders, headEnds, 1, "\x88\x40\x01a\x01b").data(1, ends, "ok").frame(fHeaders, headEnds, 3, "\x88\xbe").data(3, ends, "ok").
			frame(fHeaders, headEnds, 5, "\x88\x7e\x01c").data(5, ends, "ok"), two, two, two),
		of("trailers", f.head(1, 0, ":status", "200").data(1, 0, "ok").head(1, ends, "x", "y", "content-length", "9").whole(3, 5), two, two, two),
		of("a trailer without a field", f.head(1, 0, ":status", "200").data(1, 0, "ok").head(1, ends).whole(3, 5), two, two, two),
		of("16 interim heads", f.times(16, func(f frames) frames { return f.head(1, 0, ":status", "103", "link", "x") }).whole(1, 3, 5), two, two, two),
		of("no body at all", f.head(1, ends, ":status", "200").head(3, ends, ":status", "204").head(5, ends, ":status", "304", "content-length", "9"),
			whole(200, 0), whole(204, 0), whole(304, 0)),
		of("statuses of failure", f.head(1, ends, ":status", "404").head(3, ends, ":status", "503").head(5, ends, ":status", "999"),
			Want{Kind: http1.KindStatus, Status: 404}, Want{Kind: http1.KindStatus, Status: 503}, Want{Kind: http1.KindStatus, Status: 999}),
		of("PINGs, asked and answered", f.frame(fPing, 0, 0, "12345678").frame(fPing, ack, 0, "87654321").whole(1, 3, 5), two, two, two),
		of("8,000 PINGs between answers", f.times(4000, ping).whole(1).times(4000, ping).whole(3, 5), two, two, two),
		{Name: "HEAD", Method: "HEAD", Reused: true, Want: []Want{whole(200, 0)}, Server: HTTP2Behaviour{Script: f.head(1, ends, ":status", "200", "content-length", "7")}},
		{Name: "answers byte by byte", Reused: true, Want: []Want{two, two, two}, Server: HTTP2Behaviour{Then: drips(string(f.whole(1, 3, 5)), 0, stay)}},
		{Name: "SETTINGS byte by byte", Reused: true, Want: []Want{two, two, two}, Server: HTTP2Behaviour{Mute: true, When: 1,
			Then: drips(string(f.settings(setWindow, 100).frame(fSettings, ack, 0, "").whole(1)), 0, later(stage{script: f.whole(3, 5), when: 3}))}},
		{Name: "no ACK of our SETTINGS", Reused: true, Want: []Want{two, two, two}, Server: HTTP2Behaviour{NoAck: true, Script: f.whole(1, 3, 5)}},
		{Name: "one stream at a time", Reused: true, Want: []Want{two, two, two}, Server: HTTP2Behaviour{Settings: []uint32{setStreams, 1}, When: 1, Script: f.whole(1), Then: later(stage{script: f.whole(3), when: 2}, stage{script: f.whole(5), when: 3})}},
		of("fewer streams at a time than are open", f.settings(setStreams, 1).whole(1, 3, 5), two, two, two),
		{Name: "no stream at first", Reused: true, Want: []Want{two, two, two}, Server: HTTP2Behaviour{
			Settings: []uint32{setStreams, 0}, When: 1, Script: f.whole(1).settings(setStreams, 100), Then: later(stage{script: f.whole(3, 5), when: 3})}},
	}
}

func ping(f frames) frames { return f.frame(fPing, 0, 0, "12345678") }

// prefaces are about a connection's first bytes.
func prefaces() []HTTP2Entry {
	var f frames
	mute := func(name, text string, kind http1.Kind, act Act) HTTP2Entry {
		return HTTP2Entry{Name: name, Want: []Want{fails(kind), nextOne, nextOne}, Server: HTTP2Behaviour{Mute: true, Script: frames(text), Then: act}}
	}
	never := HTTP2Entry{Name: "no stream ever", Want: []Want{two, unseen(http1.KindTimeout), nextOne}, Server: HTTP2Behaviour{
		Settings: []uint32{setStreams, 0}, When: 1, Script: f.whole(1), Then: hold}}
	return []HTTP2Entry{
		mute("the first frame is PING", string(f.frame(fPing, 0, 0, "12345678")), http1.KindProtocol, hold),
		mute("the first frame is an ACK", string(f.frame(fSettings, ack, 0, "")), http1.KindProtocol, hold),
		mute("the first frame is an answer", string(f.whole(1)), http1.KindProtocol, hold),
		mute("an answer of HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n"+empty, http1.KindProtocol, hold),
		mute("an answer of HTTP/1.1, then the end", "HTTP/1.1 505 No\r\n"+empty, http1.KindProtocol, quit),
		mute("TLS on the plain port", "\x15\x03\x01\x00\x02\x02\x46\x00\x00", http1.KindProtocol, hold),
		mute("a banner", "220 mail ready\r\n", http1.KindProtocol, hold),
		mute("silence", "", http1.KindTimeout, hold),
		mute("half of SETTINGS", string(f.settings(setWindow, 100)[:12]), http1.KindTimeout, hold),
		mute("the end instead of SETTINGS", "", http1.KindClosed, quit),
		mute("a reset instead of SETTINGS", "", http1.KindReset, reset),
		mute("the end inside SETTINGS", string(f.settings(setWindow, 100)[:12]), http1.KindClosed, quit),
		never,
	}
}
