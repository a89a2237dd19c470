package nats_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// told notes which exchange each message of a trunk answers.
type told struct {
	heard
	ids  []uint32
	data []string
	errs []error
}

func (h *told) Message(_ codec.MessageKind, payload []byte) {
	id, in := h.conn.Answers()
	if in < len("PONG\r\n")+len(payload) {
		panic("an answer has fewer bytes than its data")
	}
	h.ids, h.data, h.errs = append(h.ids, id), append(h.data, string(payload)), append(h.errs, h.conn.Outcome().Err)
}

// TRUNK-1 and TRUNK-2: however requests and publications of many exchanges are answered, given up and answered too
// late, each gets its own answer or none, and the count of a late one is that of the exchange which gave it up.
func TestATrunkTellsItsExchangesApart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := begun(t, nats.Config{})
		h := told{heard: heard{conn: c}}
		type asked struct {
			id     uint32
			number string // of a request; empty: a PONG answers it
			gone   bool
			late   *uint64
		}
		var all, open, pongs []*asked
		var owed []*asked // given up requests
		late := uint64(0)
		free := []uint32{5, 4, 3, 2, 1}
		feed := func(text string) {
			cut := rapid.IntRange(0, len(text)).Draw(r, "cut")
			for _, part := range []string{text[:cut], text[cut:]} {
				if err := c.Feed([]byte(part), &h); err != nil {
					r.Fatal(err)
				}
			}
		}
		answered := func(a *asked, data string) {
			if len(h.ids) != 1 || h.ids[0] != a.id || h.data[0] != data || h.errs[0] != nil {
				r.Fatalf("exchange %d gets %q: %v %q %v", a.id, data, h.ids, h.data, h.errs)
			}
			h.ids, h.data, h.errs = nil, nil, nil
		}
		drop := func(all []*asked, a *asked) []*asked {
			return slices.DeleteFunc(all, func(b *asked) bool { return a == b })
		}
		draw := func(all []*asked) *asked {
			if len(all) == 0 {
				r.Skip("there is none")
			}
			return rapid.SampledFrom(all).Draw(r, "exchange")
		}
		reply := func(number string) {
			data := "reply " + number
			feed(fmt.Sprintf("MSG %s%s 1 %d\r\n%s\r\n", inbox, number, len(data), data))
		}
		r.Repeat(map[string]func(*rapid.T){
			"ask": func(r *rapid.T) {
				if len(free) == 0 {
					r.Skip("all are under way")
				}
				a := &asked{id: free[len(free)-1], late: new(uint64)}
				free = free[:len(free)-1]
				m := nats.Message{Verb: nats.Flush, Subject: nats.Text{{Text: "a", Value: -1}, {Value: 0}}}
				if rapid.Bool().Draw(r, "request") {
					m.Verb = nats.Request
				}
				c.Carry(a.id)
				if err := c.Operate(nats.Compile(m), nats.Order{Values: [][]byte{[]byte("b")}, Late: a.late}); err != nil {
					r.Fatal(err)
				}
				out := string(c.Output())
				c.Sent(len(out))
				if m.Verb == nats.Request {
					_, a.number, _ = strings.Cut(out, "PUB ab "+inbox)
					a.number, _, _ = strings.Cut(a.number, " ")
				} else {
					pongs = append(pongs, a)
				}
				all, open = append(all, a), append(open, a)
			},
			"answer": func(r *rapid.T) {
				a := draw(open)
				if a.number == "" {
					r.Skip("a PONG answers it")
				}
				reply(a.number)
				answered(a, "reply "+a.number)
				open, free = drop(open, a), append(free, a.id)
			},
			"PONG": func(r *rapid.T) {
				if len(pongs) == 0 {
					r.Skip("none is owed")
				}
				a := pongs[0]
				pongs = pongs[1:]
				feed("PONG\r\n")
				if a.gone {
					late++
					return
				}
				answered(a, "")
				open, free = drop(open, a), append(free, a.id)
			},
			"give up": func(r *rapid.T) {
				a := draw(open)
				if !c.GiveUp(a.id) {
					r.Fatal("the connection is lost")
				}
				if a.gone = true; a.number != "" {
					owed = append(owed, a)
				}
				open, free = drop(open, a), append(free, a.id)
			},
			"answer late": func(r *rapid.T) {
				a := draw(owed)
				reply(a.number)
				owed = drop(owed, a)
				late++
			},
			"": func(r *rapid.T) {
				if len(h.ids) > 0 {
					r.Fatalf("%v %q: nothing asked for that", h.ids, h.data)
				}
				counted := uint64(0)
				for _, a := range all {
					counted += *a.late
				}
				if counted != late {
					r.Fatalf("%d answers count as late, want %d", counted, late)
				}
			},
		})
	})
}

// TRUNK-3: an error that tells a subject ends the oldest exchange that has sent to it; one that ends the connection
// ends all. Half an answer of one that is given up shuts the trunk.
func TestErrorsOfATrunk(t *testing.T) {
	begin := func() (*nats.Conn, *told) {
		c := begun(t, nats.Config{})
		for id, subject := range []string{1: "open", 2: "secret", 3: "secret"} {
			if id > 0 {
				c.Carry(uint32(id))
				if err := c.Operate(nats.Compile(nats.Message{Verb: nats.Flush, Subject: nats.Plain(subject)}), nats.Order{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return c, &told{heard: heard{conn: c}}
	}
	for _, tt := range []struct {
		say  string
		ends []uint32
		over bool
	}{
		{"-ERR 'Permissions Violation for Publish to \"secret\"'\r\n", []uint32{2}, false},
		{"-ERR 'Permissions Violation for Publish to \"secret\"'\r\nPONG\r\nPONG\r\nPONG\r\n", []uint32{2, 1, 3}, false},
		{"-ERR 'Permissions Violation for Publish to \"other\"'\r\n", nil, false},
		{"-ERR 'Maximum Payload Violation'\r\n", []uint32{1, 2, 3}, true},
	} {
		c, h := begin()
		if err := c.Feed([]byte(tt.say), h); err != nil || !slices.Equal(h.ids, tt.ends) || c.Over() != tt.over {
			t.Errorf("%q: %v ends, want %v; %v %v", tt.say, h.ids, tt.ends, c.Over(), err)
		}
	}
	for say, stays := range map[string]map[uint32]bool{"PO": {1: false, 2: true}, "-ERR": {1: true}, "": {1: true}} {
		for id, want := range stays {
			c, h := begin()
			if err := c.Feed([]byte(say), h); err != nil || c.GiveUp(id) != want {
				t.Errorf("behind %q the trunk stays: %v, want %v; %v", say, !want, want, err)
			}
		}
	}
}

// An exchange of a trunk allocates nothing once its place has been used.
func TestExchangesOfATrunkAllocateNothing(t *testing.T) {
	c := begun(t, nats.Config{})
	var on quiet
	flush := nats.Compile(nats.Message{Verb: nats.Flush, Subject: nats.Plain("a"), Data: nats.Plain("x")})
	ask := nats.Compile(nats.Message{Verb: nats.Request, Subject: nats.Plain("a"), Data: nats.Plain("x")})
	var answer []byte
	serial := uint64(0)
	once := func() {
		for id := uint32(1); id <= 8; id++ {
			c.Carry(id)
			o := ask
			if id%2 == 0 {
				o = flush
			}
			if err := c.Operate(o, nats.Order{}); err != nil {
				t.Fatal(err)
			}
			serial++
			if answer = answer[:0]; id%2 == 0 {
				answer = append(answer, "PONG\r\n"...)
			} else {
				answer = append(answer, "MSG "+inbox...)
				answer = append(strconv.AppendUint(answer, serial<<16|uint64(id), 10), " 1 0\r\n\r\n"...)
			}
			c.Sent(len(c.Output()))
			if err := c.Feed(answer, &on); err != nil {
				t.Fatal(err)
			}
		}
	}
	once()
	if n := testing.AllocsPerRun(64, once); n > 0 || on.n != 8*66 {
		t.Errorf("%v allocations, %d answers", n, on.n)
	}
}

// Something is always left for a slow server. What it has taken is not kept, the rest goes out in order, and each
// message counts when the last of its bytes is gone.
func TestWhatASlowServerHasTakenIsNotKept(t *testing.T) {
	c, twin := begun(t, nats.Config{}), begun(t, nats.Config{})
	o := nats.Compile(nats.Message{Verb: nats.Publish, Subject: nats.Plain("a"), Data: nats.Text{{Value: 0}}})
	var want []byte
	var sent, gone uint64
	most, size := 0, 0
	for i := range 3000 {
		values := [][]byte{bytes.Repeat(fmt.Appendf(nil, "%05d", i), 1000)}
		for _, one := range []*nats.Conn{c, twin} {
			order := nats.Order{Values: values}
			if one == c {
				order.Sent = &sent
			}
			one.Carry(1)
			if err := one.Operate(o, order); err != nil {
				t.Fatal(err)
			}
		}
		size = len(twin.Output())
		want = append(want, twin.Output()...)
		twin.Sent(size)
		n := max(0, len(want)-1-i%size)
		if !bytes.Equal(c.Output(), want) {
			t.Fatalf("behind %d messages what is left is wrong", i)
		}
		want = append(want[:0], want[n:]...)
		c.Sent(n)
		if gone += uint64(n); sent != gone/uint64(size) {
			t.Fatalf("%d count as sent, and %d are gone", sent, gone/uint64(size))
		}
		most = max(most, cap(c.Output()))
	}
	if most > 1<<20 {
		t.Errorf("it keeps %d bytes for %d that are left", most, len(want))
	}
}

// The answers to operations that have ended are no flood, however many come at once; other lines are.
func TestLateAnswersAreNoFlood(t *testing.T) {
	for name, tt := range map[string]struct {
		n    uint32
		says string // of each before its PONG; empty: it was given up
	}{"given up": {1500, ""}, "failed": {800, "-ERR 'Permissions Violation for Publish to \"a\"'\r\n"}} {
		c := begun(t, nats.Config{})
		h := &told{heard: heard{conn: c}}
		for id := uint32(1); id <= tt.n; id++ {
			c.Carry(id)
			if err := c.Operate(nats.Compile(nats.Message{Verb: nats.Flush, Subject: nats.Plain("a")}), nats.Order{}); err != nil {
				t.Fatal(err)
			}
		}
		c.Sent(len(c.Output()))
		for id := uint32(1); id <= tt.n && tt.says == ""; id++ {
			c.GiveUp(id)
		}
		if err := c.Feed([]byte(strings.Repeat(tt.says, int(tt.n))+strings.Repeat("PONG\r\n", int(tt.n))), h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Feed([]byte(strings.Repeat("+OK\r\n", 1100)), h); http1.KindOf(err) != http1.KindFlood {
			t.Errorf("%s: lines without end: %v", name, err)
		}
	}
}

// The errors of a shared connection are no flood, however many come at once, as far as its operations have caused
// them: those that wait, and publications that nothing confirms. More are.
func TestErrorsOfOperationsAreNoFlood(t *testing.T) {
	const n, says = 3000, "-ERR 'Permissions Violation for Publish to \"a\"'\r\n"
	for name, verb := range map[string]nats.Verb{"they wait": nats.Flush, "nothing confirms them": nats.Publish} {
		c := begun(t, nats.Config{})
		h := &told{heard: heard{conn: c}}
		var failed uint64
		for id := uint32(1); id <= n; id++ {
			c.Carry(id)
			if err := c.Operate(nats.Compile(nats.Message{Verb: verb, Subject: nats.Plain("a")}), nats.Order{Errors: &failed}); err != nil {
				t.Fatal(err)
			}
		}
		c.Sent(len(c.Output()))
		if err := c.Feed([]byte(strings.Repeat(says, n)), h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if verb == nats.Publish && failed != n {
			t.Errorf("%s: %d errors, want %d", name, failed, n)
		}
		if err := c.Feed([]byte(strings.Repeat(says, 1100)), h); http1.KindOf(err) != http1.KindFlood {
			t.Errorf("%s: errors without end: %v", name, err)
		}
	}
}
