package health

import (
	"time"

	"hyperscale/core/node"
)

// Tick measures for how long this node was awake between two of its timers. What a node would have
// heard while it was stopped still waits for it.
type Tick struct{ last, due node.Instant }

// Arm notes that the timer is set.
func (t *Tick) Arm(now node.Instant, interval time.Duration) { t.last, t.due = now, now.Add(interval) }

// Awake is the time since the timer was set; nothing if the timer is so late that the node was not
// well.
func (t *Tick) Awake(now node.Instant) time.Duration {
	if OfLag(now.Sub(t.due)) != Normal {
		return 0
	}
	return now.Sub(t.last)
}

// WatchState is what a node thinks of a process that it watches.
type WatchState uint8

// The states, from the best.
const (
	Moving   WatchState = iota
	Stalled             // silent for a third of the bound
	Extended            // silent for longer than the bound, which it has asked for
	Grace               // that is over, too
	Stuck               // for another third of the bound: it is to be killed
)

func (s WatchState) String() string {
	return [...]string{"moving", "stalled", "extended", "grace", "stuck"}[min(s, Stuck)]
}

// Watch follows the words of one process's loop. It judges the loop and never what the loop waits
// for: one whose target hangs still turns.
//
//	      silence/3          silence            + extensions     + silence/3
//	----------+-----------------+-----------------+---------------+---->
//	 moving   |     stalled     |    extended     |     grace     | stuck
//
// Before its first word it has five times as long: it reads large files.
type Watch struct {
	begun    bool
	quiet    time.Duration // without a word, as far as this node was awake
	extended time.Duration // of this silence
	grants   uint          // of its life
	done     uint32        // at the last grant
}

// extensionsMax is how often a process gets more time: half of the bound, then half of that each time,
// a second at least. Of 30 s these are 15, 7.5, 3.75, 1.875 and 1 s, together 29.125 s.
const extensionsMax = 5

// bootFactor is how much longer a process may take for its first word.
const bootFactor = 5

// Heard notes a word. It ends the silence, and what extends it.
func (w *Watch) Heard() { w.begun, w.quiet, w.extended = true, 0, 0 }

// Ask extends the silence that follows, if the process has moved on since it last asked: done is how
// much of its work is done, in millionths. It is no word: a loop that hangs may ask for ever.
func (w *Watch) Ask(silence time.Duration, done uint32) (granted time.Duration, why string) {
	switch {
	case w.grants >= extensionsMax:
		return 0, "it has used all its extensions"
	case w.grants > 0 && done <= w.done:
		return 0, "it has not moved on since it last asked"
	}
	w.grants++
	granted = max(time.Second, silence>>w.grants)
	w.done, w.extended = done, w.extended+granted
	return granted, ""
}

// Pass notes for how long the node was awake without a word, and judges.
func (w *Watch) Pass(silence, awake time.Duration) WatchState {
	w.quiet += awake
	bound := silence
	if !w.begun {
		bound *= bootFactor
	}
	switch {
	case w.quiet >= bound+w.extended+silence/3:
		return Stuck
	case w.quiet >= bound+w.extended:
		return Grace
	case w.quiet >= bound:
		return Extended
	case w.quiet >= bound/3:
		return Stalled
	}
	return Moving
}

// Quiet is for how long the process has been silent, and with how much of that it was granted.
func (w *Watch) Quiet() (quiet, extended time.Duration) { return w.quiet, w.extended }
