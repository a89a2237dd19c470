package gate

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
	"hyperscale/core/plan"
)

// onSubmit answers for a known key, redirects to another owner, and otherwise starts to acquire
// the job. Two gates that get the same key compete for one register; the loser redirects its
// clients. A gate without room refuses before it reads the plan, which costs more than the
// refusal.
func (m *desk) onSubmit(env node.Env, in *node.Input, s *message.JobSubmit) {
	id := message.JobOf(s.Key)
	a := &audience.Ask{What: audience.Submit, Stream: in.Stream, Request: s.Request, From: in.From.ID, Grant: in.From.Grant}
	if m.answersFor(env, id, s, a) {
		return
	}
	if m.retiring() {
		m.refuseForRoom(env, in.Stream, s.Request, message.CodeDraining, "gate "+string(env.Self().ID)+" takes no new jobs")
		return
	}
	holder := queue.Holder{Source: in.From.Source, Subject: message.CallerOf(s.Key)}
	code, detail := m.room(env, holder, s.Rank, s.Size())
	if code != message.CodeNone {
		env.Emit(event.ShedOf(s, in.From.Role, event.ShedFor(code), "submit", detail))
	} else if code, detail = m.config.check(s); code == message.CodeNone {
		code, detail = m.checkPlaces(env, s)
	}
	switch {
	case code == message.CodeNotMember:
		env.Send(in.Stream, &message.Refused{Request: s.Request, Code: code, Detail: detail, RetryAfter: appointed(env, m.young(env))})
	case code.Retryable():
		m.refuseForRoom(env, in.Stream, s.Request, code, detail)
	case code != message.CodeNone:
		refuse(env, in.Stream, s.Request, code, detail)
	case !m.circuitRefuses(env, a):
		a.Digest = payload(s)
		m.accept(env, s, holder, a)
	}
}

// answersFor answers for a job that this gate or another has accepted.
func (m *desk) answersFor(env node.Env, id message.JobID, s *message.JobSubmit, a *audience.Ask) bool {
	if j := m.jobs[id]; j != nil {
		a.Again, a.Digest = true, payload(s)
		m.askJob(env, j, a)
		return true
	}
	_, moved := m.moved[id]
	if _, seen := m.group.Leases.Seen(env.Now(), id); !moved && !seen {
		return false
	}
	a.Digest = payload(s)
	return m.elsewhere(env, id, a)
}

// payload is the digest of all fields that make two submissions equal.
func payload(s *message.JobSubmit) uint64 {
	same := *s
	same.Request, same.Key, same.Sent = message.RequestID{}, "", 0
	return same.Digest()
}

// checkPlaces says whether the gate knows the datacenters that the job names, or, if it names
// none, any datacenter. A manager registers within a grace, so the answer of a gate that has
// started within it is not final.
func (m *desk) checkPlaces(env node.Env, s *message.JobSubmit) (message.Code, string) {
	known := m.places.Names()
	if len(known) == 0 && (m.hearing == unsure || !m.group.Leases.Speaks()) && len(m.group.Members()) > 1 {
		return message.CodeNotMember, "it has started a moment ago, or joins its group, and no manager has registered yet"
	}
	for _, name := range slices.Concat(s.Datacenters, s.Preferred) {
		if m.places.Datacenter(name) == nil {
			list := "none is known yet"
			if len(known) > 0 {
				list = "known are " + strings.Join(known, ", ")
			}
			return m.unknownPlace(env, fmt.Sprintf("datacenter %q: %s", name, list))
		}
	}
	if int64(s.Count) > int64(len(known)) && len(known) > 0 {
		return m.unknownPlace(env, fmt.Sprintf("count = %d: %d are known, %s", s.Count, len(known), strings.Join(known, ", ")))
	}
	if len(known) == 0 {
		return message.CodeNoDatacenter, "no manager has registered with this gate"
	}
	return message.CodeNone, ""
}

// young is how long managers may yet take to connect to a gate that has just started.
func (m *desk) young(env node.Env) time.Duration {
	return max(0, m.config.grace()-env.Now().Sub(m.began))
}

func (m *desk) unknownPlace(env node.Env, what string) (message.Code, string) {
	if m.young(env) > 0 {
		reached(env, "gate/hears-still")
		return message.CodeNotMember, what + ", and this gate has just started: managers may yet connect"
	}
	return message.CodeUnknownDatacenter, what
}

// room says whether the gate has room for one more job.
func (m *desk) room(env node.Env, h queue.Holder, rank message.Rank, size int) (message.Code, string) {
	if m.storeFailed {
		reached(env, "gate/disk-full")
		return message.CodeStoreFull, "the gate's disk refuses writes"
	}
	m.measure(env, false)
	if n, most := m.queue.Len()+m.accepting, m.config.places(rank); n >= most {
		reached(env, "gate/queue-full")
		return message.CodeQueueFull, fmt.Sprintf("%d jobs wait, the bound for jobs of %v importance is %d of gate.queue_max = %d", n, rank, most, m.config.QueueMax)
	} else if no := m.spent(env, queue.Holder{Source: h.Source}, most); no != "" {
		return message.CodeRateLimited, no
	} else if no := m.spent(env, h, most); no != "" {
		return message.CodeRateLimited, no
	}
	if m.specBytes+size > m.config.SpecBytesMax {
		reached(env, "gate/programs-full")
		return message.CodeQueueFull, fmt.Sprintf("the programs of unfinished jobs take %d bytes, the bound is gate.spec_bytes_max = %d", m.specBytes, m.config.SpecBytesMax)
	}
	if !m.archiveRoom(env, size) {
		reached(env, "gate/archive-full")
		return message.CodeQueueFull, m.archiveFull()
	}
	if n, most := m.group.Leases.Buried(); n >= most && m.history.Len() > 0 && len(m.jobs) >= m.config.JobsMax {
		reached(env, "gate/keys-full")
		return message.CodeQueueFull, fmt.Sprintf("%d keys are remembered for gate.key_age = %v, the bound is gate.keys_max = %d: raise it, or shorten gate.key_age", n, m.config.KeyAge, most)
	}
	if !m.makeRoom(env) {
		return message.CodeQueueFull, fmt.Sprintf("%d jobs are not ended, the bound is gate.jobs_max = %d", len(m.jobs), m.config.JobsMax)
	}
	return message.CodeNone, ""
}

// spent says that a holder has its share of the queue's places; empty: it has room.
func (m *desk) spent(env node.Env, h queue.Holder, places int) string {
	held, share := m.crowd.Held(h), m.crowd.Share(h, places)
	if held < share {
		return ""
	}
	reached(env, "gate/share-spent")
	return fmt.Sprintf("%d jobs of %v wait, %d are its share of the queue's %d places", held, h, share, places)
}

// places is how many jobs may wait when one of a rank is accepted. A flood of less important
// jobs leaves room for more important ones.
func (c *Config) places(r message.Rank) int {
	switch r {
	case message.RankCritical:
		return c.QueueMax + (c.QueueMax+9)/10
	case message.RankLow:
		return (4*c.QueueMax + 4) / 5
	case message.RankBackground:
		return (c.QueueMax + 1) / 2
	case message.RankMedium, message.RankHigh:
	}
	return c.QueueMax
}

// archiveRoom says whether a program of a size finds room among the files. Dead letters make
// room, the oldest first: a job that failed does not keep another one out.
func (m *desk) archiveRoom(env node.Env, size int) bool {
	for {
		files, bytes := m.group.Files.Used()
		if files < m.config.FilesMax-m.config.ResultsMax && bytes+int64(size) <= int64(m.config.FileBytesMax-m.config.ResultBytesMax) {
			return true
		}
		j := m.history.Letter()
		if j == nil {
			return false
		}
		reached(env, "gate/letter-makes-room")
		m.bury(env, j)
	}
}

// archiveFull names the bound of the archive that rejects one more program.
func (m *base) archiveFull() string {
	files, bytes := m.group.Files.Used()
	if files >= m.config.FilesMax-m.config.ResultsMax {
		return fmt.Sprintf("%d files are kept, the bound is gate.files_max = %d less gate.results_max = %d, which results need: raise the first, or lower the second",
			files, m.config.FilesMax, m.config.ResultsMax)
	}
	return fmt.Sprintf("files of %d bytes are kept, the bound is gate.file_bytes_max = %d less gate.result_bytes_max = %d, which results need: raise the first, or lower the second",
		bytes, m.config.FileBytesMax, m.config.ResultBytesMax)
}

// accept proposes the job's first record. The job stays PENDING until a majority has it.
// Another submission of the same key waits together with the first.
func (m *desk) accept(env node.Env, s *message.JobSubmit, holder queue.Holder, a *audience.Ask) {
	m.number++
	id := message.JobOf(s.Key)
	kept := *s
	kept.Request = message.RequestID{Counter: 1} // the record does not need the request's ID
	file := encoded(&kept)
	j := &entry{Job: job.Job{
		ID: id, Key: s.Key, Digest: a.Digest, Name: s.Name,
		Turn:     queue.Turn{Job: id, Number: m.number, Named: sortedNames(s.Datacenters)},
		Program:  job.Program{Spec: s, SpecSize: s.Size(), SpecFile: archive.DigestOf(file), RunTimeout: m.config.runTimeout(s), Owner: a.Grant.Subject},
		Times:    job.Times{Born: env.Now()},
		Sequence: env.Self().Incarnation << 32,
	}}
	sinks, _ := output.Chosen(m.config.Sinks, s.Outputs.List, s.Sent) // check has read them
	j.Rows = job.RowsOf(id, s, sinks)
	j.holder = holder
	m.crowd.Enter(holder)
	j.waiting.Put([]*audience.Ask{a})
	m.jobs[j.ID] = j
	m.specBytes += j.SpecSize
	m.accepting++
	j.Become(message.JobSubmitted, "")
	j.Become(message.JobQueued, "")
	env.SetTimer(node.KeyID(node.PartGate, node.GateJob, j.ID), m.config.QuorumTimeout)
	m.ledger.Claim(j.ID)
	m.save(env, j, tag{}, file)
}

// Bounds of a submission's fields other than its plan and its program.
const (
	keyMax     = 128
	nameMax    = 256
	frameSlack = 16 << 10 // the difference between a submission and the messages that contain it
)

// check rejects what no cluster could run, and names all faults at once. It trusts nothing:
// another version of the compiler may have made the plan.
func (c *Config) check(s *message.JobSubmit) (message.Code, string) {
	total := 0
	for _, f := range s.Program.Files {
		total += len(f.Data)
	}
	if total > c.ProgramBytesMax {
		return message.CodeTooLarge, fmt.Sprintf("bytes of program.files = %d must be at most gate.program_bytes_max = %d: keep data out of the files, or raise the setting, up to %d", total, c.ProgramBytesMax, programBytesMax)
	}
	if n := s.Size(); n > message.FrameMax-frameSlack {
		return message.CodeTooLarge, fmt.Sprintf("bytes of the submission = %d must be at most %d: declare fewer steps, params and feeds", n, message.FrameMax-frameSlack)
	}
	faults := slices.Concat(c.checkSubmit(s), queue.CheckWish(s, c.DatacentersMax), plan.CheckProgram(&s.Program), plan.Check(&s.Plan))
	if len(faults) == 0 {
		faults = c.checkRun(s)
	}
	if len(faults) > 0 {
		return message.CodeBadPlan, plan.Text(faults)
	}
	if _, err := output.Chosen(c.Sinks, s.Outputs.List, s.Sent); err != nil {
		return message.CodeUnknownSink, err.Error()
	}
	return message.CodeNone, ""
}

// checkSubmit checks a submission's fields other than its plan and its program.
func (c *Config) checkSubmit(s *message.JobSubmit) (faults []plan.Fault) {
	add := func(key, value, bound, remedy string) {
		faults = append(faults, plan.Fault{Key: key, Value: value, Bound: bound, Remedy: remedy})
	}
	if s.Key == "" || len(s.Key) > keyMax || !utf8.ValidString(s.Key) {
		add("key", fmt.Sprintf("%.64q", s.Key), fmt.Sprintf("be UTF-8 of 1 to %d bytes", keyMax), "give the job another key")
	}
	if len(s.Name) > nameMax || !utf8.ValidString(s.Name) {
		add("name", fmt.Sprintf("%.64q", s.Name), fmt.Sprintf("be UTF-8 of at most %d bytes", nameMax), "give the job another name")
	}
	if n := len(s.Datacenters); n > c.DatacentersMax {
		add("datacenters", fmt.Sprint(n), fmt.Sprintf("be at most gate.datacenters_max = %d", c.DatacentersMax), "name fewer, or raise the setting")
	} else {
		names := sortedNames(s.Datacenters)
		for i, name := range names {
			if !places.Name(name) {
				add("datacenters", fmt.Sprintf("%.64q", name), fmt.Sprintf("be 1 to %d letters, digits, dots, _ and -", places.NameMax), "write it as --datacenter of its managers does")
			}
			if i > 0 && names[i-1] == name {
				add("datacenters", fmt.Sprintf("%.64q", name), "be named once", "take it out")
			}
		}
	}
	if n := len(s.Program.Secrets); n > 0 && c.Exposed {
		add("program.secrets", fmt.Sprint(n), "be 0 while the gates listen beyond this machine without a cluster secret, as frames are not encrypted", "start all nodes with --cluster-secret, or use `hyperscale run`, or a cluster that listens on 127.0.0.1")
	}
	if s.RunTimeout < 0 || s.RunTimeout > c.RunTimeoutMax {
		add("run_timeout", fmt.Sprint(s.RunTimeout), fmt.Sprintf("be 0s to gate.run_timeout_max = %v", c.RunTimeoutMax), "shorten it, or raise the setting")
	}
	if int(s.Rank) >= len(message.Ranks()) {
		add("rank", fmt.Sprint(uint8(s.Rank)), fmt.Sprintf("be 0 to %d", len(message.Ranks())-1), "name an importance that this version knows: "+strings.Join(message.Ranks(), ", "))
	}
	if s.Deadline < 0 || s.Deadline > c.QueueAgeMax {
		add("deadline", fmt.Sprint(s.Deadline), fmt.Sprintf("be 0s to gate.queue_age_max = %v", c.QueueAgeMax), "shorten it, or raise the setting: no job waits for longer")
	}
	return faults
}

// checkRun rejects a plan whose workflows last longer than this gate allows. It does not cut
// the run short.
func (c *Config) checkRun(s *message.JobSubmit) []plan.Fault {
	d := plan.Longest(&s.Plan, plan.Lasts)
	if most := c.RunTimeoutMax - c.RunTimeoutExtra; s.RunTimeout == 0 && d > most {
		return []plan.Fault{{
			Key: "duration of all layers", Value: fmt.Sprint(d),
			Bound:  fmt.Sprintf("be at most gate.run_timeout_max - gate.run_timeout_extra = %v", most),
			Remedy: "shorten the workflows, or raise gate.run_timeout_max",
		}}
	}
	return nil
}

func sortedNames(names []string) []string { return slices.Sorted(slices.Values(names)) }

// runTimeout returns the requested timeout, or the span of the longest chain of workflows plus
// RunTimeoutExtra. For a workflow without a duration it counts a timeout for each layer of
// steps.
func (c *Config) runTimeout(s *message.JobSubmit) time.Duration {
	if s.RunTimeout > 0 {
		return s.RunTimeout
	}
	return min(c.RunTimeoutExtra+plan.Longest(&s.Plan, span), c.RunTimeoutMax)
}

// iterationTime bounds how long one iteration takes, including the pause after it.
func iterationTime(w *message.WorkflowPlan) time.Duration {
	const bound = 1 << 60 // far below an overflow
	var last time.Duration
	for k := range w.Steps {
		last = min(bound, max(last, time.Duration(w.Steps[k].Layer+1)*min(w.Timeout, bound/(plan.StepsMax+1))))
	}
	return min(bound, max(last+max(w.Think, w.ThinkMax), w.Pace))
}

// span bounds how long a workflow runs: its duration plus a timeout or its graceful stop. For a
// workflow without a duration it is the time of its iterations.
func span(w *message.WorkflowPlan) time.Duration {
	const bound = 1 << 60
	if w.Duration > 0 {
		return min(bound, plan.Lasts(w)+max(w.Timeout, w.GracefulStop))
	}
	iterations := uint64(1)
	if w.Iterations > 0 { // cores with few users share few iterations, so the shares may differ by one
		iterations = w.Iterations/max(w.VUs, 1) + 2
	}
	hi, lo := bits.Mul64(iterations, uint64(iterationTime(w)))
	if hi > 0 || lo > bound {
		return bound
	}
	return min(bound, time.Duration(lo)+w.StartDelay+w.Jitter)
}
