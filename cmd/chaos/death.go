package main

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/checker"
	"hyperscale/core/node"
)

// death is the end of a process, by the clock of the histories.
type death struct {
	node node.ID
	at   time.Duration
}

// deaths is the ends of all processes of a run.
type deaths struct {
	mu  sync.Mutex
	all []death
}

// add records that a process has just ended.
func (d *deaths) add(id node.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, death{id, now()})
}

func (d *deaths) inOrder() []death {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

// observe shows the checker all records, and each death before the records that follow
// it. Deaths after the last record change no verdict: the run ends with them.
func observe(c *checker.Checker, records []checker.Record, died []death) {
	for _, r := range records {
		for len(died) > 0 && died[0].at < r.At {
			c.Died(died[0].node)
			died = died[1:]
		}
		c.Observe(r)
	}
}

// now reads the clock that the nodes' histories tell.
func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		node.Bug("chaos: read CLOCK_BOOTTIME: %v", err) // Linux has it since 2.6.39
	}
	return time.Duration(ts.Nano())
}
