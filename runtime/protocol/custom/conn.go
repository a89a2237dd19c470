package custom

import (
	"cmp"
	"slices"
	"strconv"
)

// placeBits is how many bits of a call's id name its place among those in flight.
const placeBits = 10

// InFlightMost bounds the calls at once of one process.
const InFlightMost = 1 << placeBits

// lateMost bounds the cancelled calls whose answers are still to come.
const lateMost = 1 << 16

// Conn is the conversation with one process.
type Conn struct {
	hello   Hello
	program Program
	stage   stage
	outbox
	places []place
	free   []int32
	serial uint64
	late   map[uint64]*uint64 // cancelled calls without an answer: what counts it
	held   []byte             // a line that is not whole
	calls  uint64             // as the process's last line says
	asked  uint64             // calls that were queued
	answer Answer
}

// stage is how far the conversation is.
type stage uint8

const (
	stageHello  stage = iota // the program is to say hello
	stageOpen                // calls go
	stageEnding              // it has heard the end
	stageOver                // it has said its last line
	stageBroken              // Close ended it
)

// place is a call in flight.
type place struct {
	id, tag uint64 // id 0: it is free
}

// outbox is what the kernel has not taken.
type outbox struct {
	out   []byte
	gone  int // bytes of out that the kernel has
	marks []mark
}

// mark is where a call's line ends in the outbox, and what counts it.
type mark struct {
	end  int
	sent *uint64
}

// New begins a conversation: its first line is queued.
func New(h Hello) *Conn {
	c := &Conn{hello: h, places: make([]place, h.InFlight), late: map[uint64]*uint64{}}
	for i := range c.places {
		c.free = append(c.free, int32(len(c.places)-1-i))
	}
	c.out = h.append(nil)
	return c
}

// Program is what the program said of itself; ok: it has said so.
func (c *Conn) Program() (p *Program, ok bool) { return &c.program, c.stage > stageHello }

// Room reports whether a call may begin.
func (c *Conn) Room() bool { return c.stage == stageOpen && len(c.free) > 0 }

// Busy is how many calls are open.
func (c *Conn) Busy() int { return len(c.places) - len(c.free) }

// Asked is how many calls were queued.
func (c *Conn) Asked() uint64 { return c.asked }

// Calls is how many calls the program says it had, in its last line; over: it has said so.
func (c *Conn) Calls() (n uint64, over bool) { return c.calls, c.stage == stageOver }

// Output returns the bytes to write next, and Sent reports how many the kernel took.
func (c *outbox) Output() []byte { return c.out[c.gone:] }

// Sent notes what the kernel took.
func (c *outbox) Sent(n int) {
	c.gone += n
	done := 0
	for ; done < len(c.marks) && c.marks[done].end <= c.gone; done++ {
		*c.marks[done].sent++
	}
	if c.gone == len(c.out) {
		c.out, c.gone, c.marks = c.out[:0], 0, c.marks[:0]
		return
	}
	c.marks = append(c.marks[:0], c.marks[done:]...)
	if c.gone >= LineMost { // a program that reads slowly
		c.out = append(c.out[:0], c.out[c.gone:]...)
		for i := range c.marks {
			c.marks[i].end -= c.gone
		}
		c.gone = 0
	}
}

// Unsent reports whether the kernel lacks a part of what is queued.
func (c *outbox) Unsent() bool { return c.gone < len(c.out) }

// Operate queues a call, and returns its place. There must be room.
func (c *Conn) Operate(o *Operation, how Order) (int32, error) {
	at := c.free[len(c.free)-1]
	id := (c.serial+1)<<placeBits | uint64(at)
	before := len(c.out)
	out, err := o.line(c.out, id, &how)
	if err != nil {
		c.out = out[:before]
		return 0, err
	}
	c.serial++
	c.asked++
	c.free = c.free[:len(c.free)-1]
	c.out, c.places[at] = out, place{id, how.Tag}
	c.marks = append(c.marks, mark{len(out), how.Sent})
	return at, nil
}

// Cancel gives up the call at a place: its answer counts in late. False: the program owes too many.
func (c *Conn) Cancel(at int32, late *uint64) bool {
	id := c.places[at].id
	c.release(at)
	c.out = append(strconv.AppendUint(append(c.out, `{"cancel":`...), id, 10), "}\n"...)
	c.late[id] = late
	return len(c.late) <= lateMost
}

func (c *Conn) release(at int32) {
	c.places[at] = place{}
	c.free = append(c.free, at)
}

// End tells the program that no call follows.
func (c *Conn) End() {
	if c.stage < stageEnding {
		c.stage = stageEnding
		c.out = append(c.out, `{"end":true}`+"\n"...)
	}
}

// Close ends the conversation, and returns the tags of the calls that it leaves open, oldest first.
func (c *Conn) Close() []uint64 {
	c.stage = stageBroken
	var open []place
	for at := range c.places {
		if c.places[at].id != 0 {
			open = append(open, c.places[at])
			c.release(int32(at))
		}
	}
	slices.SortFunc(open, func(a, b place) int { return cmp.Compare(a.id>>placeBits, b.id>>placeBits) })
	var tags []uint64
	for _, p := range open {
		tags = append(tags, p.tag)
	}
	return tags
}
