package nats

import (
	"bytes"
	"strings"

	"hyperscale/runtime/protocol/codec"
)

// asked is the operation that was queued last at its place.
type asked struct {
	of      *Operation
	number  uint64 // of a connection's operations, with the place: it stands in the subject of its reply
	open    bool   // it waits for what ends it
	keeps   bool
	subject []byte // that its values made, on a shared connection
	late    *uint64
	errors  *uint64
}

// about returns the subject of its message.
func (a *asked) about(only []byte) string {
	switch {
	case a.of.subject != "":
		return a.of.subject
	case a.subject != nil:
		return string(a.subject)
	}
	return string(only)
}

// places are the operations of a connection: one at a time, or on a shared one each at the place of its
// exchange.
type places struct {
	one    asked
	lost   lost    // of it
	many   []place // of a shared connection, by exchange; nil: it is none
	carry  uint32  // the exchange that speaks
	open   int     // operations
	serial uint64  // of the last operation with a number
	queued int     // bytes of the last one
	quiet  []quiet // publications of a shared connection that nothing confirms
	errors int     // that publications which nothing confirms may have, up to errorsMost
	answer struct {
		id uint32
		in int // bytes
	}
}

// place is that of an exchange on a shared connection.
type place struct {
	asked
	gone  uint64  // the operation that was given up there last
	count *uint64 // of its late answer
}

// quiet is an operation that nothing ends, and what counts its errors.
type quiet struct {
	of     *Operation
	errors *uint64
}

// On a shared connection the number of an operation ends with its place.
const (
	placeBits = 16
	placeMask = 1<<placeBits - 1
)

// now returns the operation that speaks.
func (s *places) now() *asked {
	if s.many == nil {
		return &s.one
	}
	return &s.many[s.carry].asked
}

// take puts an operation at its place.
func (s *places) take(o *Operation, with Order, subject []byte) *asked {
	a := s.now()
	if o.Verb >= Stream || s.many != nil {
		s.serial++
	}
	number, own := s.serial, a.subject
	if s.many != nil {
		number = s.serial<<placeBits | uint64(s.carry)
		if o.subject == "" {
			own = append(own[:0], subject...)
		}
		if o.Verb == Publish {
			s.hush(o, with.Errors)
		}
	}
	if o.Verb == Publish {
		s.errors = min(s.errors+1, errorsMost)
	}
	*a = asked{of: o, open: o.Verb != Publish, number: number, keeps: with.Keeps, subject: own, late: with.Late, errors: with.Errors}
	if a.open {
		s.open++
	}
	return a
}

// hush keeps what counts the errors of a publication that nothing confirms.
func (s *places) hush(o *Operation, errors *uint64) {
	for i := range s.quiet {
		if q := &s.quiet[i]; q.errors == errors {
			q.of = o
			return
		}
	}
	if len(s.quiet) == lateMost {
		copy(s.quiet, s.quiet[1:])
		s.quiet = s.quiet[:lateMost-1]
	}
	s.quiet = append(s.quiet, quiet{o, errors})
}

// errorsMost is how many errors of publications that nothing confirms come at once and are no flood.
const errorsMost = 1 << 16

// excuses reports whether an error may be that of a publication that nothing confirms: each has one at most.
func (s *places) excuses() bool {
	if s.errors == 0 {
		return false
	}
	s.errors--
	return true
}

// find returns the open operation with a number; nil: there is none.
func (s *places) find(number uint64) *asked {
	a := &s.one
	if s.many != nil {
		at := number & placeMask
		if at >= uint64(len(s.many)) {
			return nil
		}
		a = &s.many[at].asked
	}
	if !a.open || a.number != number {
		return nil
	}
	return a
}

// all calls each for every open operation, the oldest first as far as the caller asks for it by its number.
func (s *places) all(each func(*asked)) {
	if s.many == nil && s.one.open {
		each(&s.one)
	}
	for i := range s.many {
		if a := &s.many[i].asked; a.open {
			each(a)
		}
	}
}

// oldest returns the open operation that was queued first of those that fit; nil: there is none.
func (s *places) oldest(fits func(*asked) bool) (first *asked) {
	s.all(func(a *asked) {
		if fits(a) && (first == nil || a.number < first.number) {
			first = a
		}
	})
	return first
}

// late returns what counts an answer that no open operation waits for: of one that was given up, or a second one.
func (s *places) late(number uint64) *uint64 {
	if s.many == nil {
		return s.lost.late(number, s.one.late)
	}
	at := number & placeMask
	switch {
	case at >= uint64(len(s.many)):
		return nil
	case s.many[at].gone == number:
		return s.many[at].count
	}
	return s.many[at].asked.late
}

// faulty returns what counts an error about a subject that no open operation caused.
func (s *places) faulty(subject string) *uint64 {
	for pass := range 2 {
		for i := range s.quiet {
			q := &s.quiet[i]
			if pass == 0 && q.of.subject == subject || pass == 1 && q.of.subject == "" && strings.HasPrefix(subject, q.of.Subject[0].Text) {
				return q.errors
			}
		}
	}
	return s.now().errors
}

// exchanges are those of a trunk.
type exchanges struct{ ops places }

// Carry implements codec.Trunk.
func (e *exchanges) Carry(id uint32) {
	s := &e.ops
	for int(id) >= len(s.many) {
		s.many = append(s.many, place{})
	}
	s.carry = id
}

// Room implements codec.Trunk.
func (e *exchanges) Room() int { return placeMask }

// Keeps implements codec.Trunk: a subject tells what an error is about.
func (e *exchanges) Keeps() bool { return false }

// Queued implements codec.Trunk: no operation waits.
func (e *exchanges) Queued(uint32) int { return e.ops.queued }

// Answers implements codec.Trunk.
func (e *exchanges) Answers() (id uint32, in int) { return e.ops.answer.id, e.ops.answer.in }

// GiveUp implements codec.Trunk: what is queued still goes out. Half an answer keeps back those behind it, so
// its connection carries no more.
func (c *Conn) GiveUp(id uint32) bool {
	if int(id) >= len(c.ops.many) || !c.ops.many[id].open {
		return true
	}
	a := &c.ops.many[id].asked
	half := a.answering(c.in.held, c.pings.left(), c.inbox)
	c.giveUp(a)
	return !half
}

// answering reports whether a part of an operation's answer has come, as far as its bytes show.
func (a *asked) answering(held []byte, left []pinged, inbox string) bool {
	if len(held) == 0 {
		return false
	}
	switch held[0] {
	case pong[0]:
		return len(left) > 0 && left[0].kind == pingFlushes && left[0].payload == a.number
	case 'M', 'H':
	default:
		return false
	}
	words := bytes.SplitN(held, []byte(" "), 3)
	if len(words) < 3 {
		return true
	}
	number, is := cutNumber(words[1], inbox)
	return is && number == a.number
}

var _ codec.Trunk = (*Conn)(nil)

// about returns the subject that an error is about.
func about(text string) (subject string, tells bool) {
	_, rest, found := strings.Cut(text, "\"")
	subject, _, _ = strings.Cut(rest, "\"")
	return subject, found
}

// pings are those without a PONG, the oldest first.
type pings struct {
	all []pinged
	at  int // of the oldest one
}

func (p *pings) left() []pinged { return p.all[p.at:] }

func (p *pings) push(one pinged) { p.all = append(p.all, one) }

// pop takes the oldest one.
func (p *pings) pop() pinged {
	one := p.all[p.at]
	if p.at++; p.at == len(p.all) {
		p.all, p.at = p.all[:0], 0
	} else if p.at >= pingsMoved && 2*p.at >= len(p.all) {
		p.all, p.at = p.all[:copy(p.all, p.all[p.at:])], 0
	}
	return one
}

// pingsMoved is how many answered ones are worth to be moved over.
const pingsMoved = 64

// flushed says what the PONG of an operation is, which ends without it: it must not end another one.
func (p *pings) flushed(number uint64, as pingKind) {
	left := p.left()
	for i := range left {
		if left[i].kind == pingFlushes && left[i].payload == number {
			left[i].kind = as
		}
	}
}

// cutNumber reads the number of a reply's subject.
func cutNumber(subject []byte, inbox string) (number uint64, is bool) {
	word, ours := bytes.CutPrefix(subject, []byte(inbox))
	if !ours || len(word) == 0 || len(word) > numberMost {
		return 0, false
	}
	for _, d := range word {
		if d < '0' || d > '9' {
			return 0, false
		}
		number = 10*number + uint64(d-'0')
	}
	return number, true
}

// numberMost bounds the digits of an operation's number.
const numberMost = 19
