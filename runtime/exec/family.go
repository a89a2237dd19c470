package exec

import (
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// family knows the processes of executors beside their heads. A head leads a process group of its own,
// in which all are that it starts. To know the group of a process costs a read, so the family asks each
// process once: none changes its group without leaving the family.
type family struct {
	looked  time.Time
	known   map[int]int // the group of each process of the machine that was there at the last look
	members map[int][]int
}

func newFamily() *family { return &family{known: map[int]int{}, members: map[int][]int{}} }

// of are the processes of a head, without the head.
func (f *family) of(head int) []int { return slices.Clone(f.members[head]) }

// look finds the processes of some heads, from time to time.
func (f *family) look(now time.Time, heads []int) {
	if now.Sub(f.looked) < familyEvery {
		return
	}
	f.looked = now
	all, err := procfs.AllProcs()
	if err != nil {
		return // the heads count
	}
	known := make(map[int]int, len(all))
	clear(f.members)
	for _, p := range all {
		group, asked := f.known[p.PID]
		if !asked || slices.Contains(heads, p.PID) { // a head may have the number of a process that is gone
			if stat, err := p.Stat(); err == nil {
				group = stat.PGRP
			}
		}
		known[p.PID] = group
		if group != p.PID && slices.Contains(heads, group) {
			f.members[group] = append(f.members[group], p.PID)
		}
	}
	f.known = known
}
