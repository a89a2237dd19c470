package outputs

import (
	"math/rand/v2"
	"time"
)

// The budget of tries: a sink has three at once, and one more with each five deliveries. Beyond them its circuit is
// open, and one trial every Pace.Max looks whether the place is back.
const (
	budgetFirst = 3.0
	budgetEach  = 0.2
)

// retry says when a sink tries again.
type retry struct {
	pace   Pace
	budget float64
	fails  int       // in a row
	denied time.Time // since when credentials are rejected; zero: they are not
}

func newRetry(p Pace) retry { return retry{pace: p, budget: budgetFirst} }

// delivered closes the circuit.
func (r *retry) delivered() {
	r.fails, r.denied = 0, time.Time{}
	r.budget = min(r.budget+budgetEach, budgetFirst)
}

// failed returns how long to wait, and whether the place is given up: its credentials have been rejected for Pace.Denied,
// and not only before since.
func (r *retry) failed(out Outcome, now, since time.Time) (wait time.Duration, over bool) {
	if out.Verdict != VerdictDenied {
		r.denied = time.Time{}
	} else if r.denied.IsZero() {
		r.denied = now
	} else if now.Sub(r.denied) >= r.pace.Denied && now.Sub(since) >= r.pace.Denied {
		return 0, true
	}
	r.fails++
	if r.budget < 1 {
		return max(out.After, r.pace.Max/2+rand.N(r.pace.Max/2+1)), false
	}
	r.budget--
	most := r.pace.Max
	for n, d := 1, r.pace.Min; d < r.pace.Max; n, d = n+1, 2*d {
		if n == r.fails {
			most = d
			break
		}
	}
	return max(out.After, rand.N(most+1)), false
}
