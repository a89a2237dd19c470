package lease

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/lease/level"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// request is a message of an acceptor's rule 1 or 2 that waits for its register.
type request struct {
	reg     *register
	from    int
	prepare *message.LeasePrepare
	accept  *message.LeaseAccept
}

// place holds the last request of a member for a register while it waits. Earlier ones count as
// lost, so that nothing piles up while a disk hangs.
type place struct {
	reg  *register
	from int
}

func (w *writes) wait(q request) {
	at := place{q.reg, q.from}
	if i, ok := w.places[at]; ok {
		w.waiting[i] = q
		return
	}
	if w.places == nil {
		w.places = map[place]int{}
	}
	w.places[at] = len(w.waiting)
	w.waiting = append(w.waiting, q)
}

// tag names what follows a Put: the membership looks up its meaning when the Put completes.
type tag struct {
	then     followUp
	from, to standing
	peer     int           // the member that waits for a page
	after    message.JobID // where that page begins
	nonce    uint64        // of the join that wants the Put
	count    int           // of keys
	level    uint16        // that the mark has
}

type followUp uint8

const (
	stood     followUp = iota // the mark has standing to in place of from
	generated                 // a join has its generation on disk
	heard                     // a peer's new generation is on disk: this member may send its page
	joined                    // the mark and all registers of the join are on disk
	erased                    // the first count keys are deleted
	raised                    // the mark has a higher level
	moved                     // the mark has another set
)

// writes goes to the disk: one Put at a time, with all changes that gathered while the earlier
// one was open.
type writes struct {
	next    []change
	open    []change
	busy    bool
	mark    bool // the next Put includes the member's mark
	then    []tag
	opened  []tag // of the open Put
	waiting []request
	places  map[place]int // index in waiting
	keys    []string      // on the disk at the start
	erase   []string      // the keys to delete
	sent    uint64        // number of the last Put
	failing bool
	scratch []byte // of the record that is encoded
}

// pending says that something waits for the next Put.
func (w *writes) pending() bool { return len(w.next)+len(w.erase) > 0 || w.mark }

// store writes what the acceptor and the membership persist.
type store struct {
	mail
	writes writes
}

// record adds a change to the next Put.
func (r *store) record(env node.Env, ch change) {
	ch.reg.writing = true
	r.writes.next = append(r.writes.next, ch)
	r.wake(env)
}

// recordMark adds the member's mark to the next Put.
func (r *store) recordMark(env node.Env, then ...tag) {
	r.writes.mark = true
	r.writes.then = append(r.writes.then, then...)
	r.wake(env)
}

// write begins the next Put unless one is open. One Put has at most PutRecords registers; the
// next one takes the rest.
func (r *store) write(env node.Env) {
	w := &r.writes
	if w.busy || !w.pending() {
		return
	}
	if len(w.erase) > 0 {
		r.putErase(env, w.erase[:min(len(w.erase), r.c.PutRecords)])
		return
	}
	count := min(len(w.next), r.c.PutRecords)
	records := make([]node.Record, 0, count+1)
	for i := range w.next[:count] {
		records = append(records, r.recordOf(&w.next[i]))
	}
	w.open, w.next = append(w.open[:0], w.next[:count]...), append(w.next[:0], w.next[count:]...)
	switch forgets := slices.ContainsFunc(w.open, func(ch change) bool { return ch.then == forgets }); {
	case (w.mark || r.unsaved || forgets) && len(w.next) == 0: // the mark says that the disk has all before it
		records = append(records, node.Record{Key: r.key("member"), Value: r.encodeMark()})
		w.opened, w.then = w.then, nil
		w.mark, r.unsaved = false, false
	case forgets: // a member forgets under the floor that its mark has
		records = append(records, node.Record{Key: r.key("member"), Value: r.encodeMark()})
	}
	w.busy = true
	w.sent++
	env.Store().Put(records, node.WriteIDOf(node.PartLease, w.sent))
}

// erase drops all that is on the disk before the first other write. The member does not believe
// what an unfinished join has left, or what it cannot read.
func (r *store) erase(env node.Env) {
	if r.writes.erase, r.writes.keys = r.writes.keys, nil; len(r.writes.erase) > 0 {
		r.wake(env)
	}
}

func (r *store) wakeWrite(env node.Env) {
	if r.writes.pending() {
		r.wake(env)
	}
}

func (r *store) putErase(env node.Env, keys []string) {
	records := make([]node.Record, 0, len(keys))
	for _, key := range keys {
		records = append(records, node.Record{Key: key})
	}
	w := &r.writes
	w.opened = []tag{{then: erased, count: len(keys)}}
	w.busy = true
	w.sent++
	env.Store().Put(records, node.WriteIDOf(node.PartLease, w.sent))
}

func (r *store) judgeDisk(env node.Env, err error) {
	if err == nil {
		r.writes.failing = false
		return
	}
	env.Emit(event.StoreFailed{What: "lease registers of " + r.c.Group, Err: err.Error()})
	if !r.writes.failing {
		r.writes.failing = true
		r.alarm(env, "the disk refuses writes: leases are kept, new jobs refused: free space", err)
	}
}

func (r *store) recordOf(ch *change) node.Record {
	if ch.reg.key == "" {
		ch.reg.key = r.keyOf(ch.reg.job)
	}
	key := ch.reg.key
	if ch.then == forgets {
		return node.Record{Key: key}
	}
	m := message.LeaseRegister{Job: ch.reg.job, Promised: ch.promised, Life: ch.promiser, Accepted: ch.accepted, Reaped: ch.reaped}
	var err error
	if r.writes.scratch, err = m.MarshalMsg(r.writes.scratch[:0]); err != nil {
		node.Bug("lease: a register that cannot be written: %v", err)
	}
	return node.Record{Key: key, Value: slices.Clone(r.writes.scratch)}
}

// encodeMark encodes the record that makes a disk a member's.
func (r *seat) encodeMark() []byte {
	m := record.Member{
		Standing: uint8(r.target), Epoch: r.epoch, Generations: r.gens, Members: r.names, Floor: r.floor.own,
		Level: r.level.Target(), Unknown: r.unknown,
	}
	s := r.c.Set
	if r.moving != nil {
		s = *r.moving
	}
	if s.Version > 0 {
		m.Members, m.Version, m.Ordinals, m.Retired = s.Members, s.Version, s.Ordinals, s.Retired
	}
	return record.Append(nil, level.Guarded(m))
}
