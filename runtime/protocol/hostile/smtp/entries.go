package smtp

import (
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/protocol/http1"
)

const pause = 200 * time.Millisecond // long enough to see what happens on an idle connection

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), secured(), transactions(), ends(), odd())
}

func at(name string, where Place, act Act, kind http1.Kind) Entry {
	return Entry{Name: name, At: map[Place]Act{where: act}, Want: Want{Kind: kind}}
}

// told is an entry whose connection goes on.
func told(name string, where Place, text string, kind http1.Kind) Entry {
	e := at(name, where, says(text), kind)
	e.Want.Reuse = ReuseMust
	return e
}

// connections are about what comes before anything is said.
func connections() []Entry {
	banner := func(name string, act Act, kind http1.Kind) Entry { return at(name, Banner, act, kind) }
	return []Entry{
		{Name: "no server", Gone: true, Want: Want{Kind: http1.KindRefused}},
		banner("no banner", hold, http1.KindConnectTimeout),
		banner("the end in place of a banner", quit, http1.KindClosed),
		banner("a reset in place of a banner", reset, http1.KindReset),
		banner("the end inside the banner", then("220 ma", quit), http1.KindTruncated),
		banner("a banner a byte now and then", drips("220 "+many("x", 1000), 100*time.Millisecond), http1.KindConnectTimeout),
		banner("HTTP on the port", then("HTTP/1.1 400 Bad Request\r\n\r\n", hold), http1.KindProtocol),
		banner("TLS on the port", then("\x15\x03\x01\x00\x02\x02\x46\r\n", hold), http1.KindProtocol),
		banner("garbage on the port", then("\x00\xff\xfe\x81\n", hold), http1.KindProtocol),
		banner("no service", then("554 no service\r\n", hold), "server 554"),
		banner("too busy", then("421 too many\r\n", quit), "server 421"),
		banner("a banner of 1 MiB", then("220-"+many("x", 1<<20), hold), http1.KindTooLarge),
		banner("a banner without end", floods("220-x\r\n"), http1.KindTooLarge),
	}
}

// greetings are answers to EHLO.
func greetings() []Entry {
	older := told("EHLO is refused", Hello, "502 what\r\n", http1.KindNone)
	never := at("HELO as well", Hello, says("502 what\r\n"), "server 550")
	never.At[Older] = then("550 go away\r\n", hold)
	return []Entry{
		older, never,
		at("no answer to EHLO", Hello, hold, http1.KindConnectTimeout),
		at("EHLO and the end", Hello, quit, http1.KindClosed),
		at("extensions that change code", Hello, then("250-a\r\n550 b\r\n", hold), http1.KindProtocol),
		at("extensions without end", Hello, floods("250-X\r\n"), http1.KindTooLarge),
	}
}

// secured are servers that begin TLS. What one says in clear before that may be another one's, and must not count
// in TLS (CVE-2011-0411).
func secured() []Entry {
	over := func(e Entry) Entry {
		e.TLS = true
		return e
	}
	return []Entry{
		over(Entry{Name: "a message in TLS", Want: Want{Reuse: ReuseMust}}),
		over(at("no STARTTLS", Hello, then("250 hostile\r\n", hold), http1.KindTLS)),
		over(at("STARTTLS is refused", Secure, then("454 not now\r\n", hold), "server 454")),
		over(at("extensions in clear before TLS", Secure, then("220 go\r\n250-evil\r\n250 AUTH PLAIN\r\n", hold), http1.KindProtocol)),
		over(at("a byte in clear before TLS", Secure, then("220 go\r\n2", hold), http1.KindProtocol)),
		over(at("a reply before STARTTLS is sent", Hello, then("250-evil\r\n250 STARTTLS\r\n220 go\r\n", goOn), http1.KindTLS)),
		over(at("replies in clear instead of TLS", Secure, then("220 go\r\n", func(s *Session) bool {
			_, _ = s.reader.ReadByte()
			s.say("250-evil\r\n250 PIPELINING\r\n250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n")
			return hold(s)
		}), http1.KindTLS)),
	}
}

// transactions are answers before the message.
func transactions() []Entry {
	alone := told("a recipient of one is refused", Rcpt, "550 no such user\r\n", "server 550")
	alone.Want.Refused = 1
	slow := alone
	slow.Name, slow.Without = "the same without PIPELINING", true
	ten := told("one recipient of ten", Rcpt, "450 busy\r\n", http1.KindNone)
	ten.Recipients, ten.Want.Refused = 10, 1
	plain := told("a sender is refused without PIPELINING", Mail, "550 not you\r\n", "server 550")
	plain.Without = true
	frozen := Entry{Name: "it takes no bytes", Size: 8 << 20, At: map[Place]Act{Data: then("354 go\r\n", frozen)}, Want: Want{Kind: http1.KindWriteTimeout}}
	return []Entry{
		alone, slow, ten, plain, frozen,
		told("a sender is refused", Mail, "450 later\r\n", "server 450"),
		told("DATA is refused", Data, "451 later\r\n", "server 451"),
		at("it closes at a sender", Mail, then("421 bye\r\n", quit), "server 421"),
		at("it closes at a recipient", Rcpt, then("421 bye\r\n", quit), "server 421"),
		at("silence at a sender", Mail, hold, http1.KindTimeout),
		at("silence at DATA", Data, hold, http1.KindTimeout),
		at("the end at a sender", Mail, quit, http1.KindClosed),
		at("a reset at a sender", Mail, reset, http1.KindReset),
		at("the end inside a reply", Mail, then("250-o", quit), http1.KindTruncated),
		at("354 to a sender", Mail, then("354 go\r\n", hold), http1.KindProtocol),
		at("250 to DATA", Data, then("250 ok\r\n", hold), http1.KindProtocol),
		at("a reply without a code", Rcpt, then("ok\r\n", hold), http1.KindProtocol),
		at("a code of two digits", Rcpt, then("25 ok\r\n", hold), http1.KindProtocol),
		at("replies before their commands", Mail, then(many("250 ok\r\n", 40), hold), http1.KindProtocol),
		at("it accepts what it has not got", Data, then("354 go\r\n250 ok\r\n", hold), http1.KindProtocol),
	}
}

// ends are answers to the end of the message.
func ends() []Entry {
	return []Entry{
		told("a message too large", End, "552 too large\r\n", "server 552"),
		told("a message for later", End, "450 later\r\n", "server 450"),
		at("it closes behind a message", End, then("421 bye\r\n", quit), "server 421"),
		at("silence behind a message", End, hold, http1.KindTimeout),
		at("an answer behind the deadline", End, late("250 late\r\n"), http1.KindTimeout),
		at("the end behind a message", End, quit, http1.KindClosed),
		at("a reset behind a message", End, reset, http1.KindReset),
		at("the end inside the last reply", End, then("250 o", quit), http1.KindTruncated),
		at("354 behind a message", End, then("354 more\r\n", hold), http1.KindProtocol),
		at("lines that change code", End, then("250-a\r\n550 b\r\n", hold), http1.KindProtocol),
		at("a line of 70 KB", End, then("250 "+many("x", 70_000)+"\r\n", hold), http1.KindTooLarge),
		at("lines without end", End, floods("250-x\r\n"), http1.KindTooLarge),
	}
}

// odd are answers that are right, in ways that few are, and those behind which the connection ends.
func odd() []Entry {
	bytes := at("replies in single bytes", Mail, func(s *Session) bool {
		s.mailed = true
		return drips("250 sender ok\r\n", time.Millisecond)(s)
	}, http1.KindNone)
	bytes.Want.Reuse = ReuseMust
	forwards := told("251 for 250", Rcpt, "251 will forward\r\n", http1.KindNone)
	forwards.At[Rcpt] = func(s *Session) bool { s.taken++; return says("251 will forward\r\n")(s) }
	idle := func(name string, act Act) Entry {
		e := at(name, End, act, http1.KindNone)
		e.Pause = pause
		return e
	}
	return []Entry{
		bytes,
		told("a reply of several lines", End, "250-ok\r\n250-ok\r\n250 ok\r\n", http1.KindNone),
		told("a reply without a text", End, "250\r\n", http1.KindNone),
		told("a line without CR", End, "250 ok\n", http1.KindNone),
		forwards,
		idle("two answers for one", then("250 ok\r\n250 evil\r\n", goOn)),
		idle("an answer, and 421", then("250 ok\r\n421 idle\r\n", hold)),
		idle("an answer, and the end", then("250 ok\r\n", quit)),
		idle("an answer, and garbage", then("250 ok\r\nevil\r\n", hold)),
	}
}

func many(s string, n int) string { return strings.Repeat(s, n) }
