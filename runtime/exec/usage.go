package exec

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker/budget"
)

// familyEvery is how often the pool looks for processes that executors have started. The engine starts
// none; a library might.
const familyEvery = time.Second

// hastenPercent of a budget is where the pool measures more often, and hasten how much more often.
const (
	hastenPercent = 85
	hasten        = 10
)

// lastPercent of a budget is where the pool itself kills an executor. Its worker does so at less
// (core/worker/budget), unless its loop is held up.
const lastPercent = 125

// watchUsage measures executors, and tells their worker.
func (p *Pool) watchUsage() {
	defer p.group.Done()
	m := &meter{family: newFamily(), every: p.config.MemoryInterval, last: map[node.ExecID]uint64{}}
	interval := p.config.MemoryInterval
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for now := range timer.C {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return
		}
		busy := maps.Clone(p.busy)
		p.mu.Unlock()
		hurry := m.measure(now, busy, p.tellUsage)
		if interval = p.config.MemoryInterval; hurry {
			interval = max(interval/hasten, 10*time.Millisecond)
		}
		timer.Reset(interval)
	}
}

// tellUsage reports what a child uses. Its worker judges that. One that is far beyond does not wait for
// the worker's loop.
func (p *Pool) tellUsage(id node.ExecID, ch *child, u message.ExecUsage) {
	u.MemoryMax = p.config.MemoryMax
	ch.mu.Lock()
	if !ch.ended { // its last event is that it is gone
		p.sink(node.ExecEvent{ID: id, Kind: node.ExecMessage, Body: &u})
	}
	ch.mu.Unlock()
	if u.Memory > budget.Percent(ch.budget, lastPercent) {
		ch.exceed((&budget.OverError{Used: u.Memory, Budget: ch.budget, Declared: ch.budget < p.config.MemoryMax}).Error())
	}
}

// meter measures what executors use. Reading /proc takes long while the machine swaps, so it holds no
// lock.
type meter struct {
	family *family
	every  time.Duration
	told   time.Time              // when it last told of all
	last   map[node.ExecID]uint64 // their memory
}

// measure tells the usage of each child, in between of those alone that are over their budgets. It
// reports whether one of them must be measured again soon.
func (m *meter) measure(now time.Time, busy map[node.ExecID]*child, tell func(node.ExecID, *child, message.ExecUsage)) (hurry bool) {
	var heads []int
	for _, ch := range busy {
		heads = append(heads, ch.pid())
	}
	m.family.look(now, heads)
	due := now.Sub(m.told) >= m.every
	if due {
		m.told = now
	}
	left, machine := machineMemory()
	maps.DeleteFunc(m.last, func(id node.ExecID, _ uint64) bool { return busy[id] == nil })
	for _, id := range slices.Sorted(maps.Keys(busy)) {
		ch := busy[id]
		memory, cpu := usageOf(append(m.family.of(ch.pid()), ch.pid()))
		if memory == 0 {
			continue // it is gone
		}
		grown := memory - min(memory, cmp.Or(m.last[id], memory))
		m.last[id] = memory
		hurry = hurry || memory >= budget.Percent(ch.budget, hastenPercent) || grown >= ch.budget/20
		if due || memory >= ch.budget {
			tell(id, ch, message.ExecUsage{Memory: memory, CPU: cpu, Left: left, Machine: machine})
		}
	}
	return hurry
}

// usageOf sums what processes have for themselves, and the time that they had a processor. Memory that
// they share, as large files, counts for none.
func usageOf(pids []int) (memory uint64, cpu time.Duration) {
	for _, pid := range pids {
		proc, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		if status, err := proc.NewStatus(); err == nil {
			memory += status.RssAnon
		}
		if stat, err := proc.Stat(); err == nil {
			cpu += time.Duration(stat.CPUTime() * float64(time.Second))
		}
	}
	return memory, cpu
}
