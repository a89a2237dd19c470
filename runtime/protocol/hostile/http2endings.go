package hostile

import (
	"crypto/tls"
	"strconv"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// endings are about when and how the connection ends.
func endings() []HTTP2Entry {
	closed, truncated := fails(http1.KindClosed), fails(http1.KindTruncated)
	var f frames
	begun := f.head(3, 0, ":status", "200").data(3, 0, "x")
	return []HTTP2Entry{
		of("the end before any answer", nil, closed, closed, closed).then(quit),
		of("FIN alone before any answer", nil, closed, closed, closed).then(half),
		of("a reset before any answer", nil, fails(http1.KindReset), fails(http1.KindReset), fails(http1.KindReset)).then(reset),
		of("the end among answers", f.whole(1).head(3, 0, ":status", "200"), two, truncated, closed).then(quit),
		of("the end inside a body", append(begun, f.whole(5)...), closed, truncated, two).then(quit),
		of("the end inside a frame's head", append(begun, 0, 0, 9, 0), closed, truncated, closed).then(quit),
		of("the end inside DATA", append(begun, f.data(3, ends, "abcdef")[:12]...), closed, truncated, closed).then(quit),
		of("the end inside a header block", f.whole(3).frame(fHeaders, 0, 1, block(":status", "200")), closed, two, closed).then(quit),
		of("the end behind an interim head", f.head(1, 0, ":status", "103"), truncated, closed, closed).then(quit),
		of("a reset among answers", f.whole(1), two, fails(http1.KindReset), fails(http1.KindReset)).then(reset),
		of("no answer", nil, fails(http1.KindTimeout), fails(http1.KindTimeout), fails(http1.KindTimeout)),
		of("no answer to one", f.whole(1, 5), two, fails(http1.KindTimeout), two),
		of("heads alone", f.head(1, 0, ":status", "200").head(3, 0, ":status", "200").whole(5), fails(http1.KindTimeout), fails(http1.KindTimeout), two),
		of("answers after our deadline", nil, fails(http1.KindTimeout), fails(http1.KindTimeout), fails(http1.KindTimeout)).then(later(stage{script: f.whole(1, 3, 5).whole(7, 9, 11), when: 6})).kept(),
	}
}

// kept says that the connection is used again after all.
func (e HTTP2Entry) kept() HTTP2Entry {
	e.Reused = true
	return e
}

// resets are RST_STREAM with every code, before the head and behind it.
func resets() []HTTP2Entry {
	var f frames
	all := []HTTP2Entry{
		spoils("RST_STREAM after a head: REFUSED_STREAM is a lie", http1.KindStreamReset, f.head(3, 0, ":status", "200").reset(3, 7)),
		spoils("RST_STREAM after a head: NO_ERROR", http1.KindStreamReset, f.head(3, 0, ":status", "200").reset(3, 0)),
		spoils("RST_STREAM inside a body", http1.KindStreamReset, f.head(3, 0, ":status", "200").data(3, 0, "x").reset(3, 2)),
		spoils("RST_STREAM twice", http1.KindStreamReset, f.reset(3, 2).reset(3, 2)),
		spoils("RST_STREAM with an unknown code", http1.KindStreamReset, f.reset(3, 1<<32-1)),
		of("RST_STREAM behind the answer", f.whole(1).reset(1, 0).whole(3, 5), two, two, two),
		of("all streams refused", f.reset(1, 7).reset(3, 7).reset(5, 7), fails(http1.KindRefusedStream), fails(http1.KindRefusedStream), fails(http1.KindRefusedStream)),
		spends("RST_STREAM of three bytes", http1.KindProtocol, f.frame(fReset, 0, 1, "123")),
		spends("RST_STREAM of an idle stream", http1.KindProtocol, f.reset(7, 0)),
		spends("RST_STREAM of stream 0", http1.KindProtocol, f.reset(0, 0)),
	}
	for code := range uint32(14) {
		kind := http1.KindStreamReset
		if code == 7 {
			kind = http1.KindRefusedStream
		}
		all = append(all, spoils("RST_STREAM before the head: code "+strconv.Itoa(int(code)), kind, f.reset(3, code)))
	}
	return all
}

// goaways are GOAWAY at each point.
func goaways() []HTTP2Entry {
	away, closed := fails(http1.KindGoaway), fails(http1.KindClosed)
	var f frames
	return []HTTP2Entry{
		of("GOAWAY below the last stream", f.goaway(3, 0).whole(1, 3), two, two, away).then(hold),
		of("GOAWAY above all streams", f.goaway(7, 0).whole(1, 3, 5), two, two, two).then(hold),
		of("GOAWAY in two steps", f.goaway(windowMax, 0).whole(1).goaway(3, 0).whole(3), two, two, away).then(hold),
		of("GOAWAY on the first request", f.goaway(0, 11), away, away, away).then(hold),
		of("GOAWAY, then the end", f.goaway(3, 2).head(1, 0, ":status", "200"), fails(http1.KindTruncated), closed, away).then(quit),
		of("GOAWAY behind the answers", f.whole(1, 3, 5).goaway(5, 0), two, two, two).then(hold),
		of("GOAWAY behind the answers, then the end", f.whole(1, 3, 5).goaway(5, 0), two, two, two).then(quit),
		of("GOAWAY below an answer that began", f.head(3, 0, ":status", "200").goaway(1, 0).whole(1), two, fails(http1.KindTruncated), away).then(hold),
		of("GOAWAY that takes more back", f.goaway(1, 0).goaway(3, 0), fails(http1.KindProtocol), away, away).then(hold),
		of("GOAWAY and no answer", f.goaway(windowMax, 0), fails(http1.KindTimeout), fails(http1.KindTimeout), fails(http1.KindTimeout)).then(hold),
		spends("GOAWAY cut short", http1.KindProtocol, f.frame(fGoaway, 0, 0, "1234567")),
		spends("GOAWAY on a stream", http1.KindProtocol, f.frame(fGoaway, 0, 1, words(1, 0))),
	}
}

// secure2 are about TLS below HTTP/2.
func secure2() []HTTP2Entry {
	var f frames
	alpn := func(name string, protocols []string, kind http1.Kind) HTTP2Entry {
		e := HTTP2Entry{Name: name, Want: []Want{unseen(kind), unseen(kind), unseen(kind)}}
		e.Server.Secure = authority.Secured(func(c *tls.Config) { c.NextProtos = protocols })
		return e
	}
	under := func(e HTTP2Entry) HTTP2Entry {
		e.Server.TLS = true
		e.Name += ", under TLS"
		return e
	}
	return []HTTP2Entry{
		alpn("no ALPN", nil, http1.KindProtocol),
		alpn("HTTP/1.1 alone in ALPN", []string{"http/1.1"}, http1.KindTLSAlert),
		under(of("answers", f.whole(5, 3, 1), two, two, two)),
		under(of("the end before any answer", nil, fails(http1.KindClosed), fails(http1.KindClosed), fails(http1.KindClosed)).then(quit)),
		under(of("an end without close_notify among answers", f.whole(1).head(3, 0, ":status", "200"), two, fails(http1.KindTruncated), fails(http1.KindClosed)).then(cut)),
		under(of("plain text amid it", f.whole(1), two, fails(http1.KindTLS), fails(http1.KindTLS)).then(below(string(f.whole(3, 5)), hold))),
		under(of("no answer", nil, fails(http1.KindTimeout), fails(http1.KindTimeout), fails(http1.KindTimeout))),
		under(spends("a frame that is too large", http1.KindProtocol, f.frame(fData, 0, 1, many("x", frameMost+1)))),
	}
}
