package hostile

import (
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// heads2 are heads that make their own response malformed, and no other.
func heads2() []HTTP2Entry {
	var f frames
	bad := func(name string, fields ...string) HTTP2Entry {
		return spoils(name, http1.KindProtocol, f.head(3, 0, fields...))
	}
	return []HTTP2Entry{
		bad("no :status", "a", "b"),
		bad("no field at all"),
		bad("two :status", ":status", "200", ":status", "200"),
		bad(":status behind a header", "a", "b", ":status", "200"),
		bad(":status of two digits", ":status", "20"),
		bad(":status of letters", ":status", "2x0"),
		bad(":status below 100", ":status", "099"),
		bad("an empty :status", ":status", ""),
		bad("a pseudo-header of requests", ":status", "200", ":path", "/"),
		bad("a pseudo-header that does not exist", ":status", "200", ":x", "y"),
		bad("a name in upper case", ":status", "200", "Server", "x"),
		bad("an empty name", ":status", "200", "", "x"),
		bad("a blank in a name", ":status", "200", "a b", "x"),
		bad("a colon in a name", ":status", "200", "a:b", "x"),
		bad("a line end in a value", ":status", "200", "a", "b\r\nc: d"),
		bad("NUL in a value", ":status", "200", "a", "b\x00c"),
		bad("connection", ":status", "200", "connection", "close"),
		bad("transfer-encoding", ":status", "200", "transfer-encoding", "chunked"),
		bad("upgrade", ":status", "200", "upgrade", "websocket"),
		bad("101", ":status", "101"),
		spoils("17 interim heads", http1.KindProtocol, f.times(17, func(f frames) frames { return f.head(3, 0, ":status", "100") })),
		spoils("an interim head that ends the stream", http1.KindProtocol, f.head(3, ends, ":status", "100")),
		spoils("a second head", http1.KindProtocol, f.head(3, 0, ":status", "200").head(3, 0, ":status", "200")),
		spoils("a trailer that does not end the stream", http1.KindProtocol, f.head(3, 0, ":status", "200").data(3, 0, "ok").head(3, 0, "x", "y")),
		spoils("a trailer with :status", http1.KindProtocol, f.head(3, 0, ":status", "200").data(3, 0, "ok").head(3, ends, ":status", "200")),
		spoils("a trailer in upper case", http1.KindProtocol, f.head(3, 0, ":status", "200").data(3, 0, "ok").head(3, ends, "X", "y")),
		spoils("an interim head inside the body", http1.KindProtocol, f.head(3, 0, ":status", "200").data(3, 0, "ok").head(3, 0, ":status", "100")),
	}
}

// lengths2 are bodies that are not as long as content-length says, or should not be.
func lengths2() []HTTP2Entry {
	var f frames
	bad := func(name string, lengths ...string) HTTP2Entry {
		fields := []string{":status", "200"}
		for _, l := range lengths {
			fields = append(fields, "content-length", l)
		}
		return spoils(name, http1.KindProtocol, f.head(3, 0, fields...))
	}
	said := f.head(3, 0, ":status", "200", "content-length", "2")
	return []HTTP2Entry{
		bad("content-length of letters", "x"),
		bad("an empty content-length", ""),
		bad("a negative content-length", "-1"),
		bad("two content-lengths", "1", "2"),
		bad("a list of content-lengths", "2, 2"),
		of("two content-lengths that agree", f.head(1, 0, ":status", "200", "content-length", "2", "content-length", "2").data(1, ends, "ok").whole(3, 5), two, two, two),
		spoils("content-length beyond 64 bits", http1.KindTooLarge, f.head(3, 0, ":status", "200", "content-length", "99999999999999999999")),
		spoils("more DATA than content-length", http1.KindProtocol, append(said, f.data(3, 0, "abc")...)),
		spoils("less DATA than content-length", http1.KindProtocol, append(said, f.data(3, ends, "a")...)),
		spoils("no DATA behind content-length", http1.KindProtocol, f.head(3, ends, ":status", "200", "content-length", "2")),
		spoils("a trailer before all of content-length", http1.KindProtocol, append(said, f.data(3, 0, "a").head(3, ends, "x", "y")...)),
		spoils("DATA before the head", http1.KindProtocol, f.data(3, 0, "ok")),
		spoils("the end before the head", http1.KindProtocol, f.data(3, ends, "")),
		spoils("DATA behind 204", http1.KindProtocol, f.head(3, 0, ":status", "204").data(3, ends, "x")),
		spoils("DATA behind 304", http1.KindProtocol, f.head(3, 0, ":status", "304").data(3, ends, "x")),
	}
}

// blocks are header blocks that cannot be read, or should not be.
func blocks() []HTTP2Entry {
	var f frames
	broken := func(name, text string) HTTP2Entry {
		return spends(name, http1.KindCompression, f.frame(fHeaders, headEnds, 1, text))
	}
	bad := func(name string, script frames) HTTP2Entry { return spends(name, http1.KindProtocol, script) }
	begun := f.frame(fHeaders, 0, 1, block(":status", "200"))
	return []HTTP2Entry{
		broken("HPACK: an index that does not exist", "\xbe"),
		broken("HPACK: index 0", "\x80"),
		broken("HPACK: bad Huffman code", "\x88\x00\x81\x00\x00"),
		broken("HPACK: Huffman code that ends in EOS", "\x88\x00\x84\xff\xff\xff\xff\x00"),
		broken("HPACK: Huffman code with eight bits of padding", "\x88\x00\x82\x1f\xff\x00"),
		broken("HPACK: a table of 5,000 bytes", "\x3f\xe9\x26\x88"),
		broken("HPACK: a table's size behind a field", "\x88\x20"),
		broken("HPACK: a number without end", "\x88\xff"+many("\xff", 20)),
		broken("HPACK: a cut field", "\x88\x00\x05a"),
		broken("HPACK: a bomb", "\x88\x40\x01a\x7f\xa1\x1e"+many("x", 4000)+many("\xbe", 17)),
		spends("1,001 headers", http1.KindTooLarge, f.head(1, 0, strings.Split(":status,200"+many(",a,b", 1000), ",")...)),
		bad("DATA inside a header block", append(begun, f.data(3, 0, "")...)),
		bad("a frame of unknown type inside a header block", append(begun, f.frame(0xaa, 0, 1, "")...)),
		bad("another stream's CONTINUATION", append(begun, f.frame(fContinuation, headEnds, 3, "")...)),
		bad("another head inside a header block", append(begun, f.head(3, ends, ":status", "200")...)),
		bad("CONTINUATION alone", f.frame(fContinuation, headEnds, 1, "")),
		bad("PUSH_PROMISE", f.frame(fPush, headEnds, 1, words(2)+"\x82")),
	}
}

// misframed are frames that cannot be.
func misframed() []HTTP2Entry {
	var f frames
	bad := func(name string, script frames) HTTP2Entry { return spends(name, http1.KindProtocol, script) }
	return []HTTP2Entry{
		bad("a frame of 16,385 bytes", f.frame(fData, 0, 1, many("x", frameMost+1))),
		bad("a frame of 16 MiB, its head alone", frames("\xff\xff\xff\x00\x00\x00\x00\x00\x01")),
		bad("DATA on stream 0", f.data(0, 0, "x")),
		bad("HEADERS on stream 0", f.head(0, 0, ":status", "200")),
		bad("HEADERS on an even stream", f.head(2, 0, ":status", "200")),
		bad("HEADERS on an idle stream", f.head(7, 0, ":status", "200")),
		bad("DATA on an idle stream", f.data(9, 0, "x")),
		of("DATA behind the end", f.whole(1).data(1, 0, "x"), two, fails(http1.KindProtocol), fails(http1.KindProtocol)).then(hold),
		of("HEADERS behind the end", f.whole(1).head(1, ends, ":status", "200"), two, fails(http1.KindProtocol), fails(http1.KindProtocol)).then(hold),
		bad("padding longer than DATA", f.head(1, 0, ":status", "200").data(1, padded, "\x05abc")),
		bad("padded DATA of no byte", f.head(1, 0, ":status", "200").data(1, padded, "")),
		bad("padding longer than HEADERS", f.frame(fHeaders, padded|headEnds, 1, "\x09"+block(":status", "200")[:4])),
		bad("HEADERS too short for their priority", f.frame(fHeaders, weighed|headEnds, 1, "1234")),
		bad("PRIORITY of four bytes", f.frame(fPriority, 0, 1, "1234")),
		bad("PRIORITY on stream 0", f.frame(fPriority, 0, 0, "12345")),
		bad("SETTINGS on a stream", f.frame(fSettings, 0, 1, "")),
		bad("SETTINGS of five bytes", f.frame(fSettings, 0, 0, "12345")),
		bad("an ACK with SETTINGS in it", f.frame(fSettings, ack, 0, "123456")),
		bad("SETTINGS that allow push", f.settings(setPush, 1)),
		bad("SETTINGS of frames below 16,384 bytes", f.settings(setFrame, frameMost-1)),
		bad("SETTINGS of frames beyond 16 MiB", f.settings(setFrame, 1<<24)),
		bad("PING on a stream", f.frame(fPing, 0, 1, "12345678")),
		bad("PING of seven bytes", f.frame(fPing, 0, 0, "1234567")),
	}
}
