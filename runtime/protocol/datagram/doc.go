// Package datagram exchanges datagrams over one connected UDP socket: one goes out, and a number of
// them answers it.
//
// It knows no protocol: what goes out is what a workflow wrote. UDP keeps boundaries, loses datagrams,
// doubles them and delivers them late. So a *Conn, which is a codec.Dialogue, differs in one rule: Feed
// takes exactly one datagram, which may be empty, and CODEC-1 says nothing about it. It counts what
// answers no exchange, as that is how a network misbehaves.
//
// Invariants, beside DIALOGUE-1:
//
//	DATAGRAM-1 Each datagram that Feed takes is reported as a message, or counted once: as late behind
//	           GiveUp, else as stray.
//	DATAGRAM-2 An exchange hears no more datagrams than it asked for, and with a match none that
//	           differs from its question there.
//	DATAGRAM-3 GiveUp counts as lost what the exchange asked for and did not hear.
//	DATAGRAM-4 Output is one whole datagram of 1 to SizeMax bytes, or nothing.
//
// Example:
//
//	c := datagram.New(0)
//	c.Expect(datagram.Want{Answers: 1, Match: datagram.Match{Count: 2}}, &counts)
//	err := c.Send(codec.MessageBinary, question, &sent)
//	err = c.Feed(received, listener)
//
// Read conn.go.
package datagram
