package ssh

import (
	"io"

	"hyperscale/runtime/protocol/http1"
)

// answers says something in place of the answer to a kind of packet.
func answers(to byte, answer func(id uint32) []byte) func(io.Writer, byte, uint32) Answer {
	return func(w io.Writer, kind byte, id uint32) Answer {
		if kind != to {
			return Usual
		}
		_, _ = w.Write(answer(id))
		return Said
	}
}

// hangsUp ends the connection, behind something that it says.
func hangsUp(to byte, said string) func(io.Writer, byte, uint32) Answer {
	return func(w io.Writer, kind byte, _ uint32) Answer {
		if kind != to {
			return Usual
		}
		_, _ = io.WriteString(w, said)
		return Hangup
	}
}

// packets are behaviours of SFTP.
func packets() []Entry {
	on := func(name string, verb Verb, want http1.Kind, p func(io.Writer, byte, uint32) Answer) Entry {
		return Entry{Name: name, Verb: verb, Server: Behaviour{Packet: p}, Want: want}
	}
	told := func(e Entry) Entry { e.Reuse = true; return e }
	late := func(e Entry) Entry { e.Late = true; return e }
	return []Entry{
		on("another version", Get, http1.KindProtocol, answers(fxInit, func(uint32) []byte { return []byte{0, 0, 0, 5, fxVersion, 0, 0, 0, 9} })),
		on("closes in place of its version", Get, http1.KindClosed, hangsUp(fxInit, "")),
		told(on("no such file", Get, "server NO_SUCH_FILE", answers(fxOpen, func(id uint32) []byte { return status(id, 2, "none\r\nhere") }))),
		told(on("permission denied", Get, "server PERMISSION_DENIED", answers(fxOpen, func(id uint32) []byte { return status(id, 3, "") }))),
		told(on("failure of a put", Put, "server FAILURE", answers(fxOpen, func(id uint32) []byte { return status(id, statusFailure, "full") }))),
		told(on("a code that none is", Stat, "server OTHER", answers(fxStat, func(id uint32) []byte { return status(id, 200, "?") }))),
		on("another's id", Stat, http1.KindProtocol, answers(fxStat, func(id uint32) []byte { return packet(fxAttrs, id+7, attrs(1)...) })),
		on("attributes for a handle", Get, http1.KindProtocol, answers(fxOpen, func(id uint32) []byte { return packet(fxAttrs, id, attrs(1)...) })),
		told(on("status for data", Get, "server FAILURE", answers(fxRead, func(id uint32) []byte { return status(id, statusFailure, "disk") }))),
		on("a packet of 2^31-1 bytes", Stat, http1.KindProtocol, answers(fxStat, func(uint32) []byte { return []byte{0x7f, 0xff, 0xff, 0xff, fxAttrs} })),
		on("closes in the middle of a packet", Stat, http1.KindTruncated, hangsUp(fxStat, "\x00\x00\x00\x20i")),
		on("closes in place of an answer", Get, http1.KindTruncated, hangsUp(fxRead, "")),
		late(on("never answers", Get, http1.KindTimeout, answers(fxOpen, func(uint32) []byte { return nil }))),
		late(on("names without an end", List, http1.KindTimeout, answers(fxReaddir, func(id uint32) []byte { return names(id) }))),
		told(on("names with dots and line breaks", List, http1.KindNone, func() func(io.Writer, byte, uint32) Answer {
			said := false
			return func(w io.Writer, kind byte, id uint32) Answer {
				if kind != fxReaddir || said {
					if kind == fxReaddir {
						_, _ = w.Write(status(id, statusEOF, ""))
						return Said
					}
					return Usual
				}
				said = true
				_, _ = w.Write(names(id, ".", "..", "../../etc/passwd", "a\nb", "\xff\x00", Next))
				return Said
			}
		}())),
		{Name: "names for ever", Verb: List, Server: Behaviour{Packet: answers(fxReaddir, func(id uint32) []byte { return names(id, many()...) })}, Want: http1.KindTooLarge},
		{Name: "a flood of answers that nothing asked for", Verb: Stat, Server: Behaviour{Flood: status(1<<31, statusOK, "flood")}, Want: http1.KindProtocol},
	}
}

// many are names of 100 KiB.
func many() []string {
	all := make([]string, 1000)
	for i := range all {
		all[i] = "a name of some forty bytes, as many files"
	}
	return all
}
