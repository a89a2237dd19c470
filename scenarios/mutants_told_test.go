package scenarios_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/progress"
)

// told reports progress: a line for each finished mutant, and a moving line on the terminal
// that HYPERSCALE_TERMINAL names, because a test's output goes through a pipe.
type told struct {
	mutex         sync.Mutex
	began         time.Time
	line          *progress.Line
	whole         int // number of mutants: set before the first one is finished
	done, caught  int
	stop, stopped chan struct{}
}

func newTold(t *testing.T) *told {
	now := time.Now()
	d := &told{began: now, stop: make(chan struct{}), stopped: make(chan struct{})}
	close(d.stopped)
	if name := os.Getenv("HYPERSCALE_TERMINAL"); name != "" {
		terminal, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil || !progress.Terminal(terminal) {
			return d // a line for each is enough
		}
		t.Cleanup(func() { _ = terminal.Close() })
		d.line, d.stopped = progress.New(terminal, true, now), make(chan struct{})
		go d.move()
	}
	return d
}

// move shows that time passes during the hunt for the next mutant.
func (d *told) move() {
	defer close(d.stopped)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-d.stop:
			return
		case now := <-tick.C:
			d.mutex.Lock()
			d.line.Tell(now, func() string { return d.status(now) })
			d.mutex.Unlock()
		}
	}
}

func (d *told) status(now time.Time) string {
	took := now.Sub(d.began)
	line := fmt.Sprintf("mutants: %d of %d, %d caught, %v", d.done, d.whole, d.caught, took.Round(time.Second))
	if left, known := progress.Left(took, float64(d.done), float64(d.whole)); known {
		line += fmt.Sprintf(", %v left", left)
	}
	return line
}

// row reports a finished mutant.
func (d *told) row(r *row) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.done++
	if r.caught != "" {
		d.caught++
	}
	if d.line != nil {
		d.line.Clear()
	}
	fmt.Fprintf(os.Stderr, "%s, this one %.1fs: %s\n", d.status(time.Now()), r.took.Seconds(), r)
}

func (d *told) end() {
	close(d.stop)
	<-d.stopped
	if d.line != nil {
		d.line.Clear()
	}
}
