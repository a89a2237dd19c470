package http2

import (
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// story is a server's behaviour with the required outcomes of streams 1, 3, 5 and of the
// connection. Numbers before names are those of the list of hostile servers.
type story struct {
	name  string
	scene scene
	in    script
	want  string     // one word each: status/bytes, ... if it is still open, or the kind of failure
	kind  http1.Kind // what Feed returned
	sent  string     // frames that we sent, "*" if they are of no interest
}

const (
	protocol = "protocol protocol protocol"
	flood    = "flood flood flood"
	ok       = "200/2 200/2 200/2"
)

func stories() []story {
	return append(append(append(honest(), endings()...), flows()...), malformed()...)
}

func honest() []story {
	return []story{
		{name: "answers in any order", in: script{}.whole(5, 1, 3), want: ok, sent: "ack"},
		{name: "interleaved DATA", in: script{}.head(1, 0, ":status", "200").head(3, 0, ":status", "200").data(1, 0, "a").data(3, 0, "bb").
			data(1, flagEndStream, "c").data(3, flagEndStream, "").whole(5), want: ok, sent: "ack"},
		{name: "padding, priority and CONTINUATION", in: script{}.
			frame(typeHeaders, flagPadded|flagPriority, 1, "\x03\x00\x00\x00\x00\x10"+fieldsBlock(":status", "200")+"xxx").
			frame(typeContinuation, 0, 1, fieldsBlock("a", "b")).frame(typeContinuation, flagEndHeaders, 1, "").
			data(1, flagPadded, "\x02a\x00\x00").data(1, flagPadded|flagEndStream, "\x00b").whole(3, 5), want: ok, sent: "ack"},
		{name: "unknown frames, settings and flags", in: script{}.frame(0xfa, 0xff, 77, "??").settings(99, 5).
			frame(typePriority, 0, 9, "12345").head(1, 0xd0, ":status", "200").data(1, 0xf0|flagEndStream, "ok").whole(3, 5), want: ok, sent: "ack x2"},
		{name: "a new HPACK table size", in: script{}.settings(settingTable, 0).whole(1, 3, 5), want: ok, sent: "ack x2"},
		{name: "trailers", in: script{}.head(1, 0, ":status", "200").data(1, 0, "ok").head(1, flagEndStream, "x", "y", "content-length", "9").whole(3, 5), want: ok, sent: "ack"},
		{name: "interim heads", in: script{}.times(16, func(s script) script { return s.head(1, 0, ":status", "103", "link", "x") }).whole(1, 3, 5), want: ok, sent: "ack"},
		{name: "HEAD, 204 and 304 have no body", scene: scene{methods: []string{"HEAD", "GET", "GET"}}, in: script{}.
			head(1, flagEndStream, ":status", "200", "content-length", "7").head(3, 0, ":status", "204").data(3, flagEndStream, "").
			head(5, flagEndStream, ":status", "304", "content-length", "9"), want: "200/0 204/0 304/0", sent: "ack"},
		{name: "PING is answered", in: script{}.frame(typePing, 0, 0, "12345678").frame(typePing, flagAck, 0, "87654321").whole(1, 3, 5), want: ok, sent: "ack, pong"},
		{name: "an answer before the request's end", scene: scene{methods: []string{"POST"}, body: 70000}, in: script{}.whole(1),
			want: "200/2 - -", sent: "ack, data 1 16384 x3, data 1 16306, reset 1 NO_ERROR"},
	}
}

func endings() []story {
	goaway := func(last, code uint32) string { return words(last, code) }
	return []story{
		{name: "47: GOAWAY NO_ERROR", in: script{}.frame(typeGoaway, 0, 0, goaway(3, 0)).whole(1, 3), want: "200/2 200/2 goaway", sent: "ack"},
		{name: "47: GOAWAY in two steps", in: script{}.frame(typeGoaway, 0, 0, goaway(windowMost, 0)).whole(1).frame(typeGoaway, 0, 0, goaway(3, 0)+"why").whole(3), want: "200/2 200/2 goaway", sent: "ack"},
		{name: "47: GOAWAY, then the end", scene: scene{eof: true}, in: script{}.frame(typeGoaway, 0, 0, goaway(3, 2)).head(1, 0, ":status", "200"), want: "truncated closed goaway", sent: "ack"},
		{name: "48: GOAWAY on the first request", in: script{}.frame(typeGoaway, 0, 0, goaway(0, 11)), want: "goaway goaway goaway", sent: "ack"},
		{name: "48: GOAWAY that takes more back", in: script{}.frame(typeGoaway, 0, 0, goaway(1, 0)).frame(typeGoaway, 0, 0, goaway(3, 0)), want: "protocol goaway goaway", kind: http1.KindProtocol, sent: "ack, goaway PROTOCOL_ERROR"},
		{name: "48: GOAWAY below an answer that began", in: script{}.head(3, 0, ":status", "200").frame(typeGoaway, 0, 0, goaway(1, 0)).whole(1), want: "200/2 truncated goaway", sent: "ack"},
		{name: "48: GOAWAY cut short", in: script{}.frame(typeGoaway, 0, 0, "1234567"), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway FRAME_SIZE_ERROR"},
		{name: "48: GOAWAY on a stream", in: script{}.frame(typeGoaway, 0, 1, goaway(1, 0)), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway PROTOCOL_ERROR"},
		{name: "49: REFUSED_STREAM", in: script{}.frame(typeReset, 0, 3, words(7)).whole(1, 5), want: "200/2 refused_stream 200/2", sent: "ack"},
		{name: "49: REFUSED_STREAM after a head is a lie", in: script{}.head(3, 0, ":status", "200").frame(typeReset, 0, 3, words(7)).whole(1, 5), want: "200/2 stream_reset 200/2", sent: "ack"},
		{name: "50: RST_STREAM in the middle", in: script{}.head(3, 0, ":status", "200").data(3, 0, "x").frame(typeReset, 0, 3, words(2)).whole(1, 5), want: "200/2 stream_reset 200/2", sent: "ack"},
		{name: "50: RST_STREAM with an unknown code", in: script{}.frame(typeReset, 0, 3, words(1<<32-1)).whole(1, 5), want: "200/2 stream_reset 200/2", sent: "ack"},
		{name: "50: RST_STREAM after the end", in: script{}.whole(1).frame(typeReset, 0, 1, words(0)).whole(3, 5), want: ok, sent: "ack"},
		{name: "50: RST_STREAM of four bytes only", in: script{}.frame(typeReset, 0, 1, "123"), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway FRAME_SIZE_ERROR"},
		{name: "50: RST_STREAM of an idle stream", in: script{}.frame(typeReset, 0, 7, words(0)), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway PROTOCOL_ERROR"},
		{name: "62: no SETTINGS first", in: append(script("raw:"), script{}.frame(typePing, 0, 0, "12345678")...), want: "protocol - -", kind: http1.KindProtocol, sent: "goaway PROTOCOL_ERROR"},
		{name: "62: HTTP/1.1", in: script("raw:HTTP/1.1 400 Bad Request\r\n\r\n"), want: "protocol - -", kind: http1.KindProtocol, sent: "goaway PROTOCOL_ERROR"},
		{name: "62: TLS on a plain port", in: script("raw:\x15\x03\x01\x00\x02\x02\x46\x00\x00"), want: "protocol - -", kind: http1.KindProtocol, sent: "goaway PROTOCOL_ERROR"},
		{name: "the end before any answer", scene: scene{eof: true}, in: script{}.whole(1).head(3, 0, ":status", "200"), want: "200/2 truncated closed", sent: "ack"},
		{name: "frames after our reset", scene: scene{cancel: 3}, in: script{}.whole(3).frame(typeWindow, 0, 3, words(1)).frame(typeReset, 0, 3, words(0)).whole(1, 5),
			want: "200/2 - 200/2", sent: "ack, reset 3 CANCEL"},
	}
}

func flows() []story {
	post := scene{methods: []string{"POST", "POST", "POST"}, body: 30000}
	ping := func(s script) script { return s.frame(typePing, 0, 0, "12345678") }
	narrow := scene{config: Config{Window: windowFirst, StreamWindow: windowFirst}}
	large := strings.Repeat("x", 16384)
	return []story{
		{name: "52: the window shrinks below zero", scene: post, in: script{}.settings(settingWindow, 0).frame(typeWindow, 0, 0, words(90000)).frame(typeWindow, 0, 3, words(19001)),
			want: "- - -", sent: "ack, data 1 16384, data 3 16384, data 5 16384, data 1 13616 end, data 3 2617, ack"},
		{name: "52: and opens by five bytes", scene: post, in: script{}.settings(settingWindow, 0).frame(typeWindow, 0, 0, words(90000)).frame(typeWindow, 0, 3, words(19006)),
			want: "- - -", sent: "ack, data 1 16384, data 3 16384, data 5 16384, data 1 13616 end, data 3 2617, ack, data 3 5"},
		{name: "52: and opens again", scene: post, in: script{}.settings(settingWindow, 0).settings(settingWindow, 40000).frame(typeWindow, 0, 0, words(90000)),
			want: "- - -", sent: "ack, data 1 16384, data 3 16384, data 5 16384, data 1 13616 end, data 3 2617, ack x2, data 3 10999 end, data 5 13616 end"},
		{name: "53: no window for a stream", scene: scene{methods: []string{"POST"}, body: 100000}, in: script{}.frame(typeWindow, 0, 0, words(100000)),
			want: "- - -", sent: "ack, data 1 16384 x3, data 1 16306, data 1 77"},
		{name: "54: WINDOW_UPDATE of a stream by 0", in: script{}.frame(typeWindow, 0, 3, words(0)).whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"},
		{name: "54: WINDOW_UPDATE of the connection by 0", in: script{}.frame(typeWindow, 0, 0, words(0)), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway PROTOCOL_ERROR"},
		{name: "54: overflow of a stream", in: script{}.frame(typeWindow, 0, 3, words(windowMost)).whole(1, 5), want: "200/2 flow_control 200/2", sent: "ack, reset 3 FLOW_CONTROL_ERROR"},
		{name: "54: overflow of the connection", in: script{}.frame(typeWindow, 0, 0, words(windowMost)), want: "flow_control flow_control flow_control", kind: http1.KindFlowControl, sent: "ack, goaway FLOW_CONTROL_ERROR"},
		{name: "54: overflow by SETTINGS", in: script{}.frame(typeWindow, 0, 1, words(1000)).settings(settingWindow, windowMost), want: "flow_control flow_control flow_control", kind: http1.KindFlowControl, sent: "ack, goaway FLOW_CONTROL_ERROR"},
		{name: "54: WINDOW_UPDATE of an idle stream", in: script{}.frame(typeWindow, 0, 7, words(1)), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway PROTOCOL_ERROR"},
		{name: "54: WINDOW_UPDATE of three bytes", in: script{}.frame(typeWindow, 0, 0, "123"), want: protocol, kind: http1.KindProtocol, sent: "ack, goaway FRAME_SIZE_ERROR"},
		{name: "55: more DATA than the stream's window", scene: scene{config: Config{StreamWindow: windowFirst}}, in: script{}.head(1, 0, ":status", "200").
			times(4, func(s script) script { return s.data(1, 0, large) }).whole(3, 5), want: "flow_control 200/2 200/2", sent: "ack, reset 1 FLOW_CONTROL_ERROR"},
		{name: "55: as much as the stream's window", scene: scene{config: Config{StreamWindow: windowFirst}}, in: script{}.head(1, 0, ":status", "200").
			times(3, func(s script) script { return s.data(1, 0, large) }).data(1, 0, large[1:]).whole(3, 5), want: "200/65535... 200/2 200/2", sent: "ack, window 1 65535"},
		{name: "55: more DATA than the connection's window", scene: narrow, in: script{}.head(1, 0, ":status", "200").head(3, 0, ":status", "200").
			times(3, func(s script) script { return s.data(1, 0, large) }).data(3, 0, large[1:]).data(3, flagEndStream, "").data(1, 0, "x"),
			want: "flow_control 200/16383 flow_control", kind: http1.KindFlowControl, sent: "ack, goaway FLOW_CONTROL_ERROR"},
		{name: "55: padding counts", scene: narrow, in: script{}.head(1, 0, ":status", "200").
			times(300, func(s script) script { return s.data(1, flagPadded, "\xff"+large[:256]) }), want: "flow_control flow_control flow_control", kind: http1.KindFlowControl, sent: "ack, goaway FLOW_CONTROL_ERROR"},
		{name: "58: PING flood", in: script{}.times(10001, ping), want: flood, kind: http1.KindFlood, sent: "ack, pong x10000, goaway ENHANCE_YOUR_CALM"},
		{name: "58: PINGs between answers are no flood", in: script{}.times(9000, ping).whole(1).times(9000, ping).whole(3, 5), want: ok, sent: "ack, pong x18000"},
		{name: "58: SETTINGS flood", in: script{}.times(10001, func(s script) script { return s.settings() }), want: flood, kind: http1.KindFlood, sent: "ack x10001, goaway ENHANCE_YOUR_CALM"},
		{name: "58: answers that nobody reads", scene: scene{config: Config{Output: 1024}}, in: script{}.times(9999, ping).head(1, 0, ":status", "200").times(9000, ping), want: flood, kind: http1.KindFlood, sent: "ack, pong x15481, goaway ENHANCE_YOUR_CALM"},
		{name: "63: empty DATA without end", in: script{}.head(1, 0, ":status", "200").times(10001, func(s script) script { return s.data(1, 0, "") }), want: flood, kind: http1.KindFlood, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		{name: "63: DATA of padding alone", in: script{}.head(1, 0, ":status", "200").times(10001, func(s script) script { return s.data(1, flagPadded, "\x01x") }), want: flood, kind: http1.KindFlood, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		{name: "63: unknown frames without end", in: script{}.times(10001, func(s script) script { return s.frame(0xaa, 0, 0, "") }), want: flood, kind: http1.KindFlood, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		{name: "a body above the collector's limit", scene: scene{collect: 5}, in: script{}.head(1, 0, ":status", "200").data(1, 0, "abc").data(1, 0, "defg").whole(3, 5), want: "too_large 200/2 200/2", sent: "ack, reset 1 CANCEL"},
		{name: "a length above the collector's limit", scene: scene{collect: 5}, in: script{}.head(1, 0, ":status", "200", "content-length", "6").whole(3, 5), want: "too_large 200/2 200/2", sent: "ack, reset 1 CANCEL"},
	}
}

func malformed() []story {
	// bad is a head that fails its stream and no other.
	bad := func(name string, fields ...string) story {
		return story{name: name, in: script{}.head(3, 0, fields...).whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"}
	}
	// fatal is a fault of the connection.
	fatal := func(name string, code string, in script) story {
		return story{name: name, in: in, want: protocol, kind: http1.KindProtocol, sent: "ack, goaway " + code}
	}
	broken := func(name, block string) story {
		return story{name: name, in: script{}.frame(typeHeaders, flagEndHeaders, 1, block), want: "compression compression compression", kind: http1.KindCompression, sent: "ack, goaway COMPRESSION_ERROR"}
	}
	one := func(name string, more script) story {
		return story{name: name, in: append(script{}.head(3, 0, ":status", "200", "content-length", "2"), more...).whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"}
	}
	huge := strings.Repeat("x", 16384)
	large := "too_large too_large too_large"
	return []story{
		{name: "56: CONTINUATION flood", in: script{}.frame(typeHeaders, 0, 1, fieldsBlock(":status", "200")).times(5, func(s script) script { return s.frame(typeContinuation, 0, 1, huge) }), want: large, kind: http1.KindTooLarge, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		{name: "56: empty CONTINUATIONs", in: script{}.frame(typeHeaders, 0, 1, "").times(10001, func(s script) script { return s.frame(typeContinuation, 0, 1, "") }), want: flood, kind: http1.KindFlood, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		{name: "56: too many headers", in: script{}.head(1, 0, strings.Split(":status,200"+strings.Repeat(",a,b", 1000), ",")...), want: large, kind: http1.KindTooLarge, sent: "ack, goaway ENHANCE_YOUR_CALM"},
		fatal("56: a frame inside a header block", "PROTOCOL_ERROR", script{}.frame(typeHeaders, 0, 1, fieldsBlock(":status", "200")).data(3, 0, "")),
		fatal("56: another stream's CONTINUATION", "PROTOCOL_ERROR", script{}.frame(typeHeaders, 0, 1, "").frame(typeContinuation, flagEndHeaders, 3, "")),
		fatal("56: an unknown frame inside a header block", "PROTOCOL_ERROR", script{}.frame(typeHeaders, 0, 1, "").frame(0xaa, 0, 1, "")),
		fatal("56: CONTINUATION alone", "PROTOCOL_ERROR", script{}.frame(typeContinuation, flagEndHeaders, 1, "")),
		broken("57: bad index", "\xbe"),
		broken("57: index 0", "\x80"),
		broken("57: bad Huffman code", "\x00\x81\x00\x00"),
		broken("57: a table of 5,000 bytes", "\x3f\xe9\x26\x88"),
		broken("57: a number without end", "\x88\xff"+strings.Repeat("\xff", 20)),
		broken("57: cut header", "\x88\x00\x05a"),
		broken("57: bomb", "\x88\x40\x01a\x7f\xa1\x1e"+strings.Repeat("x", 4000)+strings.Repeat("\xbe", 17)),
		fatal("59: PUSH_PROMISE", "PROTOCOL_ERROR", script{}.frame(typePush, flagEndHeaders, 1, words(2)+"\x82")),
		bad("60: no :status", "a", "b"),
		bad("60: two :status", ":status", "200", ":status", "200"),
		bad("60: :status after a header", "a", "b", ":status", "200"),
		bad("60: :status of two digits", ":status", "20"),
		bad("60: :status of letters", ":status", "2x0"),
		bad("60: :status below 100", ":status", "099"),
		bad("60: a request's pseudo-header", ":status", "200", ":path", "/"),
		bad("60: upper case", ":status", "200", "Server", "x"),
		bad("60: an empty name", ":status", "200", "", "x"),
		bad("60: a blank in a name", ":status", "200", "a b", "x"),
		bad("60: a line end in a value", ":status", "200", "a", "b\r\nc: d"),
		bad("60: a header of connections", ":status", "200", "connection", "close"),
		bad("60: transfer-encoding", ":status", "200", "transfer-encoding", "chunked"),
		bad("60: 101", ":status", "101"),
		{name: "60: too many interim heads", in: script{}.times(17, func(s script) script { return s.head(3, 0, ":status", "100") }).whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 ENHANCE_YOUR_CALM"},
		{name: "60: an interim head that ends", in: script{}.head(3, flagEndStream, ":status", "100").whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"},
		bad("61: content-length of letters", ":status", "200", "content-length", "x"),
		bad("61: negative content-length", ":status", "200", "content-length", "-1"),
		bad("61: two lengths", ":status", "200", "content-length", "1", "content-length", "2"),
		{name: "61: overflowing content-length", in: script{}.head(3, 0, ":status", "200", "content-length", "99999999999999999999").whole(1, 5), want: "200/2 too_large 200/2", sent: "ack, reset 3 CANCEL"},
		one("61: too much DATA", script{}.data(3, 0, "abc")),
		one("61: too little DATA", script{}.data(3, flagEndStream, "a")),
		one("61: none", script{}.data(3, flagEndStream, "")),
		one("a second head", script{}.head(3, 0, ":status", "200")),
		one("trailers with upper case", script{}.data(3, 0, "ok").head(3, flagEndStream, "X", "y")),
		one("trailers after too little DATA", script{}.data(3, 0, "o").head(3, flagEndStream, "x", "y")),
		{name: "trailers of a head's very bytes", in: script{}.head(3, 0, ":status", "200").head(3, flagEndStream, ":status", "200").whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"},
		one("trailers that do not end", script{}.data(3, 0, "ok").head(3, 0, "x", "y")),
		one("trailers with :status", script{}.data(3, 0, "ok").head(3, flagEndStream, ":status", "200")),
		{name: "DATA before the head", in: script{}.data(3, 0, "x").whole(1, 5), want: "200/2 protocol 200/2", sent: "ack, reset 3 PROTOCOL_ERROR"},
		{name: "26: HEAD with a body", scene: scene{methods: []string{"HEAD", "GET", "GET"}}, in: script{}.head(1, 0, ":status", "200").data(1, flagEndStream, "x").whole(3, 5), want: "protocol 200/2 200/2", sent: "ack, reset 1 PROTOCOL_ERROR"},
		{name: "26: 204 with a body", in: script{}.head(1, 0, ":status", "204").data(1, flagEndStream, "x").whole(3, 5), want: "protocol 200/2 200/2", sent: "ack, reset 1 PROTOCOL_ERROR"},
		fatal("HEADERS on stream 0", "PROTOCOL_ERROR", script{}.head(0, 0, ":status", "200")),
		fatal("HEADERS on an idle stream", "PROTOCOL_ERROR", script{}.head(7, 0, ":status", "200")),
		fatal("HEADERS on a stream of the server's", "PROTOCOL_ERROR", script{}.head(2, 0, ":status", "200")),
		fatal("DATA on stream 0", "PROTOCOL_ERROR", script{}.data(0, 0, "x")),
		fatal("DATA on an idle stream", "PROTOCOL_ERROR", script{}.data(9, 0, "x")),
		{name: "DATA after the end", in: script{}.whole(1).data(1, 0, "x"), want: "200/2 protocol protocol", kind: http1.KindProtocol, sent: "ack, goaway STREAM_CLOSED"},
		{name: "HEADERS after the end", in: script{}.whole(1).head(1, 0, ":status", "200"), want: "200/2 protocol protocol", kind: http1.KindProtocol, sent: "ack, goaway STREAM_CLOSED"},
		fatal("padding longer than HEADERS", "PROTOCOL_ERROR", script{}.frame(typeHeaders, flagPadded|flagEndHeaders, 1, "\x05\x88")),
		fatal("padding longer than DATA", "PROTOCOL_ERROR", script{}.data(1, flagPadded, "\x02x")),
		fatal("padding of nothing", "FRAME_SIZE_ERROR", script{}.data(1, flagPadded, "")),
		fatal("priority cut short", "FRAME_SIZE_ERROR", script{}.frame(typeHeaders, flagPriority|flagEndHeaders, 1, "1234")),
		fatal("PRIORITY of four bytes", "FRAME_SIZE_ERROR", script{}.frame(typePriority, 0, 1, "1234")),
		fatal("a frame above 16 KiB", "FRAME_SIZE_ERROR", script{}.data(1, 0, huge+"x")),
		fatal("PRIORITY on stream 0", "PROTOCOL_ERROR", script{}.frame(typePriority, 0, 0, "12345")),
		fatal("padding of an empty HEADERS", "FRAME_SIZE_ERROR", script{}.frame(typeHeaders, flagPadded, 1, "")),
		fatal("PING of seven bytes", "FRAME_SIZE_ERROR", script{}.frame(typePing, 0, 0, "1234567")),
		fatal("PING on a stream", "PROTOCOL_ERROR", script{}.frame(typePing, 0, 1, "12345678")),
		fatal("SETTINGS of five bytes", "FRAME_SIZE_ERROR", script{}.frame(typeSettings, 0, 0, "12345")),
		fatal("SETTINGS on a stream", "PROTOCOL_ERROR", script{}.frame(typeSettings, 0, 1, "")),
		fatal("SETTINGS ack with a payload", "FRAME_SIZE_ERROR", script{}.frame(typeSettings, flagAck, 0, "123456")),
		fatal("SETTINGS that allow push", "PROTOCOL_ERROR", script{}.settings(settingPush, 1)),
		fatal("SETTINGS with a small frame", "PROTOCOL_ERROR", script{}.settings(settingFrame, 16383)),
		fatal("SETTINGS with a huge frame", "PROTOCOL_ERROR", script{}.settings(settingFrame, 1<<24)),
		{name: "SETTINGS with a huge window", in: script{}.settings(settingWindow, 1<<31), want: "flow_control flow_control flow_control", kind: http1.KindFlowControl, sent: "ack, goaway FLOW_CONTROL_ERROR"},
	}
}
