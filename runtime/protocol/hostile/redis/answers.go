package redis

import (
	"time"

	"hyperscale/runtime/protocol/http1"
)

// ends come instead of an answer, or inside of one.
func ends() []Entry {
	then := func(name, text string, act Act, kind http1.Kind) Entry { return answers(name, text, act, fails(kind)) }
	return []Entry{
		then("silence behind an operation", "", hold, http1.KindTimeout),
		then("an answer behind the deadline", "", late, http1.KindTimeout),
		then("half an answer", "$10\r\nhel", hold, http1.KindTimeout),
		then("a byte of an answer now and then, without end", "", drips("$1000\r\n"+many("x", 1000), 100*time.Millisecond, hold), http1.KindTimeout),
		then("the end instead of an answer", "", half, http1.KindClosed),
		then("a reset instead of an answer", "", reset, http1.KindReset),
		then("the end inside a text", "$10\r\nhel", half, http1.KindTruncated),
		then("the end inside a length", "$1", half, http1.KindTruncated),
		then("the end inside an array", "*2\r\n+a\r\n", half, http1.KindTruncated),
		then("the end behind an attribute", "|1\r\n+a\r\n+b\r\n", half, http1.KindClosed),
		then("a reset inside a text", "$10\r\nhel", reset, http1.KindReset),
		then("the end below TLS inside a text", "$10\r\nhel", cut, http1.KindTruncated).asking(Ask{TLS: true}),
	}
}

// told are errors that a server tells. The connection goes on.
func told() []Entry {
	tells := func(name, text string, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Answer: text}, Want: Want{Kind: kind, Reuse: ReuseMust}}
	}
	return []Entry{
		tells("LOADING", "-LOADING Redis is loading the dataset in memory\r\n", "server LOADING"),
		tells("OOM", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", "server OOM"),
		tells("READONLY", "-READONLY You can't write against a read only replica.\r\n", "server READONLY"),
		tells("MOVED", "-MOVED 3999 127.0.0.1:6381\r\n", "server MOVED"),
		tells("ASK", "-ASK 3999 127.0.0.1:6381\r\n", "server ASK"),
		tells("NOAUTH later", "-NOAUTH Authentication required.\r\n", "server NOAUTH"),
		tells("WRONGTYPE", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", "server WRONGTYPE"),
		tells("an error in a text", "!21\r\nSYNTAX invalid syntax\r\n", "server SYNTAX"),
		tells("an error without a code", "-oops\r\n", "server other"),
		tells("an empty error", "-\r\n", "server other"),
		tells("a code of a kilobyte", "-"+many("A", 1024)+" x\r\n", "server other"),
		tells("an error inside an array", "*2\r\n+OK\r\n-EXECABORT inside\r\n", "server EXECABORT"),
		tells("an error behind a push that has another", ">1\r\n-ERR push\r\n-BUSY script\r\n", "server BUSY"),
	}
}

// wrong are answers that RESP forbids.
func wrong() []Entry {
	breaks := func(name, answer string) Entry { return answers(name, answer, hold, fails(http1.KindProtocol)) }
	return []Entry{
		breaks("a text of -2 bytes", "$-2\r\n"),
		breaks("an array of -2", "*-2\r\n"),
		breaks("a length that is none", "$abc\r\n"),
		breaks("a length with a sign", "$+3\r\nabc\r\n"),
		breaks("a length of 20 digits", "$99999999999999999999\r\n"),
		breaks("no length", "*\r\n"),
		breaks("a text longer than its length", "$3\r\nabcd\r\n"),
		breaks("a line without CR", "+OK\n"),
		breaks("a CR inside a line", "+O\rK\r\n"),
		breaks("an integer that is none", ":1.5\r\n"),
		breaks("an integer of 65 bits", ":18446744073709551616\r\n"),
		breaks("a double that is none", ",1.2.3\r\n"),
		breaks("a bool that is none", "#1\r\n"),
		breaks("an unknown type", "@3\r\n"),
		breaks("a verbatim text without format", "=2\r\nab\r\n"),
		breaks("a push inside an array", "*2\r\n+a\r\n>1\r\n+x\r\n"),
		breaks("an end without a beginning", ".\r\n"),
		breaks("the end of a map behind a key", "%?\r\n+a\r\n.\r\n"),
		breaks("a chunk without a text", ";1\r\na\r\n"),
		breaks("a text that is no chunk", "$?\r\n;1\r\na\r\n$1\r\nb\r\n"),
	}
}
