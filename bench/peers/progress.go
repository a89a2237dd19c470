package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"hyperscale/runtime/progress"
)

// how tells how far the experiments are. It is told between runs and never during one: this
// process sleeps while something is measured.
type how struct {
	line    *progress.Line
	began   time.Time
	chosen  []experiment
	at      int           // the experiment
	runs    int           // of it
	past    time.Duration // what the experiments before were expected to take
	current time.Duration // what the runs of this one took
}

// clearing takes the line that moves away before anything is printed.
type clearing struct {
	io.Writer
	line *progress.Line
}

func (c clearing) Write(text []byte) (int, error) {
	c.line.Clear()
	return c.Writer.Write(text)
}

// begin is called once, before the first experiment.
func (b *bench) begin(chosen []experiment) {
	now := time.Now()
	b.how = how{line: progress.New(os.Stderr, progress.Terminal(os.Stderr), now), began: now, chosen: chosen, at: -1}
	b.out = clearing{b.out, b.how.line}
}

// next begins an experiment. What the one before was expected to take is done, whatever it took.
func (b *bench) next() {
	if b.how.at >= 0 {
		b.how.past += b.how.chosen[b.how.at].takes(b)
	}
	b.how.at, b.how.runs, b.how.current = b.how.at+1, 0, 0
}

// played is told after each run.
func (b *bench) played(took time.Duration) {
	h := &b.how
	h.runs++
	h.current += took
	now := time.Now()
	h.line.Tell(now, func() string { return h.status(b, now.Sub(h.began)) })
}

func (h *how) status(b *bench, took time.Duration) string {
	var whole time.Duration
	for _, e := range h.chosen {
		whole += e.takes(b)
	}
	e := h.chosen[h.at]
	done := h.past + min(h.current, e.takes(b))
	line := fmt.Sprintf("experiment %d of %d, %s: %d runs, %v", h.at+1, len(h.chosen), e.name, h.runs, took.Round(time.Second))
	if left, known := progress.Left(took, done.Seconds(), whole.Seconds()); known {
		line += fmt.Sprintf(", about %v left", left)
	}
	return line
}

// turns is how long ours and those peers that are here run, each so many times for so long.
// To start a client and to let its server settle takes about a second.
func (b *bench) turns(times int, each time.Duration, names ...string) time.Duration {
	n := 1
	for _, name := range names {
		if b.tools[name].Path != "" {
			n++
		}
	}
	return time.Duration(n*times) * (each + time.Second)
}

func (b *bench) takesPlaintext() time.Duration {
	return b.turns(2*b.rounds, b.duration, "wrk", "bombardier", "oha", "hey", "vegeta", "k6") + b.turns(2*b.rounds, b.duration, "wrk")
}

func (b *bench) takesFunction() time.Duration {
	return b.turns(2*b.rounds, b.duration, "wrk", "k6")
}

func (b *bench) takesHTTP2() time.Duration {
	return b.turns(4*b.rounds, b.duration, "h2load", "vegeta")
}

func (b *bench) takesMemory() time.Duration {
	each := max(2*b.duration, 10*time.Second)
	return b.turns(1, each, "wrk", "k6") + b.turns(4, each)
}

func (b *bench) takesTruth() time.Duration {
	run := b.stallOf(trial{}).Run
	return b.turns(1, run, "wrk", "hey", "bombardier", "oha", "vegeta", "k6", "k6") + b.turns(5, run)
}

func (b *bench) takesLateness() time.Duration { return b.turns(2*b.rounds, b.duration) }

func (b *bench) takesScaling() time.Duration {
	return b.turns(2*b.rounds, 2*b.duration, "wrk") + b.turns(2*b.rounds, 2*b.duration) + b.turns(2*b.rounds, b.duration) + b.turns(2*b.rounds, max(b.duration, 5*time.Second))
}

// takesAccounting: each waits a second for its target's counter to stand still.
func (b *bench) takesAccounting() time.Duration {
	return b.turns(len(accounts()), 3*time.Second)
}
