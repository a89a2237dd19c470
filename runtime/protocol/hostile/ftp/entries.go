package ftp

import (
	"io"
	"net"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), logins(), passives(), downloads(), uploads(), secured())
}

func at(name string, where Place, act Act, kind http1.Kind) Entry {
	return Entry{Name: name, At: map[Place]Act{where: act}, Want: Want{Kind: kind}}
}

// told is an entry whose connection goes on.
func told(name string, where Place, text string, kind http1.Kind) Entry {
	e := at(name, where, says(text), kind)
	e.Want.Same = true
	return e
}

// also adds a behaviour.
func (e Entry) also(where Place, act Act) Entry {
	e.At[where] = act
	return e
}

func big(code string) string { return code + "-" + strings.Repeat("x", 1<<20) + "\r\n" }

// connections are about what comes before anything is said.
func connections() []Entry {
	return []Entry{
		{Name: "no server", Gone: true, Want: Want{Kind: http1.KindRefused}},
		at("no banner", Banner, hold, http1.KindConnectTimeout),
		at("the end in place of a banner", Banner, quit, http1.KindClosed),
		at("a reset in place of a banner", Banner, reset, http1.KindReset),
		at("the end inside the banner", Banner, then("220 ma", quit), http1.KindTruncated),
		at("HTTP on the port", Banner, then("HTTP/1.1 400 Bad Request\r\n\r\n", hold), http1.KindProtocol),
		at("TLS on the port", Banner, then("\x15\x03\x01\x00\x02\x02\x46\r\n", hold), http1.KindProtocol),
		at("too busy", Banner, then("421 too many\r\n", quit), "server 421"),
		at("a banner of 1 MiB", Banner, then(big("220"), hold), http1.KindTooLarge),
	}
}

// logins are answers to USER, PASS and TYPE.
func logins() []Entry {
	return []Entry{
		at("a wrong password", Pass, then("530 no\r\n", hold), http1.KindAuth),
		at("an account is asked for", Pass, then("332 account\r\n", hold), http1.KindAuth),
		at("a 230 of 1 MiB", Pass, then(big("230"), hold), http1.KindTooLarge),
		at("no answer to USER", User, hold, http1.KindConnectTimeout),
		at("the end at PASS", Pass, quit, http1.KindClosed),
		at("no binary data", Type, then("504 no\r\n", hold), "server 504"),
	}
}

// passives are answers to EPSV and PASV.
func passives() []Entry {
	return []Entry{
		told("EPSV is refused, and 227 names a third host", Extended, "500 what\r\n", http1.KindNone),
		at("227 is none", Extended, says("500 what\r\n"), http1.KindProtocol).also(Passive, then("227 (1,2,3)\r\n", hold)),
		told("EPSV and PASV are refused", Extended, "500 what\r\n", "server 502").also(Passive, says("502 what\r\n")),
		at("EPSV names no port", Extended, then("229 (||||)\r\n", hold), http1.KindProtocol),
		at("EPSV names another protocol", Extended, then("229 (|2|::1|21|)\r\n", hold), http1.KindProtocol),
		{Name: "the port refuses", At: map[Place]Act{Extended: refusing}, Want: Want{Kind: http1.KindRefused, Same: true}},
		at("no answer to EPSV", Extended, hold, http1.KindTimeout),
		at("the end at EPSV", Extended, quit, http1.KindClosed),
		at("EPSV and no service", Extended, then("421 bye\r\n", quit), "server 421"),
	}
}

// downloads are about a file that comes.
func downloads() []Entry {
	early := func(s *Session) bool {
		s.say("226 done\r\n")
		return onData(func(_ *Session, c net.Conn) { _, _ = io.WriteString(c, Next) })(s)
	}
	return []Entry{
		told("no such file", Transfer, "550 no\r\n", "server 550"),
		told("the file is busy", Transfer, "450 busy\r\n", "server 450"),
		told("no data connection", Transfer, "425 no\r\n", "server 425"),
		at("226 in place of 150", Transfer, then("226 done\r\n", hold), http1.KindProtocol),
		at("no answer to RETR", Transfer, hold, http1.KindTimeout),
		{Name: "226 before the end of the data", At: map[Place]Act{Data: early, End: says("")}, Want: Want{Same: true}},
		at("data without 226", End, hold, http1.KindTimeout),
		at("data and the end", End, quit, http1.KindClosed),
		at("data and a reset", End, reset, http1.KindReset),
		told("the transfer is cut", End, "426 cut\r\n", "server 426"),
		told("the disk fails", End, "451 disk\r\n", "server 451"),
		at("two answers", Transfer, then("550 no\r\n550 no\r\n", hold), "server 550"),
		at("no service behind the data", End, then("421 bye\r\n", quit), "server 421"),
		at("an end of 1 MiB", End, then(big("226"), hold), http1.KindTooLarge),
		told("the data is reset", Data, "", http1.KindReset).also(Data, onData(resetData)),
		told("the data is reset at once, and the server calls it whole", End, "226 whole\r\n", http1.KindReset).also(Data, onData(resetDataAtOnce)),
		told("the data is reset, and the server says so", End, "426 cut\r\n", "server 426").also(Data, onData(resetData)),
		told("urgent data within the file", Data, "", http1.KindNone).also(Data, onData(urgentData)),
		at("no data", Data, onData(sleeps), http1.KindTimeout),
		at("a byte of data now and then", Data, onData(drips), http1.KindTimeout),
	}
}

// uploads are about a file that goes out.
func uploads() []Entry {
	up := func(size int, e Entry) Entry {
		e.Put = size
		return e
	}
	return []Entry{
		up(10, told("the name is refused", Transfer, "553 no\r\n", "server 553")),
		up(10, told("the disk is full", End, "452 full\r\n", "server 452")),
		up(10, at("an upload without 226", End, hold, http1.KindTimeout)),
		up(8<<20, at("data that nothing reads", Data, onData(sleeps), http1.KindWriteTimeout)),
		up(8<<20, at("226 for what was not sent", Data, then("226 done\r\n", hold), http1.KindProtocol)),
		up(1<<20, at("226 for what this machine still has", Data, then("226 done\r\n", hold), http1.KindProtocol)),
	}
}

// secured are servers with TLS.
func secured() []Entry {
	over := func(e Entry) Entry {
		e.TLS = true
		return e
	}
	return []Entry{
		over(at("AUTH is refused", Auth, then("502 no\r\n", hold), http1.KindTLS)),
		over(at("bytes in clear before TLS", Auth, then("234 go\r\n230 in\r\n", hold), http1.KindProtocol)),
		over(at("a byte in clear before TLS", Auth, then("234 go\r\n2", hold), http1.KindProtocol)),
		over(at("a reply before AUTH is sent", Banner, says("220 evil\r\n234 go\r\n"), http1.KindTLS)),
		over(at("replies in clear instead of TLS", Auth, then("234 go\r\n", func(s *Session) bool {
			_, _ = s.reader.ReadByte()
			s.say("331 password\r\n230 in\r\n200 fine\r\n200 fine\r\n200 fine\r\n")
			return hold(s)
		}), http1.KindTLS)),
		over(at("garbage in place of TLS", Auth, then("234 go\r\n", func(s *Session) bool {
			_, _ = s.reader.ReadByte()
			s.say("garbage that is no record\r\n")
			return hold(s)
		}), http1.KindTLS)),
		over(at("PROT is refused", Protect, then("536 no\r\n", hold), http1.KindTLS)),
		over(told("the session is not taken up", End, "522 no\r\n", "server 522")),
		over(told("the data is cut", Data, "", http1.KindTruncated).also(Data, onData(cutData))),
		over(told("data in clear", Data, "", http1.KindTLS).also(Data, clear)),
	}
}
