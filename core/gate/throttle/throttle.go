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
	before int          // count of the period before
	best   int64        // thousandths of a dispatch a second that managers took: the best of the last periods
	cut    node.Instant // when a refusal last lowered the rate; zero: that is over
	held   bool         // in this period Opens kept a dispatch back
	resume              // of a datacenter that has been away
}

// resume lets few dispatches be without an answer at first, and one more with each answer that comes
// about as soon as the quickest.
type resume struct {
	window int           // dispatches without an answer; 0: that is over
	least  time.Duration // of the answers since then
	began  node.Instant
}

// Resume says that managers are back, while jobs wait for them. The gate does not know how many of
// these they take at once.
func (t *Throttle) Resume(now node.Instant) {
	t.resume = resume{window: windowLeast, least: memory, began: now}
}

// answer opens the window by one, unless the answer has waited behind others.
func (r *resume) answer(took time.Duration) {
	if r.least = min(r.least, took); r.window > 0 && took <= 2*r.least+resumeSlack {
		r.window++
	}
}

// opens says whether one more dispatch may be without an answer. It is over once a second's worth may.
func (r *resume) opens(now node.Instant, unanswered int, second int64) bool {
	if r.window == 0 || int64(r.window) >= second || now.Sub(r.began) >= memory {
		r.window = 0
		return true
	}
	return unanswered < r.window
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
	t.answer(took)
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
		t.rise(now, int64(now.Sub(t.begun)/Period))
	}
	if span := now.Sub(t.begun); span > Period {
		t.count = int(int64(t.count) * int64(Period) / int64(span))
	}
	t.best = max(t.best-t.best/8, t.taken(now))
	t.begun, t.before, t.count, t.slow = now, t.count, 0, 0
	t.tokens = min(t.tokens, t.rate)
	if t.rate == t.most && !t.held {
		t.cut = 0
	}
	t.held = false
	return t.rate != was
}

// Refuse counts a dispatch that a manager refused because it has too much to do. The rate falls to its
// half, or at once to twice what managers took in the best of the last periods, but never below what
// they take now: less would leave them idle. Refusals of what was sent before the rate last fell
// belong to the same burst. It says whether the rate has changed.
func (t *Throttle) Refuse(now, sent node.Instant) (changed bool) {
	if t.cut != 0 && sent <= t.cut {
		return false
	}
	t.fill(now)
	was := t.rate
	taken := t.taken(now)
	t.rate = min(was, max(least, taken, min(t.rate/2, t.ceiling(taken))))
	t.cut, t.tokens = now, 0
	return t.rate != was
}

// taken is how many thousandths of a dispatch a second managers took in this period and the one before.
func (t *Throttle) taken(now node.Instant) int64 {
	return int64(t.before+t.count) * thousand * int64(time.Second) / int64(Period+now.Sub(t.begun))
}

// rise adds a tenth of the bound for each calm period. After a refusal it adds a quarter of the rate
// at most, and for a minute it stops at twice what managers took in the best of the last periods:
// more would fill their mailboxes again.
func (t *Throttle) rise(now node.Instant, periods int64) {
	top, step := t.most, max(1, t.most/10)
	if t.cut != 0 {
		step = min(step, max(thousand, t.rate/4))
		if now.Sub(t.cut) < memory {
			top = max(t.rate, t.ceiling(t.taken(now)))
		}
	}
	t.rate = min(top, t.rate+min(periods, 10)*step)
}

// memory is how long a refusal bounds the rate.
const memory = 6 * Period

// ceiling is twice what managers took in the best of the last periods, and at least a tenth of the
// bound.
func (t *Throttle) ceiling(taken int64) int64 {
	return min(t.most, max(t.most/10, 2*t.best, 2*taken))
}

// windowLeast is how many dispatches may always be without an answer.
const windowLeast = 4

// resumeSlack is how much longer than twice the quickest an answer may take, and still open the window.
const resumeSlack = 250 * time.Millisecond

// Opens says whether one more dispatch may be without an answer. After a refusal a second's worth of
// dispatches may: what goes beyond waits at a manager, which refuses it late. That is over once the
// rate is at its bound for a period that needs no more.
func (t *Throttle) Opens(now node.Instant, unanswered int) bool {
	if !t.opens(now, unanswered, t.rate/thousand) {
		return false
	}
	if t.cut == 0 || int64(unanswered) < max(windowLeast, t.rate/thousand) {
		return true
	}
	t.held = true
	return false
}

// Pause is how long a caller waits that Opens has not let through.
func (t *Throttle) Pause() time.Duration {
	if t.window > 0 {
		return max(resumeSlack/5, time.Duration(thousand*int64(time.Second)/t.rate))
	}
	return time.Duration(thousand * int64(time.Second) / t.rate)
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
