package mysql

import "hyperscale/runtime/protocol/http1"

// ends are connections that end, or stand still, instead of an answer or inside one.
func ends() []Entry {
	answer := rows("hi")
	ends := func(name, said string, act Act, kind http1.Kind) Entry { return answers(name, said, act, fails(kind)) }
	return []Entry{
		ends("no answer", "", hold, http1.KindTimeout),
		ends("half an answer", answer[:20], hold, http1.KindTimeout),
		ends("the right answer after the deadline", "", late, http1.KindTimeout),
		{Name: "an answer a byte now and then", Server: Behaviour{Then: drips(many(answer, 9), pause, hold)}, Want: fails(http1.KindTimeout)},
		ends("the end instead of an answer", "", half, http1.KindClosed),
		ends("a reset instead of an answer", "", reset, http1.KindReset),
		ends("the end inside a packet", answer[:len(answer)-3], half, http1.KindTruncated),
		ends("the end inside a head", answer[:2], half, http1.KindTruncated),
		ends("the end between two rows", packets("\x01", column("a", kindText), text("a")), half, http1.KindTruncated),
		ends("the end between two results", packets(moreOK), half, http1.KindTruncated),
	}
}

// told are errors that the server tells.
func told() []Entry {
	tells := func(name, said string, want Want) Entry { return answers(name, said, nil, want) }
	return []Entry{
		tells("an error", packets(failed(1062, "23000", "Duplicate entry")), goesOn("server 1062")),
		tells("an error without a state", packets("\xff\x48\x04no state"), goesOn("server 1096")),
		tells("an error that is no text", packets(failed(1064, "42000", "\xff\x00\x1b[2J")), goesOn("server 1064")),
		tells("an error of 60,000 bytes", packets(failed(1064, "42000", many("x", 60_000))), goesOn("server 1064")),
		tells("an error among rows", packets("\x01", column("a", kindText), text("a"), failed(1317, "70100", "interrupted")), goesOn("server 1317")),
		tells("an error among descriptions", packets("\x02", column("a", kindText), failed(1317, "70100", "interrupted")), goesOn("server 1317")),
		tells("an error behind a result", packets(moreOK, failed(1317, "70100", "interrupted")), goesOn("server 1317")),
		answers("a connection that is killed", packets(failed(1927, "70100", "Connection was killed")), half, fails("server 1927")),
		answers("a connection that is killed, with the number 0", packet(0, failed(1927, "70100", "Connection was killed")), half, fails("server 1927")),
		answers("a server that shuts down", packets(failed(1053, "08S01", "Server shutdown in progress")), half, fails("server 1053")),
		Entry{Name: "a statement that is gone", Server: Behaviour{Answer: packets(failed(1243, "HY000", "Unknown prepared statement handler"))}, Want: goesOn("server 1243")}.asking(Ask{Prepared: true}),
	}
}

// wrong are answers that the protocol has not.
func wrong() []Entry {
	breaks := func(name, said string) Entry { return answers(name, said, hold, fails(http1.KindProtocol)) }
	typed := func(name string, kind byte, row string) Entry {
		return breaks(name, packets("\x01", column("a", kind), row, endPacket)).asking(Ask{Prepared: true})
	}
	return []Entry{
		breaks("a file of this machine", packets("\xfb/etc/passwd")),
		breaks("a file of this machine, of a prepared statement", packets("\xfb/etc/passwd")).asking(Ask{Prepared: true}),
		breaks("HTTP for an answer", "HTTP/1.1 400 Bad Request\r\n\r\n"),
		breaks("a packet with the number 2", packet(2, okPacket)),
		breaks("a packet with the number 0", packet(0, okPacket)),
		breaks("a packet with the number of the last one", packet(1, "\x01")+packet(1, column("a", kindText))),
		breaks("an empty packet", packets("")),
		breaks("an OK that ends", packets("\x00\x00")),
		breaks("an error that ends", packets("\xff\x01")),
		breaks("an EOF for an answer", packets(eofPacket)),
		breaks("columns and more", packets("\x01\x01")),
		breaks("a description that ends", packets("\x01", "\x03def")),
		breaks("a description of 2^63 bytes", packets("\x01", "\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")),
		breaks("a row that ends", packets("\x02", column("a", kindText), column("b", kindText), text("a"))),
		breaks("a row with a value too many", packets("\x01", column("a", kindText), text("a")+text("b"))),
		breaks("a value of 2^63 bytes", packets("\x02", column("a", kindText), column("b", kindText), text("a")+"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")),
		breaks("a value with a length of no kind", packets("\x02", column("a", kindText), column("b", kindText), text("a")+"\xff")),
		breaks("an end of rows that ends", packets("\x01", column("a", kindText), "\xfe\x00")),
		answers("rows where descriptions must end", packets("\x01", column("a", kindText), text("evil")), hold, fails(http1.KindProtocol)).asking(Ask{Full: true}),
		typed("a typed row that begins with 1", kindText, "\x01\x00\x01a"),
		typed("a typed row that ends", kindLong, "\x00\x00\x01"),
		typed("a time of 5 bytes", 12, "\x00\x00\x05abcde"),
		typed("a column of no type", 77, "\x00\x00"),
	}
}

// limits are answers that are large, or many.
func limits() []Entry {
	return []Entry{
		answers("1,025 columns", packets("\xfc\x01\x04"), hold, fails(http1.KindTooLarge)),
		answers("65,535 columns", packets("\xfc\xff\xff"), hold, fails(http1.KindTooLarge)),
		answers("2^63 columns", packets("\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"), hold, fails(http1.KindTooLarge)),
		answers("a packet of 16 MiB, and the next", packet(1, "\x01")+packet(2, column("a", kindText))+"\xff\xff\xff\x03"+many("x", 1<<24-1)+"\xff\xff\xff\x04", hold, fails(http1.KindTooLarge)).flooding(),
		answers("rows without end", "", counting("\x01", column("a", kindText), text(many("x", 200))), fails(http1.KindTooLarge)).flooding(),
		answers("results without end", "", counting(moreOK, moreOK, moreOK), fails(http1.KindFlood)).flooding(),
		answers("empty results without end", "", func(s *Session) bool {
			said, n := []string{}, 0
			for range 64 {
				for range 100 {
					n++
					said = append(said, packet(n*3-2, "\x01"), packet(n*3-1, column("a", kindText)), packet(n*3, moreEnd))
				}
				for _, one := range said {
					s.Say(one)
				}
				said = said[:0]
			}
			return hold(s)
		}, fails(http1.KindFlood)).flooding(),
	}
}

// counting says two packets, and then the third one until the client has gone, each with its number.
func counting(first, second, then string) Act {
	return func(s *Session) bool {
		s.Say(packets(first, second))
		for n := 3; n < 1<<20; {
			piece := ""
			for range 64 {
				piece += packet(n, then)
				n++
			}
			if _, err := s.Write([]byte(piece)); err != nil {
				return false
			}
		}
		return hold(s)
	}
}
