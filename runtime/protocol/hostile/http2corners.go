package hostile

import (
	"crypto/tls"
	"slices"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// corners2 are behaviours that RFC 9113 and 7541 allow and few servers show, and forbidden ones
// that few clients detect.
func corners2() []HTTP2Entry {
	var f frames
	one := func(kind byte, stream uint32, payload string) frames {
		return f.frame(kind, 0, stream, payload).whole(1, 3, 5)
	}
	whole204 := whole(204, 0)
	all := []HTTP2Entry{
		of("no more streams for a while", f.settings(setStreams, 0).whole(1, 3, 5).settings(setStreams, 100), two, two, two),
		of("the table's size up and down", f.settings(setTable, 0, setTable, 4096, setTable, 1<<32-1).whole(1, 3, 5).settings(setTable, 1), two, two, two),
		of("one setting many times in a frame", f.settings(setWindow, 1, setWindow, windowMax, setWindow, 0, setWindow, windowFirst).whole(1, 3, 5), two, two, two),
		of("settings of other documents", f.settings(8, 1, 9, 1, 0, 0, 0xffff, 1<<32-1).whole(1, 3, 5), two, two, two),
		of("a list of headers of one byte allowed", f.settings(6, 1).whole(1, 3, 5), two, two, two),
		of("frames of 16 MiB allowed", f.settings(setFrame, 1<<24-1).whole(1, 3, 5), two, two, two),
		of("a stream that depends on itself", one(fPriority, 1, words(1)+"\x10"), two, two, two),
		of("a head that depends on itself", f.frame(fHeaders, weighed|headEnds, 1, words(1)+"\x10"+block(":status", "200")).data(1, ends, "ok").whole(3, 5), two, two, two),
		of("PRIORITY of a stream that is none", one(fPriority, 1001, words(999)+"\x10"), two, two, two),
		of("PRIORITY_UPDATE", one(0x10, 0, words(1)+"u=0"), two, two, two),
		of("ALTSVC", one(0xa, 0, "\x00\x03a.bh2=\":1\""), two, two, two),
		of("ORIGIN", one(0xc, 0, "\x00\x03a.b"), two, two, two),
		of("GOAWAY with 16 KiB of reasons", f.frame(fGoaway, 0, 0, words(5, 0)+many("x", frameMost-8)).whole(1, 3, 5), two, two, two).then(hold),
		of("GOAWAY twice", f.goaway(5, 0).goaway(5, 0).whole(1, 3, 5), two, two, two).then(hold),
		of("GOAWAY at an even stream", f.goaway(4, 0).whole(1, 3), two, two, fails(http1.KindGoaway)).then(hold),
		of("GOAWAY, and PING behind it", f.goaway(5, 0).times(10, ping).whole(1, 3, 5), two, two, two).then(hold),
		of("a stream we gave up goes on", f.window(3, 0).head(3, 0, ":status", "200", "a", "b").data(3, 0, "x").window(3, 0).head(3, ends, "x", "y").whole(1, 5), two, fails(http1.KindProtocol), two),
		of("HEADERS in CONTINUATIONs of a byte", heads1(f).whole(3, 5), two, two, two),
		of("5,000 empty CONTINUATIONs", f.frame(fHeaders, 0, 1, "\x88").times(5000, func(f frames) frames { return f.frame(fContinuation, 0, 1, "") }).frame(fContinuation, headEnds, 1, "").data(1, ends, "ok").whole(3, 5), two, two, two),
		of("5,000 SETTINGS that move windows", f.times(2500, func(f frames) frames { return f.settings(setWindow, 0).settings(setWindow, windowMax) }).whole(1, 3, 5), two, two, two),
		of("20,000 WINDOW_UPDATEs of one byte", f.times(20_000, func(f frames) frames { return f.window(1, 1).window(0, 1) }).whole(1, 3, 5), two, two, two),
		of("100, 103, 100, 200", f.head(1, 0, ":status", "100").head(1, 0, ":status", "103", "content-length", "9").head(1, 0, ":status", "100").whole(1, 3, 5), two, two, two),
		of("421", f.head(1, ends, ":status", "421").whole(3, 5), Want{Kind: http1.KindStatus, Status: 421}, two, two),
		of("204 and 304 with lengths and empty DATA", f.head(1, 0, ":status", "204", "content-length", "2").data(1, ends, "").head(3, 0, ":status", "304", "content-length", "9").data(3, padded|ends, "\x00").whole(5), whole204, whole(304, 0), two),
		of("padding alone ends the body", f.head(1, 0, ":status", "200").data(1, 0, "ok").data(1, padded|ends, "\x03xxx").whole(3, 5), two, two, two),
		of("DATA of 255 bytes of padding and one of body", f.head(1, 0, ":status", "200").data(1, padded, "\xffo"+many("\x00", 255)).data(1, padded|ends, "\xffk"+many("\x00", 255)).whole(3, 5), two, two, two),
		of("16,384 bytes of DATA and of HEADERS", f.head(1, 0, ":status", "200", "a", many("x", 16_300)).data(1, ends, many("x", frameMost)).whole(3, 5), whole(200, frameMost), two, two),
		of("fields with te, host and :authority's like", f.head(1, 0, ":status", "200", "te", "trailers", "host", "x").data(1, ends, "ok").whole(3, 5), two, two, two),
	}
	return slices.Concat(all, corners2Bad(), corners2Blocks(), corners2Secure())
}

// corners2Bad are what spoils a stream, or all of them.
func corners2Bad() []HTTP2Entry {
	var f frames
	head := f.head(3, 0, ":status", "200")
	return []HTTP2Entry{
		{Name: "HEAD with DATA", Method: "HEAD", Reused: true, Want: []Want{fails(http1.KindProtocol)}, Server: HTTP2Behaviour{Script: f.head(1, 0, ":status", "200").data(1, ends, "x")}},
		{Name: "HEAD with empty DATA", Method: "HEAD", Reused: true, Want: []Want{whole(200, 0)}, Server: HTTP2Behaviour{Script: f.head(1, 0, ":status", "200", "content-length", "7").data(1, ends, "")}},
		spoils("a head of interim answers alone", http1.KindProtocol, f.head(3, 0, ":status", "103").data(3, ends, "x")),
		spoils("content-length, and trailers before the body", http1.KindProtocol, f.head(3, 0, ":status", "200", "content-length", "2").head(3, ends, "x", "y")),
		spoils("content-length 0 and DATA", http1.KindProtocol, f.head(3, 0, ":status", "200", "content-length", "0").data(3, ends, "x")),
		spoils("DATA between two pieces of trailers", http1.KindProtocol, append(head, f.data(3, 0, "x").head(3, 0, "a", "b").data(3, ends, "")...)),
		spoils("a trailer with connection", http1.KindProtocol, append(head, f.data(3, 0, "x").head(3, ends, "connection", "close")...)),
		spoils("keep-alive", http1.KindProtocol, f.head(3, 0, ":status", "200", "keep-alive", "5")),
		spoils("a status with a blank", http1.KindProtocol, f.head(3, 0, ":status", "200 ")),
		spoils("a status with a sign", http1.KindProtocol, f.head(3, 0, ":status", "+20")),
		spoils("a status of four digits", http1.KindProtocol, f.head(3, 0, ":status", "1000")),
		spoils("an 8-bit byte in a name", http1.KindProtocol, f.head(3, 0, ":status", "200", "\xc3\xa4", "x")),
		spoils("DEL in a name", http1.KindProtocol, f.head(3, 0, ":status", "200", "a\x7f", "x")),
		spends("PUSH_PROMISE on stream 0", http1.KindProtocol, f.frame(fPush, headEnds, 0, words(2)+"\x82")),
		spends("PUSH_PROMISE of an odd stream, padded", http1.KindProtocol, f.frame(fPush, headEnds|padded, 1, "\x01"+words(7)+"\x82x")),
		spends("WINDOW_UPDATE of 0 on an idle stream", http1.KindProtocol, f.window(9, 0)),
		spends("RST_STREAM of an even stream", http1.KindProtocol, f.reset(2, 0)),
		spends("CONTINUATION behind a whole head", http1.KindProtocol, f.head(1, 0, ":status", "200").frame(fContinuation, headEnds, 1, block("a", "b"))),
		spends("PING inside a header block", http1.KindProtocol, f.frame(fHeaders, 0, 1, "\x88").frame(fPing, 0, 0, "12345678")),
		spends("RST_STREAM inside a header block", http1.KindProtocol, f.frame(fHeaders, 0, 1, "\x88").reset(1, 0)),
		spends("HTTP/1.1 amid the frames", http1.KindProtocol, frames("HTTP/1.1 400 Bad Request\r\n"+empty)),
	}
}

// corners2Blocks are header blocks.
func corners2Blocks() []HTTP2Entry {
	var f frames
	compression := func(name, text string) HTTP2Entry {
		return spends("HPACK: "+name, http1.KindCompression, f.frame(fHeaders, headEnds, 1, text))
	}
	fits := func(name, text string) HTTP2Entry {
		return of("HPACK: "+name, f.frame(fHeaders, headEnds, 1, text).data(1, ends, "ok").whole(3, 5), two, two, two)
	}
	return []HTTP2Entry{
		fits("size updates to 0 and back", "\x20\x3f\xe1\x1f\x88"),
		fits("16,000 size updates", many("\x20", 16_000)+"\x88"),
		fits("a field that is never indexed", "\x18\x03200"),
		fits("a status that is kept", "\x48\x03200"),
		fits("the name of an entry that goes", "\x88\x40\x01a\x7f\x81\x1e"+many("x", 3968)+"\x7e\x7f\x81\x1e"+many("y", 3968)),
		fits("an entry too large for the table, last", "\x88\x40\x01a\x7f\x81\x20"+many("x", 4224)),
		compression("an entry too large empties the table", "\x88\x40\x01b\x01c\x40\x01a\x7f\x81\x20"+many("x", 4224)+"\xbe"),
		compression("an entry that a size update took", "\x40\x01b\x01c\x20\xbe"),
		compression("a number of leading zeros without end", "\x88\xff\x80\x80\x80\x80\x80\x80\x00"),
		compression("a string of 4 GiB", "\x88\x00\x01a\x7f\x80\xff\xff\xff\x0f"),
		compression("a block that is an opening alone", "\x40"),
		compression("Huffman padding of zeros", "\x88\x00\x01a\x81\x18"),
	}
}

// heads1 is a head with each byte in its own frame.
func heads1(f frames) frames {
	text := block(":status", "200", "content-length", "2", "a", many("b", 300))
	f = f.frame(fHeaders, 0, 1, "")
	for i := range len(text) - 1 {
		f = f.frame(fContinuation, 0, 1, text[i:i+1])
	}
	return f.frame(fContinuation, headEnds, 1, text[len(text)-1:]).data(1, ends, "ok")
}

// corners2Secure are servers that choose HTTP/2 by ALPN and send something else.
func corners2Secure() []HTTP2Entry {
	mute := func(name, text string, kind http1.Kind, act Act) HTTP2Entry {
		e := HTTP2Entry{Name: name, Want: []Want{fails(kind), nextOne, nextOne}, Server: HTTP2Behaviour{Mute: true, Script: frames(text), Then: act}}
		e.Server.TLS = true
		return e
	}
	liar := HTTP2Entry{Name: "ALPN of something else", Want: []Want{unseen(http1.KindTLSAlert), unseen(http1.KindTLSAlert), unseen(http1.KindTLSAlert)}}
	liar.Server.Secure = authority.Secured(func(c *tls.Config) { c.NextProtos = []string{"h3", "spdy/3"} })
	return []HTTP2Entry{
		mute("HTTP/1.1 in spite of ALPN", "HTTP/1.1 400 Bad Request\r\n"+empty, http1.KindProtocol, hold),
		mute("GOAWAY before SETTINGS", string(frames{}.goaway(0, 11)), http1.KindProtocol, hold),
		mute("silence in spite of ALPN", "", http1.KindTimeout, hold),
		mute("the end in spite of ALPN", "", http1.KindClosed, quit),
		mute("the end without close_notify in spite of ALPN", "", http1.KindClosed, cut),
		liar,
	}
}
