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
