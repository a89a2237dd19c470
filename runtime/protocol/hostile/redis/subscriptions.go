package redis

import (
	"fmt"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// Channel is what a client subscribes to.
const Channel = "news"

// event is a message of a channel.
func event(channel, data string) string {
	return fmt.Sprintf("$P3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(channel), channel, len(data), data)
}

// confirms is a confirmation by a word.
func confirms(word, channel string) string {
	return fmt.Sprintf("$P3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:1\r\n", len(word), word, len(channel), channel)
}

// stands confirms the subscription.
var stands = confirms("subscribe", Channel)

// Subscriptions is the catalogue of servers that a session subscribes to. A client subscribes again where a
// session has ended or brings nothing, until it has received Next. In texts $P is the type of a push, which
// RESP3 has and RESP2 not.
func Subscriptions() []Entry {
	all := slices.Concat(confirmations(), events(), strays(), cuts())
	for i := range all {
		all[i].Ask.For = Subscription
	}
	return all
}

// brings is a server behind whose text the session goes on, after so many messages.
func brings(name, text string, messages int) Entry {
	return answers(name, stands+text, nil, Want{Reuse: ReuseMust, Messages: messages})
}

// behind is a text behind the confirmation, which ends the session.
func behind(name, text string, kind http1.Kind) Entry {
	return answers(name, stands+text, hold, fails(kind))
}

// confirmations stand in place of the right one.
func confirmations() []Entry {
	says := func(name, text string, kind http1.Kind) Entry { return answers(name, text, hold, fails(kind)) }
	return []Entry{
		says("no right to a channel", "-NOPERM No permissions to access a channel\r\n", "server NOPERM"),
		says("loading in place of a confirmation", "-LOADING Redis is loading the dataset in memory\r\n", "server LOADING"),
		says("an error in a text in place of a confirmation", "!10\r\nERR a\r\nbcd\r\n", "server ERR"),
		says("a confirmation of another channel", confirms("subscribe", "olds"), http1.KindProtocol),
		says("a confirmation of a pattern", confirms("psubscribe", Channel), http1.KindProtocol),
		says("an end that was not asked for in place of a confirmation", confirms("unsubscribe", Channel), "server UNSUBSCRIBED"),
		says("OK in place of a confirmation", "+OK\r\n", http1.KindProtocol),
		says("a number in place of a confirmation", ":1\r\n", http1.KindProtocol),
		says("nothing in place of a confirmation", "_\r\n", http1.KindProtocol),
		says("an array of another answer", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", http1.KindProtocol),
		says("HTTP in place of a confirmation", "HTTP/1.1 400 Bad Request\r\n\r\n", http1.KindProtocol),
		answers("silence in place of a confirmation", "", hold, fails(http1.KindTimeout)),
		answers("half a confirmation", stands[:12], hold, fails(http1.KindTimeout)),
		answers("the end in place of a confirmation", "", half, fails(http1.KindClosed)),
		answers("a reset in place of a confirmation", "", reset, fails(http1.KindReset)),
		answers("the end inside a confirmation", stands[:12], half, fails(http1.KindTruncated)),
		{Name: "a confirmation a byte at a time", Server: Behaviour{Then: func(s *Session) bool { return drips(s.pushes(stands), 0, nil)(s) }}, Want: Want{Reuse: ReuseMust}},
	}
}

// events are messages, right ones and others.
func events() []Entry {
	return []Entry{
		brings("three messages", many(event(Channel, "hi"), 3), 3),
		brings("a message of 2 MiB", event(Channel, many("x", 2<<20)), 1),
		brings("an empty message", event(Channel, ""), 1),
		brings("a message that has line ends", event(Channel, "a\r\n*1\r\n"), 1),
		brings("bytes that are no text", event(Channel, "\xff\x00"), 1),
		brings("a push that nothing knows", ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"+event(Channel, "hi"), 1),
		brings("an attribute before a message", "|1\r\n+ttl\r\n:3600\r\n"+event(Channel, "hi"), 1),
		behind("a message of another channel", event("olds", "hi"), http1.KindProtocol),
		behind("a message of a pattern", "$P4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n", http1.KindProtocol),
		behind("a message of two parts", "$P2\r\n$7\r\nmessage\r\n$4\r\nnews\r\n", http1.KindProtocol),
		behind("a message of five parts", "$P5\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", http1.KindProtocol),
		behind("a message that is a number", "$P3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n:1\r\n", http1.KindProtocol),
		behind("a message that is null", "$P3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$-1\r\n", http1.KindProtocol),
		behind("a message of 2^31-1 bytes", "$P3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2147483647\r\nx", http1.KindTooLarge),
		behind("a message of a size below zero", "$P3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$-2\r\n", http1.KindProtocol),
		behind("a message of a size that is no number", "$P3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$x\r\n", http1.KindProtocol),
	}
}

// strays are what no subscription asked for.
func strays() []Entry {
	return []Entry{
		behind("a second confirmation", stands, http1.KindProtocol),
		behind("an end that was not asked for", confirms("unsubscribe", Channel), "server UNSUBSCRIBED"),
		behind("an error behind the confirmation", "-ERR max number of clients reached\r\n", "server ERR"),
		behind("an answer to no ping", "+PONG\r\n", http1.KindProtocol),
		behind("a number that nothing asked for", ":7\r\n", http1.KindProtocol),
		behind("a type that is none", "?1\r\n", http1.KindProtocol),
		behind("garbage behind the confirmation", "\x00\xff\xfe", http1.KindProtocol),
		behind("arrays in arrays, 100,000 deep", many("*1\r\n", 100_000)+":1\r\n", http1.KindProtocol),
		behind("1,100 pushes without a message", many(">1\r\n+x\r\n", 1100), http1.KindFlood),
		answers("pushes in place of messages, without end", stands, floods(">1\r\n+x\r\n"), fails(http1.KindFlood)),
		answers("messages, and an end that was not asked for", stands+many(event(Channel, "hi"), 2)+confirms("unsubscribe", Channel), hold, Want{Kind: "server UNSUBSCRIBED", Messages: 2}),
	}
}

// cuts are connections that end behind the confirmation.
func cuts() []Entry {
	return []Entry{
		answers("the end behind the confirmation", stands, half, fails(http1.KindClosed)),
		answers("a reset behind the confirmation", stands, reset, fails(http1.KindReset)),
		answers("a message, and the end", stands+event(Channel, "hi"), half, Want{Kind: http1.KindClosed, Messages: 1}),
		answers("the end inside an event", stands+event(Channel, "hello")[:30], half, fails(http1.KindTruncated)),
		{Name: "events a byte at a time", Server: Behaviour{Answer: stands, Then: func(s *Session) bool { return drips(s.pushes(many(event(Channel, "hi"), 2)), 0, nil)(s) }}, Want: Want{Reuse: ReuseMust, Messages: 2}},
	}
}

// pushes puts the type of a push in place of $P.
func (s *Session) pushes(text string) string {
	if s.server.entry.Ask.Greets {
		return strings.ReplaceAll(text, "$P", ">")
	}
	return strings.ReplaceAll(text, "$P", "*")
}

// subscribed answers a command of a session; false: the connection ends.
func (s *Server) subscribed(n *Session, b *Behaviour, words []string, hostile *bool) bool {
	switch strings.Join(words, " ") {
	case "SUBSCRIBE " + Channel:
		if *hostile {
			*hostile = false
			n.Say(n.pushes(b.Answer))
			if b.Then != nil && !b.Then(n) {
				return false
			}
		} else {
			n.Say(n.pushes(stands))
		}
		n.Say(n.pushes(event(Channel, Following)))
	case "UNSUBSCRIBE " + Channel, "UNSUBSCRIBE":
		s.mu.Lock()
		s.counts.Reused = s.counts.Reused || n.number == 1
		s.mu.Unlock()
		n.Say(n.pushes(confirms("unsubscribe", Channel)))
	default:
		s.blame("the client says %.60q", words)
		return false
	}
	return true
}

// Following is the message of a server that behaves well.
const Following = "next"
