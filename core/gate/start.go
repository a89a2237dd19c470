package gate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// start rebuilds everything from the disk. Records that cannot be read end the
// node: going on would forget jobs that were acknowledged.
func (m *Machine) start(env node.Env) {
	env.SetTimer(node.Key(node.PartGate, node.GateSweep), m.config.SweepInterval)
	for _, r := range env.Store().Load(datacenterPrefix) {
		m.addDatacenter(strings.TrimPrefix(r.Key, datacenterPrefix), env.Now())
	}
	if err := m.load(env); err != nil {
		env.Halt(fmt.Sprintf("the disk under --data is damaged: %v: restore it, or start with an empty one", err))
		return
	}
	for _, j := range m.byNumber() {
		m.resume(env, j)
	}
	m.schedule(env)
}

func (m *Machine) load(env node.Env) error {
	for _, r := range env.Store().Load(jobPrefix) {
		if err := m.loadJob(env, r); err != nil {
			return err
		}
	}
	for _, r := range env.Store().Load(specPrefix) {
		spec, err := decoded[*message.JobSubmit](r)
		if err != nil {
			return err
		}
		if j := m.ofRecord(r.Key, specPrefix); j != nil && !j.state.Terminal() {
			j.spec, j.specSize = spec, spec.Size()
			m.specBytes += j.specSize
		}
	}
	for _, r := range env.Store().Load(partPrefix) {
		if err := m.loadPart(r); err != nil {
			return err
		}
	}
	for _, r := range env.Store().Load(resultPrefix) {
		result, err := decoded[*message.JobResult](r)
		if err != nil {
			return err
		}
		if j := m.ofRecord(r.Key, resultPrefix); j != nil {
			m.keepResult(j, result)
		}
	}
	return nil
}

func (m *Machine) loadJob(env node.Env, r node.Record) error {
	id, err := message.ParseJobID(strings.TrimPrefix(r.Key, jobPrefix))
	if err != nil {
		return fmt.Errorf("read record %s: %w", r.Key, err)
	}
	var rec jobRecord
	if err := json.Unmarshal(r.Value, &rec); err != nil {
		return fmt.Errorf("read record %s: %w", r.Key, err)
	}
	now := env.Now()
	j := &job{
		id: id, number: rec.Number, key: rec.Key, digest: rec.Digest, name: rec.Name, named: rec.Named, runTimeout: rec.RunTimeout,
		state: rec.Last.To, shown: rec.Last.To, reason: rec.Last.Reason, last: rec.Last, onDisk: true,
		born: now.Add(-rec.Elapsed), queued: now, ran: rec.Ran, started: now.Add(-rec.RunFor), cancelled: now,
		elapsed: rec.Elapsed, ended: now, epochs: rec.Epochs,
		// Above what the incarnation before this one can have told.
		sequence: env.Self().Incarnation << 32,
	}
	if j.epochs == nil {
		j.epochs = map[string]uint64{}
	}
	for _, p := range rec.Parts {
		part := loadedPart(p, now)
		if j.state.Terminal() && part.phase != partDone {
			part.phase, part.counted = partDone, true // its result is in the job's
		}
		j.parts = append(j.parts, part)
	}
	m.jobs[id], m.keys[j.key] = j, j
	m.number = max(m.number, j.number)
	return nil
}

// loadedPart waits for its manager to tell of it, if any can know of it.
func loadedPart(r partRecord, now node.Instant) *part {
	p := &part{
		datacenter: r.Datacenter, manager: r.Manager, fence: message.Fence{Job: jobEpoch, Manager: r.Epoch},
		ever: r.Ever, accepted: r.Accepted, losses: r.Losses, since: now, sent: now,
	}
	switch {
	case r.State.Terminal():
		p.phase, p.unheard = partDone, true
		p.result = &message.DatacenterResult{Name: r.Datacenter, State: r.State, Error: r.Error}
	case r.Ever:
		p.phase = partAdopting
	}
	return p
}

func (m *Machine) loadPart(r node.Record) error {
	result, err := decoded[*message.PartResult](r)
	if err != nil {
		return err
	}
	j := m.jobs[result.Job]
	if j == nil {
		return nil
	}
	if p := j.part(result.Part.Name); p != nil && p.fence == result.Fence {
		p.phase, p.result, p.counted, p.accepted = partDone, &result.Part, true, true
	}
	return nil
}

func (m *Machine) ofRecord(key, prefix string) *job {
	id, err := message.ParseJobID(strings.TrimPrefix(key, prefix))
	if err != nil {
		return nil
	}
	return m.jobs[id]
}

func (m *Machine) byNumber() []*job {
	all := make([]*job, 0, len(m.jobs))
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		all = append(all, j)
	}
	slices.SortFunc(all, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.number, b.number), a.id.Compare(b.id))
	})
	return all
}

// resume tells the last transition again and puts the job where it belongs.
func (m *Machine) resume(env node.Env, j *job) {
	emitLast(env, j)
	switch {
	case j.state.Terminal():
		m.ended = append(m.ended, j)
		return
	case j.spec == nil:
		node.Bug("gate: job %v is %v on disk and has no spec", j.id, j.state)
	case j.state == message.JobQueued:
		m.enqueue(env, j)
		return
	}
	m.active = append(m.active, j)
	if j.state == message.JobCancelling {
		m.stopParts(env, j)
	}
	m.endIfDone(env, j)
	m.arm(env, j)
}
