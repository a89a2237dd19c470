package registers

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
)

// pageLeases are worlds with more registers than fit in one page or one write.
func pageLeases() []stage.Scenario {
	return quietly([]stage.Scenario{
		{Name: "register-pages", Build: leasePages,
			Doc: "Nine jobs of one holder, pages and writes of two registers: updates reach one member besides the holder, which loses its disk and joins anew, page by page, and may crash between two writes. The holder dies; another member adopts every update from the one that joined."},
		{Name: "register-newest-disk", Build: leaseNewestDisk,
			Doc: "A majority of five has an update and loses its disks, but for one member; a fourth one missed the update. The one that kept its disk starts with the order to recover the group: all members read its update from then on."},
		{Name: "register-other-set", Build: leaseOtherSet,
			Doc: "A member loses its disk and starts with another set than the others, is corrected, and does the same twice more. The others report it each time, name the difference, and continue without it."},
	})
}

// everyJob makes a member do something to each job.
func (p *leaseStage) everyJob(at time.Duration, i int, deed func(env node.Env, m *registrar, job message.JobID)) {
	p.step(at, i, func(env node.Env, m *registrar) {
		for _, job := range p.w.jobs {
			deed(env, m, job)
		}
	})
}

func wants(env node.Env, m *registrar, job message.JobID) {
	m.eager[job] = true
	m.want(env, job)
}

func updatesIt(env node.Env, m *registrar, job message.JobID) {
	m.update(env, job)
}

func readsIt(env node.Env, m *registrar, job message.JobID) {
	m.tickets++
	m.registers.Read(env, job, m.tickets)
}

func leasePages(s *stage.Stage) {
	p := newLeaseStageOf(s, 3, 9, quietLength(s), 0)
	p.everyJob(founded, 0, wants)
	p.cut(founded+300*ms, founded+5*p.length, 0, 2)
	p.everyJob(founded+400*ms, 0, updatesIt)
	lost := founded + 450*ms
	p.crash(lost, 150*ms, 1, "", true)
	if s.Rand.Chance(1, 2) { // between two writes of the registers that it takes over
		p.crash(lost+150*ms, 500*ms, 1, "stored:lease/", false)
	}
	away := founded + 580*ms + p.length/4 // it has sent what it knows, and has not repeated it
	p.crash(away, 3*p.length, 0, "", false)
	p.everyJob(lost+time.Second+p.length+p.length/4, 2, wants)
	p.everyJob(lost+time.Second+2*p.length, 2, readsIt)
}

func leaseNewestDisk(s *stage.Stage) {
	p := newLeaseStageOf(s, 5, 3, quietLength(s), 0)
	p.everyJob(founded, 0, wants)
	for i := 3; i < 5; i++ {
		p.World.At(founded+500*ms, func() { p.World.Crash(p.ids[i]) })
	}
	p.everyJob(founded+time.Second, 0, updatesIt)
	t := founded + 1500*ms
	p.World.At(t, func() {
		for i := range 3 {
			p.World.Crash(p.ids[i])
		}
		for _, i := range []int{1, 2, 4} {
			p.World.Restore(p.ids[i], nil)
		}
	})
	t += 3 * p.length
	p.World.At(t, func() {
		p.World.Start(p.ids[3]) // it answers, with what it knows
		p.w.recover = p.ids[0]
		p.World.Start(p.ids[0])
	})
	t += 3 * p.length
	p.World.At(t, func() {
		p.w.recover = ""
		p.World.Crash(p.ids[3]) // of the old epoch
		p.World.Restore(p.ids[3], nil)
		for i := 1; i < 5; i++ {
			p.World.Start(p.ids[i])
		}
	})
	t += 2 * p.length
	for i := range p.ids {
		p.everyJob(t, i, readsIt)
	}
	p.everyJob(t+time.Second, 2, wants)
	p.everyJob(t+2*p.length, 2, updatesIt)
	for i := range p.ids {
		p.everyJob(t+3*p.length, i, readsIt)
	}
}

func leaseOtherSet(s *stage.Stage) {
	p := newLeaseStage(s, 3, quietLength(s), 0)
	p.lowFirst(0, 2) // the last member of the set is the one that the stray set lacks
	p.lowFirst(1, 2)
	stray, reports := p.ids[1], 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.GroupRefused); ok && r.Node == p.ids[0] && e.Peer == p.World.Addr(stray) && p.w.strayed == stray {
			reports++
		}
	})
	p.acquires(founded, 0)
	restart := func(at time.Duration, as node.ID) {
		p.World.At(at, func() {
			p.World.Crash(stray)
			p.World.Restore(stray, nil)
			p.w.strayed, reports = as, 0
			p.World.Start(stray)
		})
	}
	at := founded + time.Second
	for n := 1; n <= 3; n++ {
		restart(at, stray)
		p.World.At(at+8*time.Second, func() {
			// A datagram of the life before may arrive after the restart. A lost disk counts its
			// lives anew, so nothing tells the two apart: the next hail corrects it, by one more report.
			if reports < 1 || reports > 2 {
				p.violate("P", 0, "a member came with another set for time %d, and was reported %d times", n, reports)
			}
		})
		restart(at+9*time.Second, "")
		at += 18 * time.Second
	}
}

// smallPages makes joins and writes of two registers each, so that a few registers need several
// pages.
func smallPages(c *lease.Config) { c.PageRegisters, c.PutRecords = 2, 2 }
