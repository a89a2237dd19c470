package lanes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// desk hands out connections as a loop does, and beside it a model as dumb as possible.
type desk struct {
	Lanes[int]
	queue   []int         // the claims that wait, in order
	left    map[int]bool  // those that gave up, or are served
	uses    map[int32]int // the claim of each connection in use
	opening []int         // claims whose connections are being opened
	open    map[int32]bool
	claims  int
	next    int32
}

// settle serves what can be served.
func (d *desk) settle(t *rapid.T) {
	for {
		claim, some := d.First(func(claim int) bool { return d.left[claim] })
		if !some {
			break
		}
		if claim != d.queue[0] {
			t.Fatalf("claim %d has its turn, %d came first", claim, d.queue[0])
		}
		if at, free := d.Take(); free {
			d.use(t, at, claim)
		} else if d.Reserve() {
			d.opening = append(d.opening, claim)
		} else {
			break
		}
		d.Served()
		d.left[claim], d.queue = true, d.queue[1:]
	}
}

func (d *desk) use(t *rapid.T, at int32, claim int) {
	if by, used := d.uses[at]; used || !d.open[at] {
		t.Fatalf("LANES-1: connection %d serves claim %d, and claim %d has it (open: %v)", at, claim, by, d.open[at])
	}
	d.uses[at] = claim
}

// one draws a connection in use.
func (d *desk) one(t *rapid.T) int32 {
	var all []int32
	for at := range d.next {
		if _, used := d.uses[at]; used {
			all = append(all, at)
		}
	}
	if len(all) == 0 {
		t.Skip("none is in use")
	}
	return rapid.SampledFrom(all).Draw(t, "connection")
}

func (d *desk) opener(t *rapid.T) int {
	if len(d.opening) == 0 {
		t.Skip("none is being opened")
	}
	i := rapid.IntRange(0, len(d.opening)-1).Draw(t, "opening")
	claim := d.opening[i]
	d.opening = slices.Delete(d.opening, i, i+1)
	return claim
}

// LANES-1, LANES-2 and LANES-3, and no connection is lost: while a claim waits, all there may be are in use.
func TestEachConnectionHasOneClaim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &desk{left: map[int]bool{}, uses: map[int32]int{}, open: map[int32]bool{}}
		d.Most = rapid.IntRange(1, 4).Draw(t, "most")
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				d.claims++
				d.queue = append(d.queue, d.claims)
				d.Wait(d.claims)
				d.settle(t)
			},
			"give up": func(t *rapid.T) {
				if len(d.queue) == 0 {
					t.Skip("no claim waits")
				}
				i := rapid.IntRange(0, len(d.queue)-1).Draw(t, "claim")
				d.left[d.queue[i]] = true
				d.queue = slices.Delete(d.queue, i, i+1)
				d.settle(t)
			},
			"open": func(t *rapid.T) {
				claim := d.opener(t)
				d.open[d.next] = true
				d.use(t, d.next, claim)
				d.next++
			},
			"fail to open": func(t *rapid.T) {
				d.opener(t)
				d.Part(-1)
				d.settle(t)
			},
			"answer": func(t *rapid.T) {
				at := d.one(t)
				delete(d.uses, at)
				d.Free(at)
				d.settle(t)
			},
			"break": func(t *rapid.T) {
				at := d.one(t)
				delete(d.uses, at)
				delete(d.open, at)
				d.Part(at)
				d.settle(t)
			},
			"break while free": func(t *rapid.T) {
				var all []int32
				for at := range d.next {
					if _, used := d.uses[at]; d.open[at] && !used {
						all = append(all, at)
					}
				}
				if len(all) == 0 {
					t.Skip("none is free")
				}
				at := rapid.SampledFrom(all).Draw(t, "free")
				delete(d.open, at)
				d.Part(at)
				d.settle(t)
			},
			"": func(t *rapid.T) {
				switch there := len(d.open) + len(d.opening); {
				case d.Count() != there || there > d.Most:
					t.Fatalf("it counts %d connections of %d at most, there are %d", d.Count(), d.Most, there)
				case d.Idle() != len(d.open)-len(d.uses):
					t.Fatalf("LANES-1: %d are free, want %d", d.Idle(), len(d.open)-len(d.uses))
				case len(d.queue) > 0 && len(d.uses)+len(d.opening) < d.Most:
					t.Fatalf("%d claims wait, and %d of %d connections are in use", len(d.queue), len(d.uses)+len(d.opening), d.Most)
				}
			},
		})
	})
}
