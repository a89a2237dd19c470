package hostile

import "hyperscale/runtime/protocol/http1"

// uploads are requests with bodies that servers do not want, or want slowly.
func uploads() []HTTP2Entry {
	stuck, reset := fails(http1.KindWriteTimeout), fails(http1.KindStreamReset)
	var f frames
	up := func(name string, body int, settings []uint32, script frames, then Act, want ...Want) HTTP2Entry {
		return HTTP2Entry{Name: name, Method: "POST", Body: body, Want: want, Reused: true,
			Server: HTTP2Behaviour{Settings: settings, Early: true, Script: script, Then: then}}
	}
	spent := func(e HTTP2Entry) HTTP2Entry { return e.then(e.Server.Then) }
	drip := func(f frames) frames { return f.window(1, 10) }
	uploaded := later(stage{script: f.whole(1), ended: 1})
	return []HTTP2Entry{
		up("an answer before the upload", 200_000, nil, f.whole(1, 3, 5), nil, two, two, two),
		up("an answer before the upload, then RST_STREAM", 200_000, nil, f.whole(1).reset(1, 0).whole(3).reset(3, 0).whole(5), nil, two, two, two),
		up("a refusal before the upload", 200_000, nil, f.head(1, ends, ":status", "413").head(3, ends, ":status", "413").head(5, ends, ":status", "413"), nil,
			Want{Kind: http1.KindStatus, Status: 413}, Want{Kind: http1.KindStatus, Status: 413}, Want{Kind: http1.KindStatus, Status: 413}),
		up("RST_STREAM before the upload", 200_000, nil, f.reset(1, 8).reset(3, 0).reset(5, 7), nil, reset, reset, fails(http1.KindRefusedStream)),
		up("no window for the rest of an upload", 70_000, []uint32{setWindow, 0}, nil, nil, stuck),
		up("no window of the connection for the rest of an upload", 70_000, nil, f.window(1, 1<<20), nil, stuck),
		up("a head, and no window for the upload", 70_000, nil, f.head(1, 0, ":status", "200"), nil, stuck),
		up("a window of ten bytes at a time", 66_000, []uint32{setWindow, 0}, f.window(0, 1000).window(1, windowFirst).times(60, drip), uploaded, two),
		up("a window that falls below zero", 90_000, nil, f.settings(setWindow, 0).window(0, 100_000).window(1, 40_000).window(1, 30_000).window(1, 30_000), uploaded, two),
		up("a window that opens by SETTINGS", 70_000, []uint32{setWindow, 0}, f.window(0, 100_000).settings(setWindow, 100_000), uploaded, two),
		spent(up("an upload that nobody reads", 5_000_000, []uint32{setWindow, windowMax}, f.window(0, windowMax-1<<16), frozen, stuck)),
	}
}

// windows are flow control gone wrong.
func windows() []HTTP2Entry {
	var f frames
	flow := http1.KindFlowControl
	return []HTTP2Entry{
		spoils("WINDOW_UPDATE of a stream by 0", http1.KindProtocol, f.window(3, 0)),
		spends("WINDOW_UPDATE of the connection by 0", http1.KindProtocol, f.window(0, 0)),
		spoils("a stream's window beyond 2^31-1", flow, f.window(3, windowMax)),
		spends("the connection's window beyond 2^31-1", flow, f.window(0, windowMax)),
		spends("windows beyond 2^31-1 by SETTINGS", flow, f.window(1, 1000).settings(setWindow, windowMax)),
		spends("SETTINGS of a window of 2^31", flow, f.settings(setWindow, 1<<31)),
		spends("WINDOW_UPDATE of an idle stream", http1.KindProtocol, f.window(7, 1)),
		spends("WINDOW_UPDATE of three bytes", http1.KindProtocol, f.frame(fWindow, 0, 0, "123")),
		of("WINDOW_UPDATE behind the end", f.whole(1).window(1, 5).whole(3, 5), two, two, two),
		of("WINDOW_UPDATE with the reserved bit", f.window(1, 1<<31|5).whole(1, 3, 5), two, two, two),
	}
}

// floods2 are frames without end.
func floods2() []HTTP2Entry {
	var f frames
	endless := func(name string, kind http1.Kind, before frames, more func(frames) frames) HTTP2Entry {
		e := spends(name, kind, before)
		e.Server.Then, e.Flood = floods(string(f.times(1000, more))), true
		return e
	}
	all := func(name string, more func(frames) frames) HTTP2Entry {
		return endless(name, http1.KindFlood, nil, more)
	}
	head := f.head(1, 0, ":status", "200")
	return []HTTP2Entry{
		all("PING flood", ping),
		all("PING answers that nobody asked for", func(f frames) frames { return f.frame(fPing, ack, 0, "12345678") }),
		all("SETTINGS flood", func(f frames) frames { return f.settings() }),
		all("SETTINGS flood, each of eight values", func(f frames) frames {
			return f.settings(99, 1, 99, 1, 99, 1, 99, 1, 99, 1, 99, 1, 99, 1, 99, 1)
		}),
		all("ACK flood", func(f frames) frames { return f.frame(fSettings, ack, 0, "") }),
		all("PRIORITY flood", func(f frames) frames { return f.frame(fPriority, 0, 1, "12345") }),
		all("frames of unknown types", func(f frames) frames { return f.frame(0xaa, 0, 0, "") }),
		all("GOAWAY flood", func(f frames) frames { return f.goaway(windowMax, 0) }),
		endless("empty DATA without end", http1.KindFlood, head, func(f frames) frames { return f.data(1, 0, "") }),
		endless("DATA of padding alone", http1.KindFlood, head, func(f frames) frames { return f.data(1, padded, "\x01x") }),
		endless("empty CONTINUATIONs", http1.KindFlood, f.frame(fHeaders, 0, 1, ""), func(f frames) frames { return f.frame(fContinuation, 0, 1, "") }),
		endless("CONTINUATION flood", http1.KindTooLarge, f.frame(fHeaders, 0, 1, block(":status", "200")), func(f frames) frames {
			return f.frame(fContinuation, 0, 1, block("a", many("x", 1000)))
		}),
	}
}
