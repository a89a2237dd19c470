package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// startsFormer says which version the next machine of a role begins with: every other one of a role runs
// the former version. A seed says which of them.
func (c *cluster) startsFormer(role string) bool {
	n := int(c.seed)
	for _, m := range c.machines {
		if m.role == role {
			n++
		}
	}
	return c.options.former != "" && n%2 == 1
}

// drawChange draws a node that stops, by a signal that lets it finish or by one that does not, and
// comes back on the same disk as the other version.
func (c *cluster) drawChange(draw *rand.Rand) fault {
	role := []string{"gate", "manager", "worker"}[draw.IntN(3)]
	all := slices.DeleteFunc(slices.Clone(c.machines), func(m *machine) bool { return m.role != role })
	m := all[draw.IntN(len(all))]
	what, begin := "SIGTERM ", func() { m.signal(syscall.SIGTERM) }
	if draw.IntN(2) == 0 {
		what, begin = "kill -9 ", m.crash
	}
	return fault{what + m.name + " and change its version", begin, func() { c.change(m) }}
}

// change starts a machine as the other version.
func (c *cluster) change(m *machine) {
	m.life.Lock()
	defer m.life.Unlock()
	m.crash()
	m.former = !m.former
	c.mustStart(m)
}

// birth is the start of a process, by the clock of the histories.
type birth struct {
	node   node.ID
	at     time.Duration
	former bool
}

// births is the starts of all processes of a run.
type births struct {
	mu  sync.Mutex
	all []birth
}

// add records that a process starts.
func (b *births) add(id node.ID, former bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, birth{id, now(), former})
}

func (b *births) inOrder() []birth {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// handovers counts how often a register passed from one run of a node to another one's.
type handovers struct {
	same int // of one version
	up   int // from the former version
	down int // to the former version
}

func (h handovers) any() bool { return h.up+h.down > 0 }

func (h *handovers) add(o handovers) {
	h.same, h.up, h.down = h.same+o.same, h.up+o.up, h.down+o.down
}

func (h handovers) String() string {
	return fmt.Sprintf("%d passed from the former version, %d to it, %d between nodes of one version", h.up, h.down, h.same)
}

// handed counts the handovers that the nodes' histories tell.
func handed(records []checker.Record, born []birth) (h handovers) {
	type register struct {
		group string
		job   message.JobID
	}
	type owner struct {
		node        node.ID
		incarnation uint64
		former      bool
	}
	former, owners := map[node.ID]bool{}, map[register]owner{}
	for _, r := range records {
		for len(born) > 0 && born[0].at <= r.At {
			former[born[0].node] = born[0].former
			born = born[1:]
		}
		e, ok := r.Event.(event.LeaseGranted)
		if !ok {
			continue
		}
		at, next := register{e.Group, e.Job}, owner{r.Node, r.Incarnation, former[r.Node]}
		was, known := owners[at]
		owners[at] = next
		switch {
		case !known || was == next:
		case was.former == next.former:
			h.same++
		case was.former:
			h.up++
		default:
			h.down++
		}
	}
	return h
}
