package datagram

import (
	"bytes"
	"net/netip"
	"strings"
	"time"

	"hyperscale/runtime/protocol/datagram"
	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour.
type Entry struct {
	Name   string
	Args   string // of the first exchange behind its question, as a workflow has them
	Rest   int    // bytes of the question behind its text
	Kind   http1.Kind
	Short  bool // the exchange has a timeout that is short
	Body   string
	Counts datagram.Counts // what must be counted
	Limit  string          // of an answer; empty: more than any datagram has

	answer func(s *Server, to netip.AddrPort, question []byte)
	closed bool // nothing listens until the first exchange has ended
}

// late is longer than the short timeout.
const late = 400 * time.Millisecond

func says(texts ...string) func(*Server, netip.AddrPort, []byte) {
	return func(s *Server, to netip.AddrPort, _ []byte) {
		for _, text := range texts {
			s.send(to, []byte(text))
		}
	}
}

// repeats sends the question back, changed.
func repeats(change func(question []byte) [][]byte) func(*Server, netip.AddrPort, []byte) {
	return func(s *Server, to netip.AddrPort, question []byte) {
		for _, b := range change(question) {
			s.send(to, b)
		}
	}
}

// waits answers behind the deadline.
func waits(then func(*Server, netip.AddrPort, []byte)) func(*Server, netip.AddrPort, []byte) {
	return func(s *Server, to netip.AddrPort, question []byte) {
		time.Sleep(late)
		then(s, to, question)
	}
}

const matches = ", match = udp.same(3)"

// Catalogue lists the behaviours.
func Catalogue() []Entry {
	nothing := says()
	big := strings.Repeat("x", datagram.SizeMax)
	return []Entry{
		{Name: "says nothing", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1}, answer: nothing},
		{Name: "loses two of three", Args: ", receive = 3", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 2}, answer: says("one")},
		{Name: "answers behind the deadline", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1, Late: 1}, answer: waits(says("one"))},
		{Name: "answers twice behind the deadline", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1, Late: 2}, answer: waits(says("one", "one"))},
		{Name: "answers the rest behind the deadline", Args: ", receive = 2", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1, Late: 1}, answer: func(s *Server, to netip.AddrPort, b []byte) {
			s.send(to, b)
			waits(says("one"))(s, to, b)
		}},
		{Name: "a doubled answer", Body: "one", Counts: datagram.Counts{Stray: 1}, answer: says("one", "one")},
		{Name: "five answers", Body: "one", Counts: datagram.Counts{Stray: 4}, answer: says("one", "1", "2", "3", "4")},
		{Name: "an empty answer", answer: says("")},
		{Name: "an empty datagram behind the answer", Body: "one", Counts: datagram.Counts{Stray: 1}, answer: says("one", "")},
		{Name: "an answer of 65,507 bytes", Body: big, answer: says(big)},
		{Name: "a question and an answer of 65,507 bytes", Rest: datagram.SizeMax - 3, Body: "one" + big[3:], answer: repeats(func(q []byte) [][]byte { return [][]byte{q} })},
		{Name: "an answer beyond the limit", Limit: "1KiB", Kind: http1.KindTooLarge, answer: func(s *Server, to netip.AddrPort, _ []byte) { s.send(to, []byte(big)) }},
		{Name: "an answer that is cut", Body: "on", answer: says("on")},
		{Name: "NUL and bytes that are no text", Body: "\x00\xff\xfeone", answer: says("\x00\xff\xfeone")},
		{Name: "HTTP", Body: "HTTP/1.1 400 Bad Request\r\n\r\n", answer: says("HTTP/1.1 400 Bad Request\r\n\r\n")},
		{Name: "another address answers", Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1}, answer: func(s *Server, to netip.AddrPort, _ []byte) { s.foreign(to, []byte("one")) }},
		{Name: "another address answers first", Body: "one", answer: func(s *Server, to netip.AddrPort, _ []byte) {
			s.foreign(to, []byte("foreign"))
			s.send(to, []byte("one"))
		}},
		{Name: "nothing listens", Kind: http1.KindRefused, closed: true, answer: nothing},
		{Name: "nothing listens, and no answer is asked for", Args: ", receive = 0", Kind: http1.KindRefused, closed: true, answer: nothing},
		{Name: "answers without a question", Args: ", receive = 0", Counts: datagram.Counts{Stray: 3}, answer: says("1", "2", "3")},
		{Name: "other questions' answers first", Args: matches, Body: "one", Counts: datagram.Counts{Stray: 2}, answer: says("tow", "on", "one")},
		{Name: "only other questions' answers", Args: matches, Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1, Stray: 2}, answer: says("tow", "on")},
		{Name: "another question's answer behind the deadline", Args: matches, Kind: http1.KindLost, Short: true, Counts: datagram.Counts{Lost: 1, Stray: 1}, answer: waits(says("tow"))},
		{Name: "a match at the very end", Args: ", match = udp.same(3, at = 4, sent_at = 0)", Body: "____one", Counts: datagram.Counts{Stray: 1}, answer: says("____on", "____one")},
		{Name: "three answers in reverse", Args: ", receive = 3", Body: "1", answer: says("3", "2", "1")},
		{Name: "an answer in single bytes", Body: "o", Counts: datagram.Counts{Stray: 2}, answer: says("o", "n", "e")},
		{Name: "a flood behind the answer", Body: "one", Counts: datagram.Counts{Stray: 60}, answer: repeats(func(q []byte) [][]byte {
			all := [][]byte{q}
			for range 60 {
				all = append(all, bytes.Repeat(q, 10))
			}
			return all
		})},
	}
}
