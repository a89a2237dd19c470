package amqp_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
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
