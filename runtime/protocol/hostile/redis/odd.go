package redis

import "time"

// odd are answers that are right, in ways that few are.
func odd() []Entry {
	answer := func(name, text, want string) Entry { return answers(name, text, nil, got(want)) }
	return []Entry{
		answer("a text", "$5\r\nhello\r\n", `"hello"`),
		answer("an empty text", "$0\r\n\r\n", `""`),
		answer("a text that has line ends", "$6\r\na\r\n+b\n\r\n", `"a\u000d\n+b\n"`),
		answer("a text that is no UTF-8", "$3\r\n\xffa\x00\r\n", "\"\ufffda\\u0000\""),
		answer("a text of 2 MiB", "$2097152\r\n"+many("x", 2<<20)+"\r\n", `"`+many("x", 2<<20)+`"`),
		answer("null as a text", "$-1\r\n", "null"),
		answer("null as an array", "*-1\r\n", "null"),
		answer("null", "_\r\n", "null"),
		answer("an empty array", "*0\r\n", "[]"),
		answer("a map", "%2\r\n+a\r\n:1\r\n:2\r\n#t\r\n", `{"a":1,"2":true}`),
		answer("a set", "~2\r\n+a\r\n+b\r\n", `["a","b"]`),
		answer("numbers", "*5\r\n,1.5\r\n,inf\r\n,nan\r\n(12345678901234567890\r\n:-1\r\n", `[1.5,"inf","nan",12345678901234567890,-1]`),
		answer("a verbatim text", "=7\r\ntxt:abc\r\n", `"abc"`),
		answer("a text in chunks", "$?\r\n;2\r\nhe\r\n;3\r\nllo\r\n;0\r\n", `"hello"`),
		answer("an array without a length", "*?\r\n:1\r\n*?\r\n.\r\n.\r\n", `[1,[]]`),
		answer("an attribute before", "|1\r\n+ttl\r\n:5\r\n+hi\r\n", `"hi"`),
		answer("attributes inside", "*2\r\n|1\r\n+a\r\n|0\r\n+b\r\n:1\r\n:2\r\n", `[1,2]`),
		answer("pushes before", ">2\r\n+message\r\n$1\r\nx\r\n>0\r\n+hi\r\n", `"hi"`),
		answer("1,000 pushes before", many(">1\r\n+x\r\n", 1000)+"+hi\r\n", `"hi"`),
		answer("a push behind", "+hi\r\n>1\r\n+invalidate\r\n", `"hi"`),
		answer("arrays 128 deep", many("*1\r\n", 128)+":1\r\n", many("[", 128)+"1"+many("]", 128)),
		{Name: "an answer a byte at a time", Server: Behaviour{Then: drips("*2\r\n$2\r\nhi\r\n_\r\n", time.Millisecond, nil)}, Want: got(`["hi",null]`)},
		Entry{Name: "a text, under TLS", Server: Behaviour{Answer: "$2\r\nhi\r\n"}, Want: got(`"hi"`)}.asking(Ask{TLS: true}),
		Entry{Name: "a key of 1 MiB", Server: Behaviour{Answer: "$-1\r\n"}, Want: got("null")}.asking(Ask{Size: 1 << 20}),
	}
}

// oddEnds are answers behind which the connection ends in some way.
func oddEnds() []Entry {
	return []Entry{
		answers("an answer, and the end", "+hi\r\n", quit, gone(`"hi"`)).pausing(),
		answers("an answer, and FIN alone", "+hi\r\n", half, gone(`"hi"`)).pausing(),
		answers("an answer, and a reset", "+hi\r\n", func(s *Session) bool { return s.server.wait(pause/3) && reset(s) }, gone(`"hi"`)).pausing(),
		answers("two answers for one", "+hi\r\n+evil\r\n", hold, gone(`"hi"`)).pausing(),
		answers("an answer, and garbage", "+hi\r\nevil", hold, gone(`"hi"`)).pausing(),
		answers("an answer, and one that no command asked for, later", "+hi\r\n", later("+evil\r\n", hold), gone(`"hi"`)).pausing(),
		answers("an answer, and half of one that no command asked for", "+hi\r\n", later("$4\r\nev", hold), gone(`"hi"`)).pausing(),
		answers("an error, and one that no command asked for", "-ERR no\r\n+evil\r\n", hold, fails("server ERR")).pausing(),
		answers("an answer, and the end, under TLS", "+hi\r\n", quit, gone(`"hi"`)).asking(Ask{TLS: true}).pausing(),
	}
}
