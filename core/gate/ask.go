package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/result"
	"hyperscale/core/lease"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// desk answers clients.
type desk struct {
	roster
	lookups   *audience.Lookups
	questions uint64 // numbers the reads of majorities for looked-up jobs
}

// onAsk answers about a job that this gate owns or has seen end, and looks up every other job.
func (m *desk) onAsk(env node.Env, id message.JobID, a *audience.Ask) {
	if j := m.jobs[id]; j != nil {
		m.askJob(env, j, a)
		return
	}
	m.look(env, id, a)
}

// askJob answers at once if the job is ready, else it queues the request. While a write is
// open, a status could be older than what a majority has.
func (m *desk) askJob(env node.Env, j *entry, a *audience.Ask) {
	switch {
	case j.Ready && (a.What != audience.Status || m.ledger.Idle(j.ID) || j.Shown.Terminal()):
		m.serve(env, j, a)
	case !j.waiting.Add(a, m.config.WaitersMax):
		reached(env, "gate/waiters-full")
		env.Emit(event.Shed{Reason: event.ShedBound, What: "request", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, fmt.Sprintf("%d requests wait for this job", j.waiting.Asks()))
	}
}

// serveAll answers the requests that waited for a job.
func (m *desk) serveAll(env node.Env, j *entry) {
	for _, a := range j.waiting.TakeAsks() {
		m.askJob(env, j, a)
	}
}

// serve answers from what a majority has. Every gate may answer about an ended job; only the
// owner may answer about others.
func (m *desk) serve(env node.Env, j *entry, a *audience.Ask) {
	if !j.Shown.Terminal() && !m.holds(env, j) {
		m.refuseOwner(env, a.Stream, a.Request, j.ID, "")
		return
	}
	switch a.What {
	case audience.Submit:
		if a.Digest != j.Digest {
			refuse(env, a.Stream, a.Request, message.CodeKeyMismatch, keyOf(j)+" belongs to another payload")
			return
		}
		env.Send(a.Stream, &message.JobAck{Request: a.Request, Job: j.ID, Duplicate: a.Again})
	case audience.Status:
		status := m.status(env, j)
		status.Request = a.Request
		if q := a.Detail; q != nil {
			var faulty message.Code
			if status.Datacenters, status.More, faulty = result.Detail(m.reports(j), q); faulty != message.CodeNone {
				refuse(env, a.Stream, a.Request, faulty, fmt.Sprintf("job %v has no figures of datacenter %q, workflow %q", j.ID, q.Datacenter, q.Workflow))
				return
			}
		}
		env.Send(a.Stream, status)
	case audience.Watch:
		m.follow(env, j, a)
	case audience.Cancel:
		if m.owns(env, j, a) {
			m.cancel(env, j, a)
		}
	case audience.Replay:
		if m.owns(env, j, a) {
			m.replay(env, j, a)
		}
	}
}

// keyOf names a job's key; the gate does not remember the text of one that it has buried.
func keyOf(j *entry) string {
	if j.Buried() {
		return "the key of job " + j.ID.String()
	}
	return fmt.Sprintf("key %q", j.Key)
}

// look finds out, for a job that this gate does not own, who owns it or how it ended.
func (m *desk) look(env node.Env, id message.JobID, a *audience.Ask) {
	if m.elsewhere(env, id, a) {
		return
	}
	room, first := m.lookups.Room(id)
	switch {
	case !room:
		reached(env, "gate/lookups-full")
		env.Emit(event.Shed{Reason: event.ShedBound, What: "request", Why: "too many jobs are looked up"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, fmt.Sprintf("%d jobs are looked up", m.lookups.Len()))
		return
	case first && m.circuitRefuses(env, a):
		return
	case first:
		m.questions++
		m.lookups.Open(id, m.questions)
		m.group.Leases.Read(env, id, m.questions)
	}
	m.lookups.Add(id, a)
}

// elsewhere answers from this gate's own acceptor, where the answer stays true: an end is
// final, and a former owner redirects the client.
func (m *desk) elsewhere(env node.Env, id message.JobID, a *audience.Ask) bool {
	if to, ok := m.moved[id]; ok {
		m.refuseOwner(env, a.Stream, a.Request, id, to)
		return true
	}
	seen, ok := m.group.Leases.Seen(env.Now(), id)
	if !ok {
		return false
	}
	if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
		a.Again = true
		m.askJob(env, j, a)
		return true
	}
	if seen.Left > 0 && !seen.Released && seen.Holder != env.Self().Addr && m.group.Alive(seen.Holder) {
		m.refuseOwner(env, a.Stream, a.Request, id, seen.Holder)
		return true
	}
	return false
}

// onRead answers the requests for a job with what a majority returned.
func (m *desk) onRead(env node.Env, o lease.Outcome) {
	asks, ok := m.lookups.Take(o.Job, o.Ticket)
	if !ok {
		return
	}
	switch {
	case o.Err != nil && o.Holder == "":
		m.majorityFailed(env)
		m.refuseQuorum(env, asks, o.Err)
		return
	case o.Err == nil:
		m.majorityWorked(env)
	}
	if j := m.jobs[o.Job]; j != nil { // the gate took it over during the read
		for _, a := range asks {
			m.askJob(env, j, a)
		}
		return
	}
	j := m.see(env, o.Job, o.State.Token, o.Found && o.State.Released, o.State.Record)
	for _, a := range asks {
		switch {
		case j != nil:
			m.askJob(env, j, a)
		case o.Err == nil && !o.Found:
			refuse(env, a.Stream, a.Request, message.CodeUnknownJob, "job "+o.Job.String())
		default:
			m.refuseOwner(env, a.Stream, a.Request, o.Job, m.holderOf(env, o))
		}
	}
}

// holderOf returns the gate that clients should ask about a job that was read. It returns "" if
// that is this gate, which no longer owns the job.
func (m *desk) holderOf(env node.Env, o lease.Outcome) node.Addr {
	holder := o.Holder
	if holder == "" {
		holder = m.group.Leases.Address(o.State.Token)
	}
	if holder == env.Self().Addr {
		return ""
	}
	return holder
}

// jobsListed bounds a list of jobs.
const jobsListed = 100

// onStatusQuery lists all nodes and the newest jobs.
func (m *desk) onStatusQuery(env node.Env, in *node.Input, q *message.StatusQuery) {
	now := env.Now()
	list := &message.StatusList{Request: q.Request, Nodes: m.places.Nodes(now)}
	var jobs []*entry
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if j.Ready {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Turn.Number, a.Turn.Number), a.ID.Compare(b.ID))
	})
	for _, j := range jobs[:min(len(jobs), jobsListed)] {
		list.Jobs = append(list.Jobs, m.line(env, j))
	}
	env.Send(in.Stream, list)
}

// Bounds of a page of jobs: it fits a frame.
const (
	jobsPage  = 512
	pageBytes = message.FrameMax / 2
	lineBytes = 256 // of a job without its name and datacenters, at most
)

// onJobListQuery lists jobs from this gate's acceptor and memory, without asking a majority. An
// acknowledged job is on a majority of acceptors, so that the lists of any majority contain it.
func (m *desk) onJobListQuery(env node.Env, in *node.Input, q *message.JobListQuery) {
	if !m.group.Leases.Speaks() {
		refuse(env, in.Stream, q.Request, message.CodeNotMember, "its acceptor does not know all jobs yet")
		return
	}
	list := &message.JobList{Request: q.Request, Gate: string(env.Self().ID), Addr: string(env.Self().Addr)}
	bytes := 0
	for _, id := range m.listed(q.After) {
		letter, dead := m.letterOf(env, id)
		if q.Dead && !dead {
			continue
		}
		info := m.lineOf(env, id)
		bytes += lineBytes + len(info.Name)
		for _, name := range info.Datacenters {
			bytes += lineBytes/16 + len(name)
		}
		if dead {
			bytes += lineBytes + len(letter.Key) + len(letter.Reason)
		}
		if n := len(list.Jobs); n == jobsPage || n > 0 && bytes > pageBytes {
			list.More = true
			break
		}
		list.Jobs = append(list.Jobs, info)
		if dead {
			list.Letters = append(list.Letters, letter)
		}
	}
	env.Send(in.Stream, list)
}

// onBackupQuery sends a page of this gate's registers, or bytes of a file, as its disk has them. A
// gate answers nothing before it is durable, so that the pages of a majority have all that was
// acknowledged before the first one. A page is a request like a list, and renewals pass it.
func (m *desk) onBackupQuery(env node.Env, in *node.Input, q *message.BackupQuery) {
	epoch, speaks := m.group.Leases.Epoch()
	if !speaks {
		refuse(env, in.Stream, q.Request, message.CodeNotMember, "its acceptor does not know all jobs yet")
		return
	}
	page := &message.BackupPage{
		Request: q.Request, Gate: string(env.Self().ID), Addr: string(env.Self().Addr), Members: texts(m.group.Members()), Epoch: epoch, Floor: m.group.Leases.Floor(), Level: m.group.Leases.Level(),
	}
	if q.File == (message.FileDigest{}) {
		page.Registers, page.More = m.group.Leases.Page(q.After, jobsPage, pageBytes)
	} else if b, ok := m.group.Files.Kept(q.File); ok && q.Offset < uint64(len(b)) {
		end := min(q.Offset+pageBytes, uint64(len(b)))
		page.Length, page.Data, page.More = uint64(len(b)), b[q.Offset:end:end], end < uint64(len(b))
	}
	env.Send(in.Stream, page)
}

// listed returns, sorted, the jobs after one that this gate's acceptor or memory knows.
func (m *desk) listed(after message.JobID) []message.JobID {
	ids := m.group.Leases.Known()
	//lint:orderfree sorted below
	for id, j := range m.jobs {
		if j.Ready {
			ids = append(ids, id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id message.JobID) bool { return id.Compare(after) <= 0 })
	slices.SortFunc(ids, message.JobID.Compare)
	return slices.Compact(ids)
}

// lineOf is a job as a list shows it: from memory, or from its record where another gate has
// written that since.
func (m *desk) lineOf(env node.Env, id message.JobID) message.JobInfo {
	j := m.jobs[id]
	seen, ok := m.group.Leases.Seen(env.Now(), id)
	if j != nil && j.Ready && (!ok || j.Shown.Terminal() || !j.Token.Less(seen.Token)) {
		return m.line(env, j)
	}
	age := env.Now().Sub(m.group.Leases.Written(env.Now(), id, seen.Record))
	return job.RecordLine(id, seen.Record, seen.Token, seen.Released, age)
}

// line is a job of this gate's memory.
func (m *desk) line(env node.Env, j *entry) message.JobInfo {
	return j.Line(env.Now(), m.holds(env, j))
}

// letterOf describes a dead letter, from memory or from its record. It returns false for other
// jobs.
func (m *desk) letterOf(env node.Env, id message.JobID) (message.LetterInfo, bool) {
	now := env.Now()
	if j := m.jobs[id]; j != nil && j.Ready {
		if !j.Shown.Terminal() || !j.Letter.Is() {
			return message.LetterInfo{}, false
		}
		return job.Listed(&j.Job, now.Sub(j.Ended)), true
	}
	seen, ok := m.group.Leases.Seen(now, id)
	if !ok || !seen.Released {
		return message.LetterInfo{}, false
	}
	return job.RecordLetter(id, seen.Record, now.Sub(m.group.Leases.Written(now, id, seen.Record)))
}

// replay submits the program of a dead letter under a new key. The gate reads it from its own disk,
// or fetches it.
func (m *desk) replay(env node.Env, j *entry, a *audience.Ask) {
	program := j.Letter.Program
	switch {
	case !j.Shown.Terminal():
		refuse(env, a.Stream, a.Request, message.CodeNoLetter, fmt.Sprintf("job %v is %v", j.ID, j.Shown))
		return
	case !j.Letter.Is():
		refuse(env, a.Stream, a.Request, message.CodeNoLetter, fmt.Sprintf("job %v ended %v, or its program is no longer kept", j.ID, j.Shown))
		return
	}
	if b, ok := m.group.Files.Have(program); ok {
		m.submitAgain(env, j, a, b)
		return
	}
	if j.Loading > 0 {
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeOverloaded, "a file of job "+j.ID.String()+" is on its way to this gate")
		return
	}
	reached(env, "gate/letter-borrowed")
	j.Loading = 1
	m.ledger.Borrow(env, j.ID, program, tag{act: actReplay, job: j, ask: a})
}

// onLetterHere goes on with a replay once its program is here.
func (m *desk) onLetterHere(env node.Env, j *entry, o *ledger.Outcome[tag]) {
	j.Loading = 0
	a := o.Tag.ask
	switch {
	case errors.Is(o.Err, archive.ErrMissing):
		refuse(env, a.Stream, a.Request, message.CodeNoLetter, fmt.Sprintf("no gate has the program of job %v", j.ID))
		m.bury(env, &j.Job) // the letter made room at the others: a list names it no longer
	case o.Err != nil:
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeQuorumUnavailable, "the program cannot be read: "+o.Err.Error())
	default:
		m.submitAgain(env, j, a, o.Bytes)
	}
}

// submitAgain handles a dead letter's submission as if a client sent it, under the replay's key: one
// number is one job, however often and at whichever gates it is replayed.
func (m *desk) submitAgain(env node.Env, j *entry, a *audience.Ask, file []byte) {
	s, err := decoded[*message.JobSubmit](file)
	if err != nil {
		refuse(env, a.Stream, a.Request, message.CodeNoLetter, fmt.Sprintf("read the program of job %v: %v", j.ID, err))
		return
	}
	grant := a.Grant
	if j.Owner != "" {
		grant.Subject = j.Owner // an operator replays it for its owner
	}
	again := *s
	again.Request, again.Key = a.Request, message.ReplayKey(j.ID, a.Number)
	m.onSubmit(env, &node.Input{
		Kind: node.InputMessage, Stream: a.Stream, Message: &again, From: node.Peer{ID: a.From, Role: node.RoleClient, Source: a.Source, Grant: grant},
	}, &again)
}
