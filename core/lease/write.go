package lease

import (
	"encoding/json"
	"fmt"
	"strings"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// change is what one register becomes once it is on disk, and who is told then.
// A register has at most one: what arrives meanwhile waits, so that every rule is
// applied to what the disk has.
type change struct {
	reg      *register
	from     int
	promised message.LeaseToken
	promiser message.LeaseLife
	accepted message.LeaseState
	reaped   bool
	received node.Instant
	promise  bool // the answer is a promise, not an accepted
	answer   bool
	forget   bool // the register goes for good
}

// request is a message of an acceptor's rule 1 or 2 that waits for its register.
type request struct {
	reg     *register
	from    int
	prepare *message.LeasePrepare
	accept  *message.LeaseAccept
}

// place is where the last request of a member for a register waits: what it said
// before is as good as lost, so that a disk that hangs piles nothing up.
type place struct {
	reg  *register
	from int
}

func (r *Registers) wait(q request) {
	w := &r.writes
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

// writes is what goes to the disk: one Put at a time, with all that came
// together while the one before was open.
type writes struct {
	next    []change
	open    []change
	busy    bool
	mark    bool // the next Put has the member's mark too
	then    []func(env node.Env, err error)
	opened  []func(env node.Env, err error) // of the open Put
	waiting []request
	places  map[place]int // of each in waiting
	keys    []string      // on the disk at the start
	erase   []string      // of them, what goes
	sent    uint64        // token of the last Put
	failing bool
}

func (reg *register) change(from int) change {
	return change{
		reg: reg, from: from, promised: reg.promised, promiser: reg.promiser,
		accepted: reg.accepted, reaped: reg.reaped, received: reg.received,
	}
}

// record has a change written with the next Put.
func (r *Registers) record(env node.Env, ch change) {
	ch.reg.writing = true
	r.writes.next = append(r.writes.next, ch)
	r.wake(env)
}

// recordMark has the member's mark written with the next Put, and then told.
func (r *Registers) recordMark(env node.Env, then func(env node.Env, err error)) {
	r.writes.mark = true
	if then != nil {
		r.writes.then = append(r.writes.then, then)
	}
	r.wake(env)
}

// write begins the next Put unless one is open. One Put has at most PutRecords
// registers; the rest follows it.
func (r *Registers) write(env node.Env) {
	w := &r.writes
	if w.busy || len(w.next)+len(w.erase) == 0 && !w.mark {
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
	if (w.mark || r.unsaved) && len(w.next) == 0 { // the mark says that all before it is there
		records = append(records, node.Record{Key: r.key("member"), Value: r.encodeMark()})
		w.opened, w.then = w.then, nil
		w.mark, r.unsaved = false, false
	}
	w.busy = true
	w.sent++
	env.Store().Put(records, node.TokenOf(node.PartLease, w.sent))
}

// erase drops all that is on the disk, before anything else is written: what a
// join that did not end has left, or what cannot be read, is not believed.
func (r *Registers) erase(env node.Env) {
	if r.writes.erase, r.writes.keys = r.writes.keys, nil; len(r.writes.erase) > 0 {
		r.wake(env)
	}
}

func (r *Registers) wakeWrite(env node.Env) {
	if w := &r.writes; len(w.next)+len(w.erase) > 0 || w.mark {
		r.wake(env)
	}
}

func (r *Registers) putErase(env node.Env, keys []string) {
	records := make([]node.Record, 0, len(keys))
	for _, key := range keys {
		records = append(records, node.Record{Key: key})
	}
	w := &r.writes
	w.opened = []func(node.Env, error){func(env node.Env, err error) {
		if err == nil {
			w.erase = w.erase[len(keys):]
			return
		}
		env.SetTimer(node.Key(node.PartLease, node.LeaseHail), r.retryIn(env))
	}}
	w.busy = true
	w.sent++
	env.Store().Put(records, node.TokenOf(node.PartLease, w.sent))
}

// Stored handles a completion whose token is of node.PartLease. What could not be
// written is as if it had never arrived: nobody is told.
func (r *Registers) Stored(env node.Env, in *node.Input) {
	w := &r.writes
	if !w.busy || in.Token != node.TokenOf(node.PartLease, w.sent) {
		node.Bug("lease: store token %d completes, %d is open", in.Token, node.TokenOf(node.PartLease, w.sent))
	}
	w.busy = false
	open, then := w.open, w.opened
	w.opened = nil
	r.judgeDisk(env, in.Err)
	if in.Err != nil {
		r.unsaved = true // if the mark was among it
		if r.joining != nil && r.joining.storing {
			r.abandonJoin(env, in.Err)
		}
	}
	for i := range open {
		open[i].reg.writing = false
		if in.Err == nil {
			r.commit(env, &open[i])
		}
	}
	clear(w.open)
	w.open = w.open[:0]
	for _, f := range then {
		f(env, in.Err)
	}
	waiting := w.waiting
	w.waiting = nil
	clear(w.places)
	for _, q := range waiting {
		if q.prepare != nil {
			r.onPrepare(env, q.from, q.prepare)
		} else {
			r.onAccept(env, q.from, q.accept)
		}
	}
	if in.Err == nil || len(w.erase) == 0 {
		r.wakeWrite(env)
	}
}

func (r *Registers) judgeDisk(env node.Env, err error) {
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

// commit makes a change the register's state and answers whoever asked for it.
func (r *Registers) commit(env node.Env, ch *change) {
	reg := ch.reg
	if ch.forget {
		r.drop(reg)
		return
	}
	reg.promised, reg.promiser, reg.accepted = ch.promised, ch.promiser, ch.accepted
	reg.reaped, reg.received = ch.reaped, ch.received
	if reg.accepted.Released {
		reg.missed = nil
	}
	r.watchOver(env, reg)
	if !ch.answer {
		return
	}
	env.Emit(event.AcceptorWrote{Group: r.c.Group, Job: reg.job, Promised: reg.promised, Token: reg.accepted.Token, Seq: reg.accepted.Seq})
	if ch.promise {
		r.sendPromise(env, ch.from, message.LeasePromise{Job: reg.job, Token: ch.promised, Life: ch.promiser, Accepted: reg.accepted})
		return
	}
	r.sendAccepted(env, ch.from, message.LeaseAccepted{Job: reg.job, Token: ch.promised, Life: ch.promiser, Seq: ch.accepted.Seq})
}

func (r *Registers) key(name string) string { return "lease/" + r.c.Group + "/" + name }

func (r *Registers) keyOf(job message.JobID) string { return r.key("register/" + job.String()) }

func (r *Registers) recordOf(ch *change) node.Record {
	key := r.keyOf(ch.reg.job)
	if ch.forget {
		return node.Record{Key: key}
	}
	m := message.LeaseRegister{Job: ch.reg.job, Promised: ch.promised, Life: ch.promiser, Accepted: ch.accepted, Reaped: ch.reaped}
	value, err := m.MarshalMsg(nil)
	if err != nil {
		node.Bug("lease: a register that cannot be written: %v", err)
	}
	return node.Record{Key: key, Value: value}
}

// mark is what makes a disk a member's.
type mark struct {
	Standing standing `json:"standing"`
	Epoch    uint64   `json:"epoch,omitempty"`
	Gens     []uint64 `json:"generations"`
	Members  []string `json:"members"`
}

func (r *Registers) encodeMark() []byte {
	value, err := json.Marshal(mark{Standing: r.target, Epoch: r.epoch, Gens: r.gens, Members: r.names})
	if err != nil {
		node.Bug("lease: a mark that cannot be written: %v", err)
	}
	return value
}

// load reads what the disk has; an error says that it cannot be trusted.
func (r *Registers) load(env node.Env) (m mark, found bool, err error) {
	records := env.Store().Load(r.key(""))
	for _, rec := range records {
		r.writes.keys = append(r.writes.keys, rec.Key)
	}
	for _, rec := range records {
		name := strings.TrimPrefix(rec.Key, r.key(""))
		if name == "member" {
			found = true
			if err = json.Unmarshal(rec.Value, &m); err != nil {
				return m, found, fmt.Errorf("read the mark of %s: %w", r.c.Group, err)
			}
			continue
		}
		var s message.LeaseRegister
		if rest, err := s.UnmarshalMsg(rec.Value); err != nil || len(rest) != 0 || r.keyOf(s.Job) != rec.Key {
			return m, found, fmt.Errorf("read %s: %d bytes left over, %w", rec.Key, len(rest), err)
		}
		reg := r.at(s.Job)
		reg.promised, reg.promiser, reg.accepted, reg.reaped = s.Promised, s.Life, s.Accepted, s.Reaped
		reg.received = env.Now()
		reg.seen = max(s.Promised.Epoch, s.Accepted.Token.Epoch)
	}
	return m, found, nil
}
