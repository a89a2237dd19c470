package nats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Orders is the stream that a client pulls from, by Consumer.
const (
	Orders   = "ORDERS"
	Consumer = "c"
)

// PullBatch is how many messages a client asks for at once.
const PullBatch = 3

// stands is what a server says of the consumer.
var stands = msg(`{"stream_name":"ORDERS","name":"c","config":{"ack_policy":"explicit"}}`)

// stored is a message of the stream. The place is where its settlement goes.
func stored(place, data string) string {
	return fmt.Sprintf("MSG a 1 %s %d\r\n%s\r\n", place, len(data), data)
}

// place is that of a message with a number, sent so often.
func place(deliveries, number int) string {
	return fmt.Sprintf("$JS.ACK.ORDERS.c.%d.%d.%d.1700000000000000000.0", deliveries, number, number)
}

// row is so many messages, which were not sent before.
func row(n int) (text string) {
	for i := range n {
		text += stored(place(1, i+1), "hi")
	}
	return text
}

// state is a status of the request under way.
func state(text string) string { return hmsg(" "+text, "") }

// Pulls is the catalogue of servers that a session pulls from. A client acknowledges each message that it
// receives, and opens another session where one has ended or brings nothing, until it has got Next.
func Pulls() []Entry {
	all := slices.Concat(consults(), requests(), places(), breaks())
	for i := range all {
		all[i].Ask.Verb = Pull
	}
	return all
}

func pulls(name, answer string, then Act, want Want) Entry { return answers(name, answer, then, want) }

// brings is an answer behind which the session goes on, after so many messages.
func brings(name, answer string, messages int) Entry {
	return pulls(name, answer, nil, Want{Reuse: ReuseMust, Messages: messages})
}

// consults are answers to the question for the consumer.
func consults() []Entry {
	says := func(name, text string, then Act, kind http1.Kind) Entry {
		return Entry{Name: name, Server: Behaviour{Consult: text, Consulted: then}, Want: fails(kind)}
	}
	return []Entry{
		says("no consumer", msg(`{"error":{"code":404,"err_code":10014,"description":"consumer not found"}}`), hold, "server 10014"),
		says("an error without a number", msg(`{"error":{"code":404}}`), hold, "server 404"),
		says("no JetStream", hmsg(" 503", ""), hold, "server 503"),
		says("a consumer that pushes", msg(`{"name":"c","config":{"deliver_subject":"there"}}`), hold, http1.KindValue),
		says("another consumer", msg(`{"name":"d","config":{}}`), hold, http1.KindProtocol),
		says("an answer that is no JSON", msg("{"), hold, http1.KindProtocol),
		says("two answers about the consumer", stands+stands, hold, http1.KindProtocol),
		says("a message before the consumer", row(1), hold, http1.KindProtocol),
		says("the end in place of the consumer", "", half, http1.KindClosed),
		says("a reset in place of the consumer", "", reset, http1.KindReset),
		says("no right to ask for the consumer", "-ERR 'Permissions Violation for Publish to \"$JS.API.CONSUMER.INFO.ORDERS.c\"'\r\n", hold, "server permissions violation"),
		{Name: "a consumer of 1 MiB", Server: Behaviour{Consult: msg(`{"name":"c","config":{"description":"` + many("x", 1<<20) + `"}}`)}, Want: Want{Reuse: ReuseMust}},
	}
}

// requests are what a server says of a request for messages.
func requests() []Entry {
	ends := func(name, text string, kind http1.Kind) Entry { return pulls(name, state(text), hold, fails(kind)) }
	return []Entry{
		brings("a whole batch", row(PullBatch), PullBatch),
		brings("a part of a batch, and its end", row(1)+state("408 Request Timeout"), 1),
		brings("no messages", state("404 No Messages"), 0),
		brings("another leader", row(1)+state("409 Leadership Change"), 1),
		brings("heartbeats among messages", state("100 Idle Heartbeat")+row(PullBatch)+state("100 Idle Heartbeat"), PullBatch).late(1),
		brings("the end of a request that was not made", "HMSG $R9 1 32 32\r\nNATS/1.0 408 Request Timeout\r\n\r\n\r\n"+row(PullBatch), PullBatch).late(1),
		brings("the end of a whole batch", row(PullBatch)+state("408 Request Timeout"), PullBatch).late(1),
		brings("more messages than were asked for", row(PullBatch+7), PullBatch+7),
		ends("a consumer that is deleted", "409 Consumer Deleted", "server 409"),
		ends("too many requests", "409 Exceeded MaxWaiting", "server 409"),
		ends("a batch that is too large", "409 Exceeded MaxRequestBatch of 1", "server 409"),
		ends("a bad request", "400 Bad Request", "server 400"),
		ends("no responders for a request", "503", "server 503"),
		ends("a status that nothing knows", "799 Later", "server 799"),
		pulls("a deleted consumer behind messages", row(2)+state("409 Consumer Deleted"), hold, Want{Kind: "server 409", Messages: 2}),
		pulls("nothing for a request", "", stays, Want{Reuse: ReuseNot, Silent: true}),
		pulls("no right to pull", "-ERR 'Permissions Violation for Publish to \"$JS.API.CONSUMER.MSG.NEXT.ORDERS.c\"'\r\n", hold, fails("server permissions violation")),
		{Name: "messages a byte at a time", Server: Behaviour{Then: drips(row(PullBatch), 0, nil)}, Want: Want{Reuse: ReuseMust, Messages: PullBatch}},
	}
}

// places are messages by where they say that they stand.
func places() []Entry {
	wrong := func(name, place string) Entry {
		return pulls(name, stored(place, "hi"), hold, fails(http1.KindProtocol))
	}
	again := brings("messages that were sent before", stored(place(2, 1), "hi")+stored(place(9, 2), "hi")+state("408 Request Timeout"), 2)
	again.Want.Redelivered = 2
	return []Entry{
		again,
		brings("a place with a domain", stored("$JS.ACK.hub.acc.ORDERS.c.1.1.1.17.0", "hi")+stored("$JS.ACK.hub.acc.ORDERS.c.1.2.2.17.0.x", "hi")+state("404"), 2),
		brings("a message with a header", "HMSG a 1 "+place(1, 1)+" 18 20\r\nNATS/1.0\r\na: 1\r\n\r\nhi\r\n"+state("404"), 1),
		wrong("a place of another consumer", "$JS.ACK.ORDERS.d.1.1.1.17.0"),
		wrong("a place of another stream", "$JS.ACK.OTHER.c.1.1.1.17.0"),
		wrong("a message that was never sent", place(0, 1)),
		wrong("a message without a number", place(1, 0)),
		wrong("a number beyond 64 bits", "$JS.ACK.ORDERS.c.1.18446744073709551616.1.17.0"),
		wrong("a number below zero", "$JS.ACK.ORDERS.c.1.-1.1.17.0"),
		wrong("a place that is too short", "$JS.ACK.ORDERS.c.1.1.1.17"),
		wrong("a place of 100 words", "$JS.ACK."+many("a.", 100)+"a"),
		wrong("a place that is none", "back"),
	}
}

// breaks are answers that the protocol forbids, or that are larger than a client takes, and ends.
func breaks() []Entry {
	return []Entry{
		pulls("a message without a place", "MSG a 1 2\r\nhi\r\n", hold, fails(http1.KindProtocol)),
		pulls("a message in place of a status", msg("hi"), hold, fails(http1.KindProtocol)),
		pulls("a status that is none", hmsg(" 4x4", ""), hold, fails(http1.KindProtocol)),
		pulls("a stored message of another subscription", "MSG a 2 "+place(1, 1)+" 2\r\nhi\r\n", hold, fails(http1.KindProtocol)),
		pulls("a stored message of 2^31-1 bytes", "MSG a 1 "+place(1, 1)+" 2147483647\r\nx", hold, fails(http1.KindTooLarge)),
		pulls("257 fields of a stored message", strings.Replace(hmsg("\r\n"+many("a: b\r\n", 256)+"a: b", ""), "$R 1", "a 1 "+place(1, 1), 1), hold, fails(http1.KindTooLarge)),
		pulls("PINGs in place of messages, without end", "", floods("PING\r\n"), fails(http1.KindFlood)),
		pulls("statuses without end", many(state("100"), 1100), hold, fails(http1.KindFlood)),
		pulls("the end in place of messages", "", half, fails(http1.KindClosed)),
		pulls("the end inside a stored message", "MSG a 1 "+place(1, 1)+" 9\r\nhi", half, fails(http1.KindTruncated)),
		pulls("a reset in place of messages", "", reset, fails(http1.KindReset)),
		pulls("messages, and the end", row(2), later("", half), Want{Kind: http1.KindClosed, Messages: 2}),
		pulls("a slow consumer that pulls", "-ERR 'Slow Consumer'\r\n", hold, fails("server slow consumer")),
		{Name: "half a stored message", Server: Behaviour{Answer: "MSG a 1 " + place(1, 1) + " 9\r\nhi", Then: func(s *Session) bool { return s.server.port.Wait(pause) && reset(s) }}, Want: Want{Kind: http1.KindReset}},
		{Name: "a stored message a byte now and then", Server: Behaviour{Then: drips(row(1)+state("404"), time.Millisecond, nil)}, Want: Want{Reuse: ReuseMust, Messages: 1}},
	}
}

// late is an entry with so many statuses that no request waits for.
func (e Entry) late(n uint64) Entry {
	e.Want.Late = n
	return e
}

// pulled answers what a client asks of a consumer; false: the connection ends.
func (s *Server) pulled(n *Session, b *Behaviour, hostile *bool) bool {
	switch {
	case strings.HasPrefix(n.subject, "$JS.API.CONSUMER.INFO."+Orders+"."+Consumer):
		if b.Consult == "" && b.Consulted == nil {
			n.Say(stands)
			return true
		}
		n.Say(b.Consult)
		return b.Consulted == nil || b.Consulted(n)
	case strings.HasPrefix(n.subject, "$JS.API.CONSUMER.MSG.NEXT."+Orders+"."+Consumer):
		if *hostile {
			*hostile = false
			n.Say(b.Answer)
			return b.Then == nil || b.Then(n)
		}
		n.Say(stored(place(1, 1000), Next))
		n.proved = true
	case strings.HasPrefix(n.subject, "$JS.ACK."):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counts.Settled++
		s.counts.Reused = s.counts.Reused || n.proved && n.number == 1
	default:
		s.blame("the client asks %.60q", n.subject)
		return false
	}
	return true
}
