package gate

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/ledger"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/output"
)

// rowsRetry is between two looks at what a sink, or the archive, did not take.
const rowsRetry = 5 * time.Second

// courier brings the rows of the jobs that this gate owns to their sinks. It makes a batch durable before its host
// tries it: its file on a majority, then the record that names the file.
type courier struct {
	publisher
	delivery   node.DeliveryID // the newest
	deliveries map[node.DeliveryID]*entry
}

// cutRows makes the rows that the newest reports complete.
func (m *courier) cutRows(env node.Env, j *entry) {
	elapsed := j.ElapsedAt(env.Now())
	if j.State.Terminal() || !j.Rows.Due(elapsed) {
		return
	}
	status := loadOf(j, env.Now())
	for _, p := range j.Subjobs {
		status.Datacenters = append(status.Datacenters, p.Shown())
	}
	for i, s := range j.Rows.Streams {
		s.Cut(status)
		m.batch(env, j, i)
	}
}

// batch keeps the next batch of a stream on a majority, if there is one, and the archive has room for it.
func (m *courier) batch(env node.Env, j *entry, i int) {
	s := j.Rows.Streams[i]
	if !m.roomForRows() {
		reached(env, "gate/no-room-for-rows")
		m.lookAgain(env, j)
		return
	}
	failed := s.Failed()
	if file, ok := s.Next(); ok {
		m.ledger.Keep(env, j.ID, file, tag{act: actRows, job: j, stream: s, stage: output.Keeping})
	} else if s.Failed() != failed {
		if r := m.ended(j); r != nil && j.Rows.Delivering {
			s.Finish(r) // it counts what the sink lacks: nothing else comes that would
		}
		m.saveRows(env, j, s)
	}
}

// roomForRows says whether the archive has room for a batch beside results and programs.
func (m *courier) roomForRows() bool {
	files, bytes := m.group.Files.Used()
	return files < m.config.FilesMax-m.config.ResultsMax && bytes+output.BatchMax <= int64(m.config.FileBytesMax-m.config.ResultBytesMax)
}

func (m *courier) saveRows(env node.Env, j *entry, s *output.Stream) {
	m.save(env, j, tag{act: actRows, stream: s, stage: s.Stage()})
}

// onRowsKept persists the record that names a batch which a majority keeps.
func (m *courier) onRowsKept(env node.Env, o *ledger.Outcome[tag]) {
	j, s := o.Tag.job, o.Tag.stream
	switch {
	case m.jobs[j.ID] != j:
	case o.Kind == ledger.Refused:
		s.Refused()
		m.lookAgain(env, j)
	default:
		s.Kept(o.File)
		m.saveRows(env, j, s)
	}
}

// rowsSaved acts on a record that a majority has: the batch that it names goes to its sink, or the stream has ended.
func (m *courier) rowsSaved(env node.Env, j *entry, t *tag) {
	if s := t.stream; s.Stage() == t.stage {
		if free := s.Saved(); free != (message.FileDigest{}) {
			m.group.Files.Drop(env, free)
		}
		if s.Over() {
			reportSink(env, j, s, false)
		}
	}
	m.deliverRows(env, j)
}

func reportSink(env node.Env, j *entry, s *output.Stream, again bool) {
	r := s.Report(j.Elapsed)
	env.Emit(event.SinkEnded{Job: j.ID, Sink: r.Name, Delivered: r.Delivered, Rejected: r.Rejected, Lost: r.Lost, LostRequests: r.LostRequests, Twice: r.Twice, Failed: r.Failed, Again: again})
}

// deliverRows gives each batch to its sink that is on a majority and that its host does not have.
func (m *courier) deliverRows(env node.Env, j *entry) {
	for i, s := range j.Rows.Streams {
		if s.Stage() != output.Sending || j.Rows.Deliveries[i] != 0 {
			continue
		}
		m.delivery++
		j.Rows.Deliveries[i], m.deliveries[m.delivery] = m.delivery, j
		file, again := s.Batch()
		env.Outputs().Deliver(node.Delivery{ID: m.delivery, Sink: s.Sink, Batch: file, Again: again})
	}
	if j.Rows.Delivering && !j.Rows.Open() {
		m.release(env, j)
	}
}

// onDelivered takes a report of this gate's host.
func (m *courier) onDelivered(env node.Env, d *node.Delivered) {
	j := m.deliveries[d.ID]
	if j == nil {
		return // its job has another owner
	}
	for i, s := range j.Rows.Streams {
		if j.Rows.Deliveries[i] != d.ID {
			continue
		}
		if d.Verdict != node.DeliveryTrying {
			delete(m.deliveries, d.ID)
			j.Rows.Deliveries[i] = 0
		}
		if d.Verdict == node.DeliveryUnconfigured {
			reached(env, "gate/sink-unconfigured")
			m.lookAgain(env, j)
		}
		if s.Delivered(d, m.ended(j)) {
			m.saveRows(env, j, s)
		}
		m.batch(env, j, i)
	}
	m.pushLater(env, j)
}

// ended is the result of a job whose end is on a majority, or nil.
func (m *courier) ended(j *entry) *message.Result {
	if !j.Shown.Terminal() || !m.resultHere(j) {
		return nil
	}
	return &j.Result.Result
}

// finishRows makes the last rows of a job that has ended. It says whether the gate keeps the register until the sinks
// have them.
func (m *courier) finishRows(env node.Env, j *entry) bool {
	if !j.Rows.Open() {
		return false
	}
	if !j.Rows.Delivering {
		j.Rows.Delivering, j.Rows.Until = true, env.Now().Add(m.config.OutputTimeout)
	}
	r := m.ended(j)
	for i, s := range j.Rows.Streams {
		was := s.Stage()
		if r != nil {
			s.Finish(r)
		}
		if s.Stage() == output.Recording && was != output.Recording {
			m.saveRows(env, j, s)
		}
		m.batch(env, j, i)
	}
	m.lookAgain(env, j)
	return true
}

// resumeRows continues the streams of a job that this gate has taken over. It fetches the batches that the record
// names, and of an ended job the result.
func (m *courier) resumeRows(env node.Env, j *entry) bool {
	for _, s := range j.Rows.Streams {
		if s.Over() { // its former owner may have died before it could report that
			reportSink(env, j, s, true)
		}
	}
	if !j.Rows.Open() {
		return false
	}
	if j.State.Terminal() {
		m.ledger.Open(j.ID)
		j.Rows.Delivering, j.Rows.Until = true, env.Now().Add(m.config.OutputTimeout)
		if m.ended(j) == nil && j.ResultFile != (message.FileDigest{}) {
			m.ledger.Fetch(env, j.ID, j.ResultFile, tag{act: actRows, job: j})
		}
	}
	for _, s := range j.Rows.Streams {
		s.Own(j.Epoch)
		if s.Stage() == output.Loading {
			reached(env, "gate/rows-resumed")
			m.ledger.Fetch(env, j.ID, s.File(), tag{act: actRows, job: j, stream: s, stage: output.Loading})
		}
	}
	if j.State.Terminal() {
		m.finishRows(env, j)
	}
	return true
}

// onRowsHere takes a file that a majority kept for a former owner: a batch, or the result.
func (m *courier) onRowsHere(env node.Env, j *entry, o *ledger.Outcome[tag]) {
	s := o.Tag.stream
	switch {
	case o.Kind == ledger.Unread:
		m.retryLater(env)
		return
	case s == nil && o.Kind == ledger.Fetched:
		j.Result, _ = resultFrom(j, o.Bytes)
	case s == nil:
	case o.Kind == ledger.Gone || !s.Load(o.Bytes, j.Epoch):
		s.Abandon("the file of a batch is on no gate's disk any more: what it lacks is not known")
		m.saveRows(env, j, s)
	case s.Stage() == output.Saving:
		reached(env, "gate/batch-untried")
		m.saveRows(env, j, s)
	}
	if s == nil && j.Result == nil {
		for _, s := range j.Rows.Streams {
			if s.Stage() < output.Recording {
				s.Abandon("the job's result is on no gate's disk any more: what it lacks is not known")
				m.saveRows(env, j, s)
			}
		}
	}
	if j.Rows.Delivering {
		m.finishRows(env, j)
	}
	m.deliverRows(env, j)
}

// openSinks lists the sinks to which rows of a job go on, and says whether this gate lacks one of them.
func (m *courier) openSinks(j *entry) (lacks bool, names []string) {
	for _, s := range j.Rows.Streams {
		if s.Stage() < output.Recording && !s.Failed() {
			names = append(names, s.Sink)
			lacks = lacks || m.lacksSink(s)
		}
	}
	return lacks, names
}

func (m *courier) lacksSink(s *output.Stream) bool {
	return !slices.ContainsFunc(m.config.Sinks, func(o output.Sink) bool { return o.Name == s.Sink })
}

// settleRows persists what this gate knows of the newest batches of a job before another gate goes on with it. It returns
// true while no majority has that.
func (m *courier) settleRows(env node.Env, j *entry) (saves bool) {
	for _, s := range j.Rows.Streams {
		if s.Settle(m.lacksSink(s)) {
			m.saveRows(env, j, s)
			saves = true
		}
	}
	return saves
}

func (m *courier) lookAgain(env node.Env, j *entry) {
	env.SetTimer(node.KeyID(node.PartGate, node.GateRows, j.ID), rowsRetry)
}

// onRowsTimer tries again what the archive or a sink did not take, and gives up once the time of an ended job is over.
func (m *courier) onRowsTimer(env node.Env, id message.JobID) {
	j := m.jobs[id]
	if j == nil || !j.Ready || !j.Rows.Open() || j.Shown.Terminal() && !j.Rows.Delivering {
		return
	}
	late := j.Rows.Delivering && env.Now() >= j.Rows.Until
	for i, s := range j.Rows.Streams {
		if late && s.Stage() < output.Recording {
			reached(env, "gate/sink-given-up")
			m.forgetOne(env, j, i)
			why := fmt.Sprintf("%v after the job's end it had not taken all: gate.output_timeout", m.config.OutputTimeout)
			if s.Stage() != output.Loading {
				s.GiveUp(m.ended(j), why)
			}
			s.Abandon(why) // of one whose file or result is not here, it is not known what it lacks
			m.saveRows(env, j, s)
		}
		m.batch(env, j, i)
	}
	m.deliverRows(env, j)
	if j.Rows.Delivering {
		m.lookAgain(env, j)
	}
}

// forgetRows stops what its host does for a job.
func (m *courier) forgetRows(env node.Env, j *entry) {
	for i := range j.Rows.Streams {
		m.forgetOne(env, j, i)
	}
	if len(j.Rows.Streams) > 0 {
		env.CancelTimer(node.KeyID(node.PartGate, node.GateRows, j.ID))
	}
}

func (m *courier) forgetOne(env node.Env, j *entry, i int) {
	if id := j.Rows.Deliveries[i]; id != 0 {
		delete(m.deliveries, id)
		j.Rows.Deliveries[i] = 0
		env.Outputs().Forget(id)
	}
}

// release gives the register of an ended job up, once nothing of it needs an owner.
func (m *courier) release(env node.Env, j *entry) {
	m.forgetRows(env, j)
	j.Rows.Delivering = false
	m.keepEnded(env, j)
	m.ledger.Close(j.ID)
	m.group.Leases.Release(env, j.ID)
	m.free(env, &j.Job)
}
