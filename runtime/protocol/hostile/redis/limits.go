package redis

import "hyperscale/runtime/protocol/http1"

// limits are answers that are large, deep, or many.
func limits() []Entry {
	large := func(name, answer string, act Act) Entry {
		return answers(name, answer, act, fails(http1.KindTooLarge))
	}
	flood := func(name, text string) Entry {
		return answers(name, "", floods(text), fails(http1.KindFlood)).flooding()
	}
	return []Entry{
		large("a text of 2^31-1 bytes", "$2147483647\r\nx", hold),
		large("a text of 2^58 bytes", "$288230376151711744\r\n", hold),
		large("an array of 2^31-1 values", "*2147483647\r\n", hold),
		large("a map of 2^31-1 pairs", "%2147483647\r\n", hold),
		large("a push of 2^31-1 values", ">2147483647\r\n", hold),
		large("an attribute of 2^31-1 pairs", "|2147483647\r\n", hold),
		large("arrays 100,000 deep", many("*1\r\n", 100_000), hold),
		large("maps 100,000 deep", many("%1\r\n+a\r\n", 100_000), hold),
		large("attributes 129 deep", many("|1\r\n", 129), hold),
		large("an array without end", "*?\r\n", floods("$1\r\nx\r\n")).flooding(),
		large("a text in chunks without end", "$?\r\n", floods(";4\r\nabcd\r\n")).flooding(),
		large("a line without end", "+", floods("x")).flooding(),
		large("a length without end", "$", floods("1")).flooding(),
		flood("pushes without end", ">1\r\n+x\r\n"),
		flood("empty pushes without end", ">0\r\n"),
		flood("attributes without end", "|1\r\n+a\r\n+b\r\n"),
		flood("empty attributes without end", "|0\r\n"),
	}
}
