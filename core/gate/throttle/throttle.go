package throttle

import (
	"time"

	"hyperscale/core/node"
)

// Period is how long the gate counts dispatches before the rate changes.
const Period = 10 * time.Second

const (
	thousand = 1000 // rates and tokens are in thousandths of a dispatch
	least    = thousand
)

// Throttle is a bucket of tokens whose rate follows the times of dispatches. A dispatch takes one
// token.
type Throttle struct {
	most   int64         // thousandths of a dispatch a second
	target time.Duration // from a dispatch until the job runs

	rate   int64 // like most
	tokens int64 // thousandths, at most a second's worth
	filled node.Instant
	begun  node.Instant // of the period
	count  int          // dispatches of the period whose jobs run
	slow   int          // of those, the ones above the target
}

// New returns a throttle that allows most dispatches a second.
func New(most int, target time.Duration, now node.Instant) Throttle {
	m := int64(most) * thousand
	return Throttle{most: m, target: target, rate: m, tokens: m, filled: now, begun: now}
}

// Rate is how many dispatches a second are allowed, rounded down, and Most is their bound.
func (t *Throttle) Rate() int { return int(t.rate / thousand) }

// Most is the bound of the rate.
func (t *Throttle) Most() int { return int(t.most / thousand) }

// Observe counts a job that runs so long after its dispatch.
func (t *Throttle) Observe(took time.Duration) {
	t.count++
	if took > t.target {
		t.slow++
	}
}

// Due says that a period is over: the caller counts the dispatches that are late, and calls Close.
func (t *Throttle) Due(now node.Instant) bool { return now.Sub(t.begun) >= Period }

// Close ends a period in which so many dispatched jobs had waited for longer than the target and did
// not run. It says whether the rate has changed. A caller with nothing to dispatch may close several
// periods at once: they were calm, or one breach.
func (t *Throttle) Close(now node.Instant, late int) (changed bool) {
	was := t.rate
	t.fill(now)
	if (t.slow+late)*100 > t.count+late {
		t.rate = max(least, t.rate/2)
	} else {
		t.rise(int64(now.Sub(t.begun) / Period))
	}
	t.begun, t.count, t.slow = now, 0, 0
	t.tokens = min(t.tokens, t.rate)
	return t.rate != was
}

// rise adds a tenth of the bound for each calm period.
func (t *Throttle) rise(periods int64) {
	t.rate = min(t.most, t.rate+min(periods, 10)*max(1, t.most/10))
}

// Take takes a token for one dispatch. If there is none, it returns how long until there is one.
func (t *Throttle) Take(now node.Instant) (wait time.Duration) {
	t.fill(now)
	if t.tokens < thousand {
		return time.Duration((thousand-t.tokens)*int64(time.Second)/t.rate) + 1
	}
	t.tokens -= thousand
	return 0
}

func (t *Throttle) fill(now node.Instant) {
	span := min(now.Sub(t.filled), time.Second)
	t.tokens = min(t.rate, t.tokens+t.rate*int64(span)/int64(time.Second))
	t.filled = now
}
