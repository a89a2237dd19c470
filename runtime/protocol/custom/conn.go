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

// lateMost bounds the cancelled calls that are remembered until they are answered.
const lateMost = 1 << 16

// unreadMost bounds what a program leaves unread, in bytes, beside the lines of its open calls.
const unreadMost = 16 << 20

// Conn is the conversation with one process.
type Conn struct {
	hello   Hello
	program Program
	stage   stage
	outbox
	places []place
	free   []int32
	open   int // bytes of the lines of the calls in flight
	serial uint64
	owed
	held   []byte // a line that is not whole
	calls  uint64 // as the process's last line says
	asked  uint64 // calls that were queued
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
	size    int    // bytes of its line
}

// owed are the last cancelled calls without an answer. A cancel needs none, so older ones are forgotten.
type owed struct {
	late  map[uint64]*uint64 // what counts an answer
	ids   []uint64           // of the last cancelled calls, as a ring
	next  int                // the oldest of a ring that is full
	lost  uint64             // the highest id that was forgotten
	other *uint64            // counts the answers to those
}

// owe notes a call that is cancelled.
func (c *owed) owe(id uint64, late *uint64) {
	c.late[id] = late
	if len(c.ids) < lateMost {
		c.ids = append(c.ids, id)
		return
	}
	old := c.ids[c.next]
	if count, open := c.late[old]; open {
		delete(c.late, old)
		c.lost, c.other = max(c.lost, old), count
	}
	c.ids[c.next] = id
	c.next = (c.next + 1) % lateMost
}

// pays counts an answer to a cancelled call, and reports whether it is one.
func (c *owed) pays(id uint64) bool {
	late, is := c.late[id]
	switch {
	case is:
		delete(c.late, id)
	case id <= c.lost: // it may be that of one that was forgotten
		late = c.other
	default:
		return false
	}
	*late++
	return true
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
	c := &Conn{hello: h, places: make([]place, h.InFlight), owed: owed{late: map[uint64]*uint64{}}}
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
	c.out, c.places[at] = out, place{id, how.Tag, len(out) - before}
	c.open += len(out) - before
	c.marks = append(c.marks, mark{len(out), how.Sent})
	return at, nil
}

// Cancel gives up the call at a place: its answer counts in late. That to one of more than 65,536 which the
// program owes counts as that to another of them.
func (c *Conn) Cancel(at int32, late *uint64) {
	id := c.places[at].id
	c.release(at)
	c.out = append(strconv.AppendUint(append(c.out, `{"cancel":`...), id, 10), "}\n"...)
	c.owe(id, late)
}

// Deaf reports whether the program leaves so much unread that it reads no stdin, or never keeps pace: calls
// whose time is over make room for others, and their lines stay.
func (c *Conn) Deaf() bool { return len(c.Output())-c.open > unreadMost }

func (c *Conn) release(at int32) {
	c.open -= c.places[at].size
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
