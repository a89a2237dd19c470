package hostile

import "hyperscale/runtime/protocol/http1"

// statuses are statuses with rules of their own.
func statuses() []Entry {
	protocol := fails(http1.KindProtocol)
	status := func(status int, again bool) Want {
		return Want{Kind: http1.KindStatus, Status: status, Reused: again}
	}
	early := "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
	all := []Entry{
		answers("100 unasked", "HTTP/1.1 100 Continue\r\n\r\n"+sized("body"), stay, reused(4)),
		answers("102 and 103", "HTTP/1.1 102 Processing\r\n\r\n"+early+"\r\n"+sized("body"), stay, reused(4)),
		answers("16 interim answers", many(early+"\r\n", 16)+sized("body"), stay, reused(4)),
		answers("17 interim answers", many(early+"\r\n", 17)+sized("body"), hold, protocol),
		flood("interim answers for ever", "", many(early+"\r\n", 100), protocol, nil),
		answers("an interim answer that tells a length", early+"Content-Length: 9\r\nConnection: close\r\nKeep-Alive: max=0\r\n\r\n"+sized("body"), stay, reused(4)),
		answers("an interim answer with a body", early+four+"body"+sized("body"), hold, protocol),
		answers("an interim answer, then the end", early+"\r\n", quit, fails(http1.KindTruncated)),
		answers("an interim answer, then nothing", early+"\r\n", hold, fails(http1.KindTimeout)),
		answers("101 unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", hold, protocol),
		answers("204 with a length", "HTTP/1.1 204 No Content\r\n"+"Content-Length: 4\r\n\r\n", stay, Want{Status: 204, Reused: true}),
		answers("204 with a body", "HTTP/1.1 204 No Content\r\n"+four+"body", stay, whole(204, 0)),
		answers("204 with chunks", "HTTP/1.1 204 No Content\r\n"+coded+noChunk, stay, whole(204, 0)),
		answers("304 with a length", "HTTP/1.1 304 Not Modified\r\n"+"Content-Length: 4\r\n\r\n", stay, Want{Status: 304, Reused: true}),
		answers("304 with a body", "HTTP/1.1 304 Not Modified\r\n"+four+"body", stay, whole(304, 0)),
		answers("205 with a body", "HTTP/1.1 205 Reset Content\r\n"+four+"body", stay, Want{Status: 205, Body: 4, Reused: true}),
		answers("206 unasked", "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/9\r\n"+four+"body", stay, Want{Status: 206, Body: 4, Reused: true}),
		answers("302 to a client that follows none", "HTTP/1.1 302 Found\r\nLocation: /hop\r\n"+empty, stay, Want{Status: 302, Reused: true}),
		answers("401", "HTTP/1.1 401 Unauthorized\r\n"+empty, stay, status(401, true)),
		answers("408 and the end", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"+empty, quit, status(408, false)),
		answers("426", "HTTP/1.1 426 Upgrade Required\r\nUpgrade: HTTP/2.0\r\n"+empty, stay, status(426, true)),
		answers("500 with a body", "HTTP/1.1 500 Internal\r\n"+four+"body", stay, status(500, true)),
		answers("503 that asks to come again much later", "HTTP/1.1 503 Busy\r\nRetry-After: 99999999\r\n"+empty, stay, status(503, true)),
		answers("status 600", "HTTP/1.1 600 High\r\n"+empty, stay, status(600, true)),
		answers("status 999", "HTTP/1.1 999 High\r\n"+empty, stay, status(999, true)),
	}
	for _, e := range []Entry{
		answers("HEAD answered with a length", ok+four, stay, reused(0)),
		answers("HEAD answered with chunks announced", ok+coded, stay, reused(0)),
		answers("HEAD answered without a length", ok+"\r\n", stay, reused(0)),
		answers("HEAD answered with a body", ok+four+"body", stay, whole(200, 0)),
	} {
		e.Ask.Method = "HEAD"
		all = append(all, e)
	}
	return all
}
