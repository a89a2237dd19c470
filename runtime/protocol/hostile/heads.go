package hostile

import (
	"slices"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// heads are status lines and header fields.
func heads() []Entry {
	return slices.Concat(
		badHeads(),
		[]Entry{
			answers("a plain answer", sized("body"), stay, reused(4)),
			answers("a head byte by byte", "", drips(sized("body"), 0, stay), reused(4)),
			answers("a head byte by byte, slower than the deadline", "", drips(ok+"A: "+many("b", 60), 10*time.Millisecond, hold), fails(http1.KindTimeout)),
			answers("a head without an end", ok+"A: b\r\n", hold, fails(http1.KindTimeout)),
			answers("half a status line, then nothing", "HTTP/1.1 2", hold, fails(http1.KindTimeout)),
			answers("half a status line, then the end", "HTTP/1.1 2", quit, fails(http1.KindTruncated)),
			answers("half a head, then the end", ok+"A: b\r\nConte", quit, fails(http1.KindTruncated)),
			answers("no reason and no blank before it", "HTTP/1.1 200\r\n"+empty, stay, reused(0)),
			answers("an empty reason", "HTTP/1.1 200 \r\n"+empty, stay, reused(0)),
			answers("a reason of 8-bit bytes", "HTTP/1.1 200 \xff\xfe\r\n"+empty, stay, reused(0)),
			answers("HTTP/1.7", "HTTP/1.7 200 OK\r\n"+empty, stay, reused(0)),
			answers("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 4\n\nbody", stay, reused(4)),
			answers("a folded value", ok+"A: b\r\n  c\r\n"+four+"body", stay, reused(4)),
			answers("an empty value", ok+"A:\r\nB: \t \r\n"+four+"body", stay, reused(4)),
			answers("a value of 8-bit bytes", ok+"A: \x80\xff\r\n"+four+"body", stay, reused(4)),
			answers("a value of 60 KB", ok+"A: "+many("b", 60_000)+"\r\n"+four+"body", stay, reused(4)),
			answers("900 fields", ok+many("A: b\r\n", 900)+four+"body", stay, reused(4)),
			answers("900 cookies", ok+many("Set-Cookie: a=b\r\n", 900)+four+"body", stay, reused(4)),
			answers("names in odd cases", ok+"cOnTeNt-LeNgTh: 4\r\ncONNECTION: KEEP-ALIVE\r\n\r\nbody", stay, reused(4)),
			answers("no blank behind the colon", ok+"Content-Length:4\r\n\r\nbody", stay, reused(4)),
		},
	)
}

func badHeads() []Entry {
	protocol, large := fails(http1.KindProtocol), fails(http1.KindTooLarge)
	return []Entry{
		answers("a banner of another protocol", "220 mail ready\r\n", hold, protocol),
		flood("bytes without a line end, for ever", "", many("x", 1<<16), protocol, nil),
		answers("a body without a head", "<html>hello</html>", quit, protocol),
		answers("the request, echoed", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", hold, protocol),
		answers("HTTP/2 frames", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", hold, protocol),
		answers("HTTP/2.0 in the status line", "HTTP/2.0 200 OK\r\n"+empty, hold, protocol),
		answers("http in lower case", "http/1.1 200 OK\r\n"+empty, hold, protocol),
		answers("a line end before the status line", "\r\n"+ok+empty, hold, protocol),
		answers("two blanks before the status", "HTTP/1.1  200 OK\r\n"+empty, hold, protocol),
		answers("no blank behind the status", "HTTP/1.1 200OK\r\n"+empty, hold, protocol),
		answers("letters in the status", "HTTP/1.1 2OO OK\r\n"+empty, hold, protocol),
		answers("status 99", "HTTP/1.1 99 Low\r\n"+empty, hold, protocol),
		answers("status 099", "HTTP/1.1 099 Low\r\n"+empty, hold, protocol),
		answers("status 1000", "HTTP/1.1 1000 High\r\n"+empty, hold, protocol),
		answers("status -20", "HTTP/1.1 -20 Low\r\n"+empty, hold, protocol),
		flood("a status line without an end", "", "HTTP/1.1 200 "+many("x", 1<<16), large, nil),
		answers("a blank before the colon", ok+"Content-Length : 4\r\n\r\nbody", hold, protocol),
		answers("a name with a blank", ok+"A b: c\r\n"+empty, hold, protocol),
		answers("an empty name", ok+": b\r\n"+empty, hold, protocol),
		answers("a line without a colon", ok+"hello\r\n"+empty, hold, protocol),
		answers("NUL in a value", ok+"A: b\x00c\r\n"+empty, hold, protocol),
		answers("NUL in a name", ok+"A\x00: b\r\n"+empty, hold, protocol),
		answers("a bare carriage return in a value", ok+"A: b\rContent-Length: 9\r\n"+empty, hold, protocol),
		answers("a fold before any field", ok+" A: b\r\n"+empty, hold, protocol),
		answers("a folded length", ok+"Content-Length: 1\r\n 0\r\n\r\nbody", hold, protocol),
		answers("a value of 1 MB", ok+"A: "+many("b", 1<<20)+"\r\n"+empty, hold, large),
		answers("10,000 fields", ok+many("A: b\r\n", 10_000)+empty, hold, large),
		flood("fields for ever", ok, many("A: b\r\n", 1000), large, nil),
		answers("1,001 cookies", ok+many("Set-Cookie: a=b\r\n", 1001)+empty, hold, large),
	}
}
