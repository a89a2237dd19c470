package output

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// BatchMax bounds the file of a batch, in bytes: below what the gates' archive takes.
const BatchMax = 3 << 20

// ErrBatch is wrapped by the error of each file that is no batch.
var ErrBatch = errors.New("it is no batch of rows")

// Batch is what one delivery brings to a sink.
type Batch struct {
	Job    message.JobID
	Sink   string
	Number uint64 // among those of the job for the sink, from 1
	Final  bool   // none follows
	Rows   []Row
}

// Append appends the file of a batch: its rows, and the ledger behind them.
func (b *Batch) Append(dst []byte, l *Ledger) []byte {
	m := message.OutputBatch{Job: b.Job, Sink: b.Sink, Number: b.Number, Final: b.Final, Ledger: l.wire(), Rows: make([]message.OutputRow, 0, len(b.Rows))}
	for i := range b.Rows {
		m.Rows = append(m.Rows, rowToWire(&b.Rows[i]))
	}
	out, err := m.MarshalMsg(dst)
	if err != nil {
		panic(fmt.Sprintf("output: encode a batch: %v", err)) // the codec rejects no value
	}
	return out
}

// Read reads the file of a batch, and the ledger that makes the rows behind it.
func Read(file []byte) (*Batch, *Ledger, error) {
	if len(file) > BatchMax {
		return nil, nil, fmt.Errorf("%d bytes, the bound is %d: %w", len(file), BatchMax, ErrBatch)
	}
	var m message.OutputBatch
	rest, err := m.UnmarshalMsg(file)
	if err != nil || len(rest) > 0 {
		return nil, nil, fmt.Errorf("%w: %d bytes behind it, %w", ErrBatch, len(rest), errors.Join(err))
	}
	l, err := ledgerOf(m.Job, &m.Ledger)
	if err != nil {
		return nil, nil, err
	}
	b := &Batch{Job: m.Job, Sink: m.Sink, Number: m.Number, Final: m.Final}
	for i := range m.Rows {
		r, err := l.rowOf(&m.Rows[i])
		if err != nil {
			return nil, nil, err
		}
		b.Rows = append(b.Rows, r)
	}
	return b, l, nil
}

func rowToWire(r *Row) message.OutputRow {
	epoch, revision := r.Version.Parts()
	m := message.OutputRow{Kind: uint8(r.Kind), Datacenter: r.Datacenter, Workflow: r.Workflow, From: r.From, To: r.To, Epoch: epoch, Revision: revision}
	m.Step.Name, m.Step.Kind = r.Step, r.StepKind
	if f := r.Figures; f != nil {
		s := &m.Step
		s.Started, s.OK, s.Failed, s.TimedOut, s.Cancelled, s.Dropped, s.Skipped = f.Begun, f.OK, f.Failed, f.TimedOut, f.Cancelled, f.Dropped, f.Skipped
		s.BytesIn, s.BytesOut, s.Statuses, s.Errors, s.Latency, s.Service = f.BytesIn, f.BytesOut, f.Statuses, f.Errors, f.Latency, f.Service
		m.Active, m.Blunt = f.ActiveUsers, f.Blunt
	}
	if t := r.Threshold; t != nil {
		m.Threshold = message.OutputVerdict{Expr: t.Expression, Value: int64(t.Value), Of: ofName(t.Of), Met: t.Met, Unmeasured: t.Unmeasured}
	}
	if u := r.Run; u != nil {
		m.Run = message.OutputRun{Outcome: u.Outcome, Saturated: u.Saturated, ThresholdsOK: u.ThresholdsOK, Requests: u.Requests, LostRequests: u.LostRequests}
		if !u.Ended.IsZero() {
			m.Run.Ended = max(1, u.Ended.Sub(r.Started))
		}
	}
	return m
}

func ofName(name string) message.ThresholdOf {
	for of := message.OfNone; of.Name() != "" || of == message.OfNone; of++ {
		if of.Name() == name {
			return of
		}
	}
	return message.OfNone
}

// rowOf reads a row of the ledger's job.
func (l *Ledger) rowOf(m *message.OutputRow) (Row, error) {
	r := Row{
		Kind: RowKind(m.Kind), Job: l.job.String(), Test: l.test, Started: l.started,
		Datacenter: m.Datacenter, Workflow: m.Workflow, Step: m.Step.Name, StepKind: m.Step.Kind, From: m.From, To: m.To,
	}
	r.Version.Set(m.Epoch, m.Revision)
	switch {
	case r.Kind == RowNone || r.Kind >= RowEvent:
		return r, fmt.Errorf("%w: a row of kind %d", ErrBatch, m.Kind)
	case r.Kind.Counts():
		if err := readable(&m.Step); err != nil {
			return r, err
		}
		r.Figures = figuresOf(&m.Step, &message.StepStats{})
		r.Figures.Latency, r.Figures.Service, r.Figures.ActiveUsers, r.Figures.Blunt = m.Step.Latency, m.Step.Service, m.Active, m.Blunt
	case r.Kind == RowThreshold:
		t := &m.Threshold
		r.Threshold = &Threshold{Expression: t.Expr, Value: float64(t.Value), Of: t.Of.Name(), Met: t.Met, Unmeasured: t.Unmeasured}
	default:
		u := &m.Run
		r.Run = &Run{Outcome: u.Outcome, Saturated: u.Saturated, ThresholdsOK: u.ThresholdsOK, Requests: u.Requests, LostRequests: u.LostRequests}
		if u.Ended > 0 {
			r.Run.Ended = l.started.Add(u.Ended).Truncate(time.Millisecond)
		}
	}
	return r, nil
}

// readable rejects distributions that no node writes: the rows of later windows subtract them.
func readable(s *message.StepStats) error {
	for _, h := range []message.Histogram{s.Latency, s.Service} {
		if _, err := stats.FromWire(h); err != nil {
			return fmt.Errorf("%w: step %.64q: %w", ErrBatch, s.Name, err)
		}
	}
	return nil
}

func (l *Ledger) wire() message.OutputLedger {
	m := message.OutputLedger{Test: l.test, Window: l.window, Started: l.started.UnixMilli(), Revision: l.revision, At: l.at, Blunt: l.blunt, Begun: l.begun}
	for _, p := range l.told() {
		f := l.parts[p]
		part := message.OutputPart{Datacenter: p.datacenter, Workflow: p.workflow, Lost: f.lost, Fresh: f.fresh, Steps: make([]message.OutputStep, 0, len(f.order))}
		for _, key := range f.order {
			s := f.steps[key]
			step := message.OutputStep{Base: s.base, From: s.from, Waited: uint64(s.waited)}
			step.Base.Name, step.Base.Kind = key.name, key.kind
			part.Steps = append(part.Steps, step)
		}
		m.Parts = append(m.Parts, part)
	}
	return m
}

func ledgerOf(job message.JobID, m *message.OutputLedger) (*Ledger, error) {
	if m.Window <= 0 || m.At < 0 || m.Revision > 1<<62 {
		return nil, fmt.Errorf("%w: windows of %v up to %v, revision %d", ErrBatch, m.Window, m.At, m.Revision)
	}
	l := New(job, m.Test, m.Window, time.UnixMilli(m.Started))
	l.revision, l.at, l.blunt, l.begun = m.Revision, m.At, m.Blunt, m.Begun
	for i := range m.Parts {
		p := &m.Parts[i]
		f := newFlow()
		f.lost, f.fresh = p.Lost, p.Fresh
		for k := range p.Steps {
			s := &p.Steps[k]
			key := stepKey{s.Base.Name, s.Base.Kind}
			if err := readable(&s.Base); err != nil {
				return nil, err
			}
			if f.steps[key] != nil || !counted(key.kind) {
				return nil, fmt.Errorf("%w: step %.64q stands twice, or has no figures", ErrBatch, key.name)
			}
			f.steps[key] = &series{base: s.Base, from: s.From, waited: int(min(s.Waited, patience+1))}
			f.order = append(f.order, key)
		}
		l.parts[part{p.Datacenter, p.Workflow}] = f
	}
	return l, nil
}

// Blunt makes rows of counts alone from now on: a job of so many steps that their distributions fit no file.
func (l *Ledger) Blunt() {
	l.blunt = true
	//lint:orderfree each changes by itself
	for _, f := range l.parts {
		//lint:orderfree each changes by itself
		for _, s := range f.steps {
			s.base = bare(&s.base, true)
		}
	}
}
