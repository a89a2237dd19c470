package exec

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// An executor's collector keeps it below a share of its budget, as far as collecting can. That is
// where its worker ends a throttle: what a collection frees throttles no test. A throttled one collects
// earlier, so that it comes clearly below that share.
const (
	aimPercent       = 80
	throttledPercent = 75
)

// The waits between collections of a throttled executor.
const (
	collectFirst = time.Second
	collectMost  = 30 * time.Second
)

// memory is the child's side of its budget.
type memory struct {
	mu        sync.Mutex
	budget    uint64
	throttled atomic.Bool
	end       chan struct{} // of the throttle
}

// begin takes the budget of a run; zero: the one of the environment stays.
func (m *memory) begin(budget uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget = budget
	m.aim()
}

// throttle makes the collector work harder, or ends that.
func (m *memory) throttle(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before := m.throttled.Swap(on); before == on {
		return
	}
	m.aim()
	if on {
		m.end = make(chan struct{})
		go collect(m.end)
	} else {
		close(m.end)
	}
}

// collect collects, and collects again: what users leave behind is no garbage before they do. A
// collection of much memory takes a second of the core, so it waits for longer each time.
func collect(end <-chan struct{}) {
	for wait := collectFirst; ; wait = min(2*wait, collectMost) {
		debug.FreeOSMemory()
		select {
		case <-end:
			return
		case <-time.After(wait):
		}
	}
}

func (m *memory) aim() {
	if m.budget == 0 {
		return
	}
	percent := uint64(aimPercent)
	if m.throttled.Load() {
		percent = throttledPercent
	}
	debug.SetMemoryLimit(int64(m.budget / 100 * percent))
}
