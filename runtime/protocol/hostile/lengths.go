package hostile

import "hyperscale/runtime/protocol/http1"

// lengths are the ways to say where a body ends, and to lie about it.
func lengths() []Entry {
	protocol, large := fails(http1.KindProtocol), fails(http1.KindTooLarge)
	late, truncated := fails(http1.KindTimeout), fails(http1.KindTruncated)
	return []Entry{
		answers("no length, then the end", ok+"\r\nbody", quit, whole(200, 4)),
		answers("no length and no body, then the end", ok+"\r\n", quit, whole(200, 0)),
		answers("no length, kept open", ok+"\r\nbody", hold, late),
		answers("no length, then a reset", ok+"\r\nbody", reset, fails(http1.KindReset)),
		answers("less than said, then the end", ok+"Content-Length: 9\r\n\r\nbody", quit, truncated),
		answers("less than said, kept open", ok+"Content-Length: 9\r\n\r\nbody", hold, late),
		answers("less than said, then FIN alone", ok+"Content-Length: 9\r\n\r\nbody", half, truncated),
		answers("a head alone, then the end", ok+"Content-Length: 9\r\n\r\n", quit, truncated),
		answers("more than said", ok+four+"body and more", stay, whole(200, 4)),
		answers("a body where none was said", ok+empty+"body", stay, whole(200, 0)),
		answers("two lengths that differ", ok+"Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody", hold, protocol),
		answers("two lengths that agree", ok+"Content-Length: 4\r\n"+four+"body", stay, reused(4)),
		answers("two lengths in one field", ok+"Content-Length: 4, 5\r\n\r\nbody", hold, protocol),
		answers("a negative length", ok+"Content-Length: -1\r\n\r\n", hold, protocol),
		answers("a length with a sign", ok+"Content-Length: +4\r\n\r\nbody", hold, protocol),
		answers("a hexadecimal length", ok+"Content-Length: 0x4\r\n\r\nbody", hold, protocol),
		answers("an empty length", ok+"Content-Length:\r\n\r\n", hold, protocol),
		answers("a length with a blank inside", ok+"Content-Length: 1 0\r\n\r\nbody", hold, protocol),
		answers("a length with a fraction", ok+"Content-Length: 4.0\r\n\r\nbody", hold, protocol),
		answers("a length with zeros before it", ok+"Content-Length: 0000000000000000000000004\r\n\r\nbody", stay, reused(4)),
		answers("a length beyond 64 bits", ok+"Content-Length: 18446744073709551620\r\n\r\nbody", hold, large),
		answers("a length beyond all digits", ok+"Content-Length: "+many("9", 400)+"\r\n\r\nbody", hold, large),
		answers("a length of 2 TiB", ok+"Content-Length: 2199023255552\r\n\r\nbody", hold, large),
		{
			Name:   "a length of 1 TiB, then nothing",
			Server: Behaviour{Answer: ok + "Content-Length: 1099511627776\r\n\r\nbody", Then: hold},
			Want:   late, Kept: &large,
		},
		answers("a length and chunks", ok+"Content-Length: 2\r\n"+coded+"4\r\nbody\r\n"+noChunk, stay, whole(200, 4)),
		answers("chunks and a length", ok+"Transfer-Encoding: chunked\r\nContent-Length: 999\r\n\r\n4\r\nbody\r\n"+noChunk, stay, whole(200, 4)),
		answers("a negative length and chunks", ok+"Content-Length: -2\r\n"+coded+noChunk, hold, protocol),
		answers("identity coding", ok+"Transfer-Encoding: identity\r\n"+four+"body", hold, protocol),
		answers("a coding nobody asked for", ok+"Transfer-Encoding: gzip, chunked\r\n\r\n"+noChunk, hold, protocol),
		answers("a coding that resembles chunked", ok+"Transfer-Encoding: xchunked\r\n\r\n"+noChunk, hold, protocol),
		answers("an empty coding", ok+"Transfer-Encoding:\r\n\r\n"+noChunk, hold, protocol),
		answers("chunked in two fields", ok+"Transfer-Encoding: chunked\r\n"+coded+noChunk, hold, protocol),
		answers("chunked twice in a field", ok+"Transfer-Encoding: chunked, chunked\r\n\r\n"+noChunk, hold, protocol),
		answers("a folded coding", ok+"Transfer-Encoding:\r\n chunked\r\n\r\n"+noChunk, hold, protocol),
		answers("a vertical tab in the coding", ok+"Transfer-Encoding: \vchunked\r\n\r\n"+noChunk, hold, protocol),
		answers("two answers at once", sized("body")+sized("evil"), stay, whole(200, 4)),
		answers("garbage behind the answer", sized("body")+"\x00\x01\x02", stay, whole(200, 4)),
		answers("a line end behind the answer", sized("body")+"\r\n", stay, whole(200, 4)),
	}
}

// chunked are bodies in chunks.
func chunked() []Entry {
	protocol, large := fails(http1.KindProtocol), fails(http1.KindTooLarge)
	late, truncated := fails(http1.KindTimeout), fails(http1.KindTruncated)
	chunks := ok + coded
	return []Entry{
		answers("chunks", chunks+"4\r\nbody\r\n0A\r\n0123456789\r\n"+noChunk, stay, reused(14)),
		answers("chunks byte by byte", "", drips(chunks+"4;a=b\r\nbody\r\n0\r\nT: u\r\n\r\n", 0, stay), reused(4)),
		answers("chunks of one byte", chunks+many("1\r\nx\r\n", 10_000)+noChunk, stay, reused(10_000)),
		answers("no chunk", chunks+noChunk, stay, reused(0)),
		answers("chunk sizes that end with bare line feeds", chunks+"4\nbody\r\n0\n\n", stay, reused(4)),
		answers("a chunk size with zeros before it", chunks+many("0", 100)+"4\r\nbody\r\n000\r\n\r\n", stay, reused(4)),
		answers("a chunk size with blanks behind it", chunks+"4 \t\r\nbody\r\n0 \r\n\r\n", stay, reused(4)),
		answers("a small extension", chunks+"4;a=\"b;c\"\r\nbody\r\n0;last\r\n\r\n", stay, reused(4)),
		answers("trailers", chunks+"4\r\nbody\r\n0\r\nContent-Length: 9\r\nConnection: close\r\nTransfer-Encoding: x\r\n\r\n", stay, reused(4)),
		answers("bytes behind the last chunk", chunks+noChunk+"x", stay, whole(200, 0)),
		answers("a chunk size of letters", chunks+"xyz\r\n", hold, protocol),
		answers("an empty chunk size", chunks+"\r\nbody\r\n", hold, protocol),
		answers("a negative chunk size", chunks+"-4\r\nbody\r\n", hold, protocol),
		answers("a chunk size with a sign", chunks+"+4\r\nbody\r\n", hold, protocol),
		answers("a chunk size with 0x", chunks+"0x4\r\nbody\r\n", hold, protocol),
		answers("a chunk size with a blank before it", chunks+" 4\r\nbody\r\n", hold, protocol),
		answers("two chunk sizes in a line", chunks+"4 4\r\nbody\r\n", hold, protocol),
		answers("NUL in an extension", chunks+"4;\x00\r\nbody\r\n", hold, protocol),
		answers("a chunk longer than said", chunks+"3\r\nbody\r\n"+noChunk, hold, protocol),
		answers("a chunk that ends with a bare line feed", chunks+"4\r\nbody\n"+noChunk, hold, protocol),
		answers("a chunk shorter than said", chunks+"5\r\nbody\r\n"+noChunk, hold, protocol),
		answers("a chunk of 16 digits", chunks+"FFFFFFFFFFFFFFFF\r\nbody", hold, large),
		answers("a chunk of 17 digits", chunks+"10000000000000004\r\nbody\r\n"+noChunk, hold, large),
		answers("a chunk of 32 digits", chunks+many("F", 32)+"\r\nbody", hold, large),
		flood("an endless chunk size", chunks, many("0", 1000), large, nil),
		answers("a huge extension", chunks+"4;"+many("x", 5000)+"\r\nbody\r\n"+noChunk, hold, large),
		flood("extensions that outweigh the data", chunks, "1;"+many("x", 1000)+"\r\na\r\n", large, nil),
		answers("1,001 trailers", chunks+"0\r\n"+many("A: b\r\n", 1001)+"\r\n", hold, large),
		flood("trailers for ever", chunks+"0\r\n", many("A: b\r\n", 1000), large, nil),
		answers("a trailer of 1 MB", chunks+"0\r\nA: "+many("b", 1<<20)+"\r\n\r\n", hold, large),
		answers("a trailer without a colon", chunks+"0\r\nhello\r\n\r\n", hold, protocol),
		answers("an end before the last chunk", chunks+"4\r\nbody\r\n", quit, truncated),
		answers("an end inside a chunk", chunks+"9\r\nbody", quit, truncated),
		answers("an end inside a chunk size", chunks+"4", quit, truncated),
		answers("an end before the last line", chunks+"4\r\nbody\r\n0\r\n", quit, truncated),
		answers("an end inside the trailers", chunks+"0\r\nA: b\r\n", quit, truncated),
		answers("a stall before the last chunk", chunks+"4\r\nbody\r\n", hold, late),
		answers("a stall before the last line", chunks+"4\r\nbody\r\n0\r\n", hold, late),
		answers("a reset inside a chunk", chunks+"9\r\nbody", reset, fails(http1.KindReset)),
	}
}
