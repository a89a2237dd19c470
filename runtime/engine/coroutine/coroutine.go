package coroutine

import "iter"

// Coroutine runs code that may wait in the middle. One goroutine creates, resumes and ends all
// coroutines, so that only one ever runs.
type Coroutine struct {
	Want  Want
	Began int64 // when its caller last resumed it

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	body  Body
}

// Body is what a coroutine runs, once.
type Body interface{ Run() }

// Want says why a coroutine is suspended.
type Want uint8

// The reasons for which a coroutine waits.
const (
	WantNothing Want = iota // it has run its body
	WantTurn                // it is ready
	WantSlice               // it is ready, but has used its time
	WantAnswer
	WantSleep
	WantRead
)

// Pool owns the coroutines of a loop, and keeps the stacks of idle ones.
type Pool struct {
	Alive int // bodies that have not ended, and those that wait for a coroutine

	all  []*Coroutine
	idle []*Coroutine
	bare []*Coroutine // idle, and without a stack
}

// Take returns a coroutine that will run a body when resumed.
func (p *Pool) Take(b Body) *Coroutine {
	co := p.free()
	co.body = b
	return co
}

func (p *Pool) free() *Coroutine {
	if n := len(p.idle); n > 0 {
		co := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return co
	}
	if n := len(p.bare); n > 0 {
		co := p.bare[n-1]
		p.bare = p.bare[:n-1]
		co.enliven()
		return co
	}
	co := new(Coroutine)
	p.all = append(p.all, co)
	co.enliven()
	return co
}

// enliven gives a coroutine its stack.
func (co *Coroutine) enliven() {
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for goOn := true; goOn; goOn = yield(struct{}{}) {
			co.body.Run()
			co.Want, co.body = WantNothing, nil
		}
	})
}

// idleStacks is how many stacks stay for the next bodies. More would not help: the collector
// copies stacks with little use to smaller ones, and meanwhile both exist.
const idleStacks = 1024

// Resume runs a coroutine until it waits, and returns why. Once its body has ended, it returns
// to the pool.
func (p *Pool) Resume(co *Coroutine) Want {
	co.next()
	want := co.Want
	if want == WantNothing {
		p.release(co)
	}
	return want
}

func (p *Pool) release(co *Coroutine) {
	if len(p.idle) >= idleStacks {
		co.stop()
		co.next, co.stop, co.yield = nil, nil, nil
		p.bare = append(p.bare, co)
		return
	}
	p.idle = append(p.idle, co)
}

// Close ends all coroutines; none has a body.
func (p *Pool) Close() {
	for _, co := range p.all {
		if co.stop != nil {
			co.stop()
		}
	}
}

// Block suspends the calling coroutine.
func (co *Coroutine) Block(w Want) {
	co.Want = w
	co.yield(struct{}{})
}
