package measure

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// machine reads what the operating system took from the loop. Without /proc it took nothing.
type machine struct {
	last     usage
	read     time.Duration // when it last read the processors
	cpus     ticks
	stealMax uint32 // of the processors' time, in millionths, over stealEvery

	usage func() usage // nil where nothing is watched
	ticks func() ticks
}

// usage is how long a thread was ready without a processor.
type usage struct {
	thread int
	waited time.Duration
}

// ticks are those of all processors since the machine started.
type ticks struct{ all, stolen uint64 }

func watchMachine() machine {
	return machine{last: threadUsage(), cpus: processorTicks(), usage: threadUsage, ticks: processorTicks}
}

// waited is how long the loop was ready without a core since the last call, at most took. A
// loop that Go moved to another thread meanwhile does not know, and says zero.
func (m *machine) waited(took time.Duration) time.Duration {
	if m.usage == nil {
		return 0
	}
	was := m.last
	m.last = m.usage()
	if m.last.thread != was.thread {
		return 0
	}
	return max(0, min(m.last.waited-was.waited, took))
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

// threadUsage reads /proc/thread-self/schedstat: time on a processor, time ready without one, turns.
func threadUsage() usage {
	out := usage{thread: unix.Gettid()}
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return out
	}
	if fields := bytes.Fields(text); len(fields) > 1 {
		out.waited = time.Duration(number(fields[1]))
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
