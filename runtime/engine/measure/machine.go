package measure

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// machine reads what the operating system took from the loop. Without /proc it took nothing.
type machine struct {
	threads  map[string]usage // of the process, by their files
	read     time.Duration    // when it last read the processors
	cpus     ticks
	stealMax uint32 // of the processors' time, in millionths, over stealEvery

	usages func() map[string]usage // nil where nothing is watched
	ticks  func() ticks
}

// usage is how long a thread was on a processor, and ready without one.
type usage struct{ ran, waited time.Duration }

// ticks are those of all processors since the machine started.
type ticks struct{ all, stolen uint64 }

func watchMachine() machine {
	return machine{threads: threadUsages(), cpus: processorTicks(), usages: threadUsages, ticks: processorTicks}
}

// waited is how long the loop was ready without a core since the last call, at most took. Go
// moves the loop between threads: those that did a tenth of the process's work were it. Others
// wait for the loop itself.
func (m *machine) waited(took time.Duration) (sum time.Duration) {
	if m.usages == nil {
		return 0
	}
	before := m.threads
	m.threads = m.usages()
	var all time.Duration
	//lint:orderfree a sum does not depend on order
	for id, u := range m.threads {
		all += max(0, u.ran-before[id].ran)
	}
	//lint:orderfree a sum does not depend on order
	for id, u := range m.threads {
		if ran := u.ran - before[id].ran; ran > 0 && ran >= all/10 {
			sum += max(0, u.waited-before[id].waited)
		}
	}
	return min(sum, took)
}

func (m *machine) turn(now time.Duration) {
	if now-m.read >= stealEvery {
		m.read = now
		m.finish()
	}
}

func (m *machine) finish() {
	if m.ticks == nil {
		return
	}
	now := m.ticks()
	if all := now.all - m.cpus.all; all > 0 && now.all > m.cpus.all && now.stolen >= m.cpus.stolen {
		m.stealMax = max(m.stealMax, uint32((now.stolen-m.cpus.stolen)*1_000_000/all))
	}
	m.cpus = now
}

// threadUsages reads each schedstat: time on a processor, time ready without one, turns.
func threadUsages() map[string]usage {
	const folder = "/proc/self/task/"
	names, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	out := make(map[string]usage, len(names))
	for _, name := range names {
		text, err := os.ReadFile(folder + name.Name() + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		if fields := bytes.Fields(text); len(fields) > 1 {
			out[name.Name()] = usage{time.Duration(number(fields[0])), time.Duration(number(fields[1]))}
		}
	}
	return out
}

// processorTicks reads the first line of /proc/stat: cpu, user, nice, system, idle, iowait,
// irq, softirq, steal.
func processorTicks() (out ticks) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return out
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	const steal = 8
	for i, f := range bytes.Fields(line) {
		if i == 0 || i > steal { // guests are part of user
			continue
		}
		out.all += number(f)
		if i == steal {
			out.stolen = number(f)
		}
	}
	return out
}

func number(text []byte) uint64 {
	n, err := strconv.ParseUint(string(text), 10, 63)
	if err != nil {
		return 0
	}
	return n
}
