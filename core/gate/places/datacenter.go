package places

import (
	"time"

	"hyperscale/core/health"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Datacenter is what the gate knows about a datacenter.
type Datacenter struct {
	Name     string
	Managers []*Manager // by ID, lost ones until the sweep
	Cores    uint32     // most that were registered at once, until that is long ago

	reserved Room          // that dispatches on their way take
	promised Room          // that the queue is about to use
	workers  uint32        // most that were registered at once, until that is long ago
	whole    node.Instant  // when that many were last registered
	able     node.Instant  // when as many as Cores were last registered
	silent   node.Instant  // when the gate last lost a manager
	saved    time.Duration // silence that Silences last reported
	record                 // of its health and its subjobs
}

// Room is free cores, and free seats of cores that light shards share. Seats below 0 are those
// that the first light shard of a core opens for others.
type Room struct {
	Cores uint32
	Seats int32
}

// View is a datacenter as its live managers describe it.
type View struct {
	Live, Ready          int  // managers: heard, and able to own subjobs
	Set                  int  // managers in all: as configured, else as heard
	Stuck                bool // work waits at a manager, and lacks nothing
	Workers, Total, Free uint32
	Healthy              uint32 // workers that the membership does not suspect
	Seats                uint32 // free ones

	Trip time.Duration // to the nearest manager that takes subjobs, and back; 0: not known
}

// View sums up the heartbeats of the live managers.
func (d *Datacenter) View() View {
	v := View{Set: len(d.Managers)}
	set := 0
	for _, m := range d.Managers {
		if !m.Live {
			continue
		}
		v.Live++
		set = max(set, m.set)
		// All managers see the same workers; one that sees fewer is behind.
		v.Workers, v.Total = max(v.Workers, m.workerSum), max(v.Total, m.total)
		v.Healthy = max(v.Healthy, m.workerSum-m.suspects)
		if !m.draining && m.Stream != 0 && !m.Lacks() {
			v.Ready++
		}
		decision := m.Decision()
		v.Stuck = v.Stuck || health.Decide(m.signals()) == health.Drain
		if decision.Takes() {
			v.Free, v.Seats = max(v.Free, m.free), max(v.Seats, m.seats)
			if m.trip > 0 && (v.Trip == 0 || m.trip < v.Trip) {
				v.Trip = m.trip
			}
		}
	}
	if set > 0 {
		v.Set = set // some may never have been heard, and some that were heard may have left
	}
	return v
}

// Free returns the cores that are neither reserved nor promised.
func (d *Datacenter) Free() uint32 {
	v := d.View()
	return v.Free - min(v.Free, d.reserved.Cores+d.promised.Cores)
}

// Seats returns the seats that are neither reserved nor promised.
func (d *Datacenter) Seats() uint32 {
	v := d.View()
	return uint32(max(0, int32(v.Seats)-d.reserved.Seats-d.promised.Seats))
}

// Most returns the cores that scaling can reach, as its managers tell; 0: none does. A lost manager's word
// holds until the gate forgets that manager.
func (d *Datacenter) Most() (most uint32) {
	for _, m := range d.Managers {
		most = max(most, m.most)
	}
	return most
}

// Reach returns the cores for which a job waits here: those that were registered at once, or more if scaling
// can reach them.
func (d *Datacenter) Reach() uint32 { return max(d.Cores, d.Most()) }

// Health returns the first health that applies.
func (d *Datacenter) Health() message.Health {
	v := d.View()
	switch {
	case v.Live == 0 || v.Workers == 0:
		return message.HealthUnhealthy
	case 2*v.Live <= v.Set || 2*v.Ready <= v.Set || 2*v.Healthy <= d.workers || v.Stuck:
		return message.HealthDegraded
	case d.Free() == 0:
		return message.HealthBusy
	}
	return message.HealthHealthy
}

// Reserve keeps room for a dispatch until Places.Release.
func (d *Datacenter) Reserve(r Room) {
	d.reserved.Cores, d.reserved.Seats = d.reserved.Cores+r.Cores, d.reserved.Seats+r.Seats
}

// Promise keeps room during one pass of the queue, until Keep drops all promises.
func (d *Datacenter) Promise(r Room) {
	d.promised.Cores, d.promised.Seats = d.promised.Cores+r.Cores, d.promised.Seats+r.Seats
}

// Keep drops all promises: the caller has turned them into reservations where it dispatched.
func (d *Datacenter) Keep() { d.promised = Room{} }

// Candidates are the managers with the best decision, of those that can take a subjob, but for those
// that leave excludes. If any of them has free cores, it returns only those with free cores.
func (d *Datacenter) Candidates(leave func(*Manager) bool) []*Manager {
	var fit, idle []*Manager
	best := health.Drain
	for _, m := range d.Managers {
		decision := m.Decision()
		if decision > best || leave(m) {
			continue
		}
		if decision < best {
			best, fit, idle = decision, nil, nil
		}
		fit = append(fit, m)
		if m.free > 0 {
			idle = append(idle, m)
		}
	}
	if len(idle) > 0 {
		return idle
	}
	return fit
}

// leader is the leading manager according to the managers of the highest term; empty while none
// of them knows it.
func (d *Datacenter) leader() (leader node.Addr) {
	term := uint64(0)
	for _, m := range d.Managers {
		switch {
		case !m.Live || m.term < term:
		case m.term > term:
			leader, term = m.leader, m.term
		case leader == "":
			leader = m.leader
		}
	}
	return leader
}
