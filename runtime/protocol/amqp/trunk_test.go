package amqp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// on returns the frames of lines on a channel.
func on(t rapid.TB, channel uint32, lines ...string) []byte {
	all := encoded(t, lines...)
	for b := all; len(b) > 0; b = b[8+binary.BigEndian.Uint32(b[3:]):] {
		binary.BigEndian.PutUint16(b[1:], uint16(channel))
	}
	return all
}

// told notes which exchange each message of a trunk answers, and its error.
type told struct {
	conn *amqp.Conn
	all  []string
}

func (h *told) Message(codec.MessageKind, []byte) {
	id, _ := h.conn.Answers()
	h.all = append(h.all, fmt.Sprintf("exchange %d: %v", id, h.conn.Outcome().Err))
}
func (h *told) Pong(uint64)           {}
func (h *told) Leaves(uint16, string) {}

// takes returns the lines of what a connection writes.
func takes(c *amqp.Conn) []string {
	all := amqp.Shown(c.Output())
	c.Sent(len(c.Output()))
	return all
}

var (
	confirmed = amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("x"), Confirm: true, Priority: amqp.PriorityNone})
	mandatory = amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Plain("x"), Confirm: true, Mandatory: true, Priority: amqp.PriorityNone})
)

// TRUNK-1 to TRUNK-3: whatever exchanges are confirmed, refused, given up and confirmed too late, on channels that
// open, fail and open again, each hears its own end or none.
func TestATrunkHasAChannelOfEachExchange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := connect(r, amqp.Config{Trunk: true}, "4096")
		h := &told{conn: c}
		const most = 4
		var published, confirms [most + 1]uint64 // by channel, since it opened
		var open [most + 1]bool
		late, told := new(uint64), uint64(0)
		feed := func(b []byte) {
			cut := rapid.IntRange(0, len(b)).Draw(r, "cut")
			for _, part := range [][]byte{b[:cut], b[cut:]} {
				if err := c.Feed(part, h); err != nil {
					r.Fatal(err)
				}
			}
		}
		serve := func() { // as a server answers what a client says
			for {
				lines := takes(c)
				if len(lines) == 0 {
					return
				}
				for _, l := range lines {
					var channel uint32
					var method string
					_, _ = fmt.Sscan(l, &channel, &method)
					switch method {
					case "channel.open":
						published[channel], confirms[channel] = 0, 0
						feed(on(r, channel, "channel.open-ok -"))
					case "confirm.select":
						feed(on(r, channel, "confirm.select-ok"))
					case "basic.publish":
						published[channel]++
					}
				}
			}
		}
		hears := func(want string) {
			if len(h.all) != 1 || !strings.HasPrefix(h.all[0], want) {
				r.Fatalf("heard %q, want %q", h.all, want)
			}
			h.all = nil
		}
		draw := func(fits func(uint32) bool) uint32 {
			var all []uint32
			for id := uint32(1); id <= most; id++ {
				if fits(id) {
					all = append(all, id)
				}
			}
			if len(all) == 0 {
				r.Skip("none fits")
			}
			return rapid.SampledFrom(all).Draw(r, "exchange")
		}
		r.Repeat(map[string]func(*rapid.T){
			"publish": func(r *rapid.T) {
				id := draw(func(id uint32) bool { return !open[id] })
				c.Carry(id)
				if err := c.Operate(confirmed, amqp.Order{Counts: amqp.Counts{Late: late}}); err != nil || c.Queued(id) != len(c.Output()) {
					r.Fatal(err, c.Queued(id), len(c.Output()))
				}
				for _, l := range amqp.Shown(c.Output()) {
					if !strings.HasPrefix(l, fmt.Sprint(id, " ")) {
						r.Fatalf("exchange %d says %q", id, l)
					}
				}
				serve()
				open[id] = true
			},
			"confirm": func(r *rapid.T) {
				id := draw(func(id uint32) bool { return confirms[id] < published[id] })
				confirms[id]++
				feed(on(r, id, fmt.Sprintf("basic.ack %d 0", confirms[id])))
				if confirms[id] < published[id] || !open[id] {
					told++
					return
				}
				hears(fmt.Sprintf("exchange %d: <nil>", id))
				open[id] = false
			},
			"refuse": func(r *rapid.T) {
				id := draw(func(id uint32) bool { return published[id] > 0 })
				feed(on(r, id, "channel.close 404 NOT_FOUND 60 40"))
				published[id], confirms[id] = 0, 0
				if open[id] {
					hears(fmt.Sprintf("exchange %d: server 404", id))
				}
				open[id] = false
				serve()
			},
			"give up": func(r *rapid.T) {
				id := draw(func(id uint32) bool { return open[id] })
				if !c.GiveUp(id) {
					r.Fatal("the connection is lost")
				}
				open[id] = false
			},
			"": func(r *rapid.T) {
				if len(h.all) > 0 || *late > told {
					r.Fatalf("heard %q; %d late, want %d", h.all, *late, told)
				}
			},
		})
	})
}

// A mandatory publication that is given up takes its channel with it, and no other: the next operation of that
// exchange waits for the end of the channel, and opens it anew.
func TestATrunkClosesTheChannelOfWhatNamesNothing(t *testing.T) {
	c := connect(t, amqp.Config{Trunk: true}, "4096")
	h := &told{conn: c}
	feed := func(b []byte) {
		if err := c.Feed(b, h); err != nil {
			t.Fatal(err)
		}
	}
	operate := func(id uint32, o *amqp.Operation) {
		c.Carry(id)
		if err := c.Operate(o, amqp.Order{}); err != nil {
			t.Fatal(err)
		}
	}
	operate(1, confirmed)
	operate(2, mandatory)
	feed(on(t, 2, "channel.open-ok -", "confirm.select-ok"))
	feed(on(t, 1, "confirm.select-ok"))
	takes(c)
	if !c.GiveUp(2) {
		t.Fatal("the connection is lost")
	}
	if said := takes(c); len(said) != 1 || !strings.HasPrefix(said[0], "2 channel.close 200") {
		t.Errorf("it says %q", said)
	}
	if operate(2, confirmed); len(c.Output()) > 0 || c.Queued(2) != 0 {
		t.Errorf("it says %q before the channel has ended", takes(c))
	}
	feed(on(t, 2, "basic.return 312 NO_ROUTE - jobs", "header 1", "basic.ack 1 0")) // on its way when the channel closed
	feed(on(t, 1, "basic.ack 1 0"))
	feed(on(t, 2, "channel.close-ok"))
	if said := takes(c); len(said) < 4 || !strings.HasPrefix(said[0], "2 channel.open") || c.Queued(2) == 0 {
		t.Errorf("it says %q", said)
	}
	feed(on(t, 2, "channel.open-ok -", "confirm.select-ok", "basic.ack 1 0"))
	if want := []string{"exchange 1: <nil>", "exchange 2: <nil>"}; !slices.Equal(h.all, want) {
		t.Errorf("heard %q, want %q", h.all, want)
	}
}

// While the server blocks publishers, the messages of all channels wait; its end fails what waits for an answer.
func TestATrunkWaitsWhereTheServerBlocks(t *testing.T) {
	c := connect(t, amqp.Config{Trunk: true}, "4096")
	h := &told{conn: c}
	blocked := encoded(t, "connection.blocked memory")
	binary.BigEndian.PutUint16(blocked[1:], 0)
	if err := c.Feed(blocked, h); err != nil {
		t.Fatal(err)
	}
	for id := range uint32(3) {
		c.Carry(id + 1)
		if err := c.Operate(confirmed, amqp.Order{}); err != nil || c.Queued(id+1) != 0 || len(c.Output()) > 0 {
			t.Fatalf("exchange %d goes out: %v", id+1, err)
		}
	}
	if !c.GiveUp(2) {
		t.Fatal("the connection is lost")
	}
	if err := c.Feed(encoded(t, "connection.unblocked"), h); err != nil {
		t.Fatal(err)
	}
	var channels []string
	for _, l := range takes(c) {
		if strings.Contains(l, "basic.publish") {
			channels = append(channels, l[:1])
		}
	}
	if strings.Join(channels, "") != "13" {
		t.Errorf("what waited goes out on %q", channels)
	}
	if err := c.Feed(encoded(t, "connection.close 320 CONNECTION_FORCED 0 0"), h); err != nil || len(h.all) != 2 || !c.Over() {
		t.Errorf("heard %q: %v", h.all, err)
	}
}

// Something is always left for a slow server. What it has taken is not kept, the rest goes out in order, and each
// message counts when the last of its bytes is gone.
func TestWhatASlowServerHasTakenIsNotKept(t *testing.T) {
	config := amqp.Config{Trunk: true}
	c, twin := connect(t, config, "131072"), connect(t, config, "131072")
	o := amqp.Publication(amqp.Message{Key: amqp.Plain("jobs"), Body: amqp.Text{{Value: 0}}, Priority: amqp.PriorityNone})
	var want []byte
	var sent, gone uint64
	most := 0
	for i := range 3000 {
		order := amqp.Order{Values: [][]byte{bytes.Repeat(fmt.Appendf(nil, "%05d", i), 1000)}}
		twin.Carry(1)
		if err := twin.Operate(o, order); err != nil {
			t.Fatal(err)
		}
		order.Sent = &sent
		c.Carry(1)
		if err := c.Operate(o, order); err != nil {
			t.Fatal(err)
		}
		size := len(twin.Output())
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

// scripted is a trunk, and what a test has it do.
type scripted struct {
	*amqp.Conn
	told
	t *testing.T
}

func script(t *testing.T) *scripted {
	c := connect(t, amqp.Config{Trunk: true}, "4096")
	return &scripted{c, told{conn: c}, t}
}

func (s *scripted) feed(channel uint32, lines ...string) {
	s.t.Helper()
	if err := s.Feed(on(s.t, channel, lines...), &s.told); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scripted) operate(id uint32, o *amqp.Operation) {
	s.t.Helper()
	s.Carry(id)
	if err := s.Operate(o, amqp.Order{}); err != nil {
		s.t.Fatal(err)
	}
}

// A message came back, and its operation was given up before the confirm: the next one has an outcome of its own.
func TestAReturnEndsWithItsOperation(t *testing.T) {
	for name, next := range map[string]*amqp.Operation{"confirmed": confirmed, "mandatory": mandatory} {
		c := script(t)
		c.operate(1, mandatory)
		c.feed(1, "confirm.select-ok", "basic.return 312 NO_ROUTE - jobs", "header 1", "body x")
		if takes(c.Conn); !c.GiveUp(1) {
			t.Fatal("the connection is lost")
		}
		c.feed(1, "basic.ack 1 0", "channel.close-ok")
		c.operate(1, next)
		takes(c.Conn)
		c.feed(1, "channel.open-ok -", "confirm.select-ok", "basic.ack 1 0")
		if want := []string{"exchange 1: <nil>"}; !slices.Equal(c.all, want) {
			t.Errorf("%s: heard %q, want %q", name, c.all, want)
		}
	}
}

// What many channels bring while they close is no flood, and neither is that the server closes them; frames without end
// on one that closes are.
func TestChannelsThatCloseAreNoFlood(t *testing.T) {
	c := script(t)
	const some, many = 300, 1100
	for id := uint32(1); id <= some; id++ {
		if c.operate(id, mandatory); id > 1 { // the greeting has opened the first one
			c.feed(id, "channel.open-ok -")
		}
		c.feed(id, "confirm.select-ok")
	}
	takes(c.Conn)
	for id := uint32(1); id <= some; id++ {
		if !c.GiveUp(id) {
			t.Fatal("the connection is lost")
		}
	}
	takes(c.Conn)
	for id := uint32(1); id <= some; id++ {
		c.feed(id, "basic.return 312 NO_ROUTE - jobs", "header 1", "body x", "basic.ack 1 0")
	}
	for id := uint32(1); id <= some; id++ {
		c.feed(id, "channel.close-ok")
	}
	for id := uint32(1); id <= many; id++ {
		c.operate(id, confirmed)
	}
	takes(c.Conn)
	for id := uint32(1); id <= many; id++ {
		c.feed(id, "channel.close 404 NOT_FOUND 60 40")
	}
	if len(c.all) != many {
		t.Errorf("%d of %d end", len(c.all), many)
	}
	c.operate(1, mandatory)
	takes(c.Conn)
	c.GiveUp(1)
	if err := c.Feed(bytes.Repeat(on(t, 1, "basic.ack 1 0"), 2100), &c.told); http1.KindOf(err) != http1.KindFlood {
		t.Errorf("frames without end: %v", err)
	}
}

// The end of a channel ends what the server has held on it: what waits goes out on the one that opens anew.
func TestTheEndOfAChannelEndsItsFlow(t *testing.T) {
	c := script(t)
	c.Carry(1)
	c.feed(1, "channel.flow 0")
	takes(c.Conn)
	if c.operate(1, confirmed); len(c.Output()) > 0 {
		t.Fatalf("it says %q where the server holds the flow", takes(c.Conn))
	}
	c.feed(1, "channel.close 404 NOT_FOUND 60 40")
	if said := takes(c.Conn); len(said) < 4 || !strings.HasPrefix(said[0], "1 channel.close-ok") || !strings.HasPrefix(said[1], "1 channel.open") {
		t.Errorf("it says %q", said)
	}
}
