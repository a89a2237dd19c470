package trunks_test

import (
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/engine/pool/trunks"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// lines is a dialogue of a protocol as dumb as possible: each side names an exchange by a byte of its number.
// Three bytes are a message of an exchange, two of the server's are an answer.
type lines struct {
	out     []byte
	carries uint32
	answers uint32
	over    bool
	keeps   bool
	gone    map[uint32]int // answers that none waits for
}

func (l *lines) Send(codec.MessageKind, []byte, *uint64) error { return nil }
func (l *lines) Ping(uint64)                                   {}
func (l *lines) Leave(uint16, string)                          {}
func (l *lines) Output() []byte                                { return l.out }
func (l *lines) Sent(n int)                                    { l.out = l.out[n:] }
func (l *lines) Unsent() int                                   { return len(l.out) }
func (l *lines) Rest()                                         {}
func (l *lines) Release()                                      {}
func (l *lines) Over() bool                                    { return l.over }
func (l *lines) Room() int                                     { return 5 }
func (l *lines) Carry(id uint32)                               { l.carries = id }
func (l *lines) Answers() (uint32, int)                        { return l.answers, 2 }
func (l *lines) Keeps() bool                                   { return l.keeps }
func (l *lines) Queued(uint32) int                             { return 3 }

func (l *lines) End(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func (l *lines) GiveUp(id uint32) bool {
	l.gone[id]++
	return true
}

func (l *lines) Feed(b []byte, on codec.Listener) error {
	for ; len(b) > 1; b = b[2:] {
		l.answers = uint32(b[0])
		on.Message(codec.MessageText, b[1:2])
	}
	return nil
}

// desk is what exchanges say and hear, and what became of them.
type desk struct {
	heard, done map[uint64]int
	failed      map[uint64]error
	order       []uint64 // those that have spoken
	bytes       func() (in, out uint64)
	out         uint64
	speaks      bool // all can
}

func (d *desk) Say(tag uint64, of codec.Dialogue) (deaf bool, err error) {
	if tag%7 == 6 && !d.speaks {
		return false, &http1.Error{Kind: http1.KindValue}
	}
	l := of.(*lines)
	l.out = append(l.out, byte(l.carries), 'x', '\n')
	d.order = append(d.order, tag)
	return tag%3 == 0, nil
}

func (d *desk) Hear(tag uint64, _ codec.MessageKind, payload []byte) bool {
	d.heard[tag]++
	return string(payload) != "-"
}

func (d *desk) Begins(uint64) *http1.Collector { return nil }
func (d *desk) Head(uint64, int)               {}
func (d *desk) Body(uint64, []byte)            {}
func (d *desk) Failed(tag uint64, err error)   { d.failed[tag] = err; d.count() }
func (d *desk) Done(tag uint64)                { d.done[tag]++; d.count() }

func (d *desk) count() {
	_, out := d.bytes()
	d.out += out
}

// CODEC-2 to CODEC-5 and TRUNKS-1 to TRUNKS-3, whatever is opened, written, answered, given up and cut.
func TestExchangesOfATrunk(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := &lines{gone: map[uint32]int{}, keeps: rapid.Bool().Draw(r, "keeps")}
		d := &desk{heard: map[uint64]int{}, done: map[uint64]int{}, failed: map[uint64]error{}}
		c := trunks.New(l, []byte("greeting"), d)
		d.bytes = c.Bytes
		sent := make([]uint64, 1000)
		open := map[uint64]uint32{} // as a model has them
		out := uint64(0)
		spoken := map[uint64]int{} // where the bytes of each end
		written, queued, next := 0, len("greeting"), uint64(1)
		tags := func() (all []uint64) {
			for tag := range open {
				all = append(all, tag)
			}
			slices.Sort(all)
			if len(all) == 0 {
				r.Skip("none is open")
			}
			return all
		}
		r.Repeat(map[string]func(*rapid.T){
			"open": func(r *rapid.T) {
				if !c.CanOpen() {
					r.Skip("it is full")
				}
				id := c.Open(nil, next, &sent[next])
				for _, taken := range open {
					if taken == id {
						r.Fatalf("two exchanges have the id %d", id)
					}
				}
				if bad := next%7 == 6; bad != (id == 0) || bad != (c.Fault() != nil) {
					r.Fatalf("tag %d has the id %d: %v", next, id, c.Fault())
				}
				if id != 0 {
					open[next] = id
					queued += 3
					spoken[next] = queued
				}
				next++
			},
			"write": func(r *rapid.T) {
				if len(c.Output()) == 0 {
					r.Skip("all is written")
				}
				n := rapid.IntRange(1, len(c.Output())).Draw(r, "bytes")
				written += n
				c.Sent(n)
				c.Taken()
			},
			"settle": func(*rapid.T) {
				c.Settle(d)
				for tag := range open {
					if tag%3 == 0 && spoken[tag] <= written {
						if d.done[tag] != 1 {
							r.Fatalf("TRUNKS-2: tag %d is written, and ended %d times", tag, d.done[tag])
						}
						out += 3
						delete(open, tag)
					}
				}
			},
			"answer": func(r *rapid.T) {
				tag := rapid.SampledFrom(tags()).Draw(r, "tag")
				if tag%3 == 0 {
					r.Skip("nothing answers it")
				}
				if err := c.Feed([]byte{byte(open[tag]), '-', byte(open[tag]), '+'}, d); err != nil || d.done[tag] != 1 || d.heard[tag] != 2 {
					r.Fatalf("tag %d ended %d times: %v", tag, d.done[tag], err)
				}
				out += uint64(max(0, 3-max(0, spoken[tag]-written)))
				delete(open, tag)
			},
			"cancel": func(r *rapid.T) {
				tag := rapid.SampledFrom(tags()).Draw(r, "tag")
				id, before := open[tag], l.gone[open[tag]]
				if !c.Cancel(id) || c.Cancel(id) || l.gone[id] != before+1 {
					r.Fatal("an exchange is not given up exactly once")
				}
				delete(open, tag)
			},
			"": func(r *rapid.T) {
				if c.Count() != len(open) || len(c.AppendTags(nil)) != len(open) || c.CanOpen() != (len(open) < 5) {
					r.Fatalf("it counts %d exchanges, and %d are open", c.Count(), len(open))
				}
				for tag, end := range spoken {
					if (sent[tag] == 1) != (end <= written) || sent[tag] > 1 {
						r.Fatalf("CODEC-3: tag %d counts as sent %d times; %d of %d bytes are written", tag, sent[tag], written, end)
					}
					if id, is := open[tag]; is && c.Sending(id) != (end > written) {
						r.Fatalf("tag %d is said to be under way", tag)
					}
				}
				if d.out != out {
					r.Fatalf("exchanges that ended have sent %d bytes, want %d", d.out, out)
				}
				if !slices.IsSorted(d.order) {
					r.Fatal("TRUNKS-1")
				}
			},
		})
		failed := 0
		c.Close(io.EOF, d)
		for tag := range open {
			want := 1
			if tag%3 == 0 && spoken[tag] <= written {
				want = 0
			}
			failed += want
			if (d.failed[tag] != nil) != (want == 1) || d.done[tag] != 1-want {
				r.Fatalf("TRUNKS-3: tag %d failed with %v, ended %d times", tag, d.failed[tag], d.done[tag])
			}
		}
		if len(d.failed) != failed || c.Count() != 0 || c.Usable() || c.CanOpen() || c.Open(nil, 1, nil) != 0 {
			r.Fatalf("%d failed, want %d; %d are open", len(d.failed), failed, c.Count())
		}
	})
}

// An exchange on a trunk whose places have been used allocates nothing.
func TestATrunkAllocatesNothing(t *testing.T) {
	l := &lines{gone: map[uint32]int{}, out: make([]byte, 0, 1<<20)}
	d := &desk{heard: map[uint64]int{}, done: map[uint64]int{}, order: make([]uint64, 0, 4096)}
	c := trunks.New(l, nil, d)
	d.bytes = c.Bytes
	var sent uint64
	answer := []byte{0, '+'}
	once := func() {
		id := c.Open(nil, 1, &sent)
		c.Sent(len(c.Output()))
		c.Taken()
		answer[0] = byte(id)
		if err := c.Feed(answer, d); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if n := testing.AllocsPerRun(64, once); n > 0 || sent != 66 || d.done[1] != 66 {
		t.Errorf("%v allocations; sent %d, ended %d", n, sent, d.done[1])
	}
}

// Where slots keep their ids, one has the same again, and another one's only if all are taken.
func TestASlotKeepsItsID(t *testing.T) {
	l := &lines{gone: map[uint32]int{}, keeps: true}
	d := &desk{heard: map[uint64]int{}, done: map[uint64]int{}, failed: map[uint64]error{}, speaks: true}
	c := trunks.New(l, nil, d)
	d.bytes = c.Bytes
	want := map[uint64]uint32{}
	for round := range 3 {
		for _, slot := range []uint64{1, 2, 4, 5} { // less than the room
			id := c.Open(nil, uint64(round)<<32|slot, nil)
			if round > 0 && id != want[slot] {
				t.Errorf("slot %d has the id %d, and had %d", slot, id, want[slot])
			}
			want[slot] = id
			c.Sent(len(c.Output()))
			c.Taken()
			c.Settle(d)
			c.Cancel(id)
		}
	}
	if id := c.Open(nil, 7, nil); id != 5 {
		t.Errorf("a further slot has the id %d, which another one keeps", id)
	}
	if id := c.Open(nil, 8, nil); id == 0 || id == 5 || c.Count() != 2 {
		t.Errorf("where all are taken, a slot has the id %d", id)
	}
}
