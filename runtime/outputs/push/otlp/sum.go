package otlp

import (
	"encoding/binary"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Temporality says what a point of a counter counts.
type Temporality uint8

// The temporalities, with their numbers in the protocol.
const (
	Delta      Temporality = 1
	Cumulative Temporality = 2
)

// Encoder makes requests, and adds up what was delivered. It is for one sink, whose batches follow each other.
type Encoder struct {
	temporality Temporality
	datacenters bool
	total       map[string]*series // of what was committed; empty for deltas
	pending     map[string]*series // what Commit makes the total
}

// NewEncoder returns an encoder that has seen nothing. With datacenters, it also encodes the rows of each of them.
func NewEncoder(t Temporality, datacenters bool) *Encoder {
	return &Encoder{temporality: t, datacenters: datacenters, total: map[string]*series{}}
}

// Commit says that the last batch that was encoded is over: the receiver has it, or rejects it for ever.
func (e *Encoder) Commit() {
	for key, s := range e.pending {
		e.total[key] = s
	}
	e.pending = nil
}

// series is a metric with attributes, and its newest value.
type series struct {
	metric       model.Metric
	labels       []model.Label
	from, to     time.Time
	value        float64
	distribution *model.Exponential // nil: value counts
}

// keyOf names a series. Lengths tell its parts apart, whatever characters they have.
func keyOf(metric string, labels []model.Label) string {
	b := appendPart(nil, metric)
	for _, l := range labels {
		b = appendPart(appendPart(b, l.Name), l.Value)
	}
	return string(b)
}

func appendPart(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

// points are the values of rows, in their order.
func (e *Encoder) points(rows []outputs.Row) (all []*series, err error) {
	e.pending = map[string]*series{}
	for i := range rows {
		r := &rows[i]
		if !model.Has(r, e.datacenters) {
			continue
		}
		labels := model.Labels(r)
		for _, p := range model.Points(r) {
			s := &series{metric: p.Metric, labels: p.Labels(labels), from: r.Started.Add(r.From), to: r.At(), value: p.Value}
			if p.Metric.Type == model.Counter {
				s = e.added(s, r.Started)
			}
			all = append(all, s)
		}
		if h, ok := model.Latency(r); ok {
			d, err := model.ToExponential(h)
			if err != nil {
				return nil, err
			}
			s := &series{metric: model.Duration(r), labels: labels, from: r.Started.Add(r.From), to: r.At(), distribution: &d}
			all = append(all, e.added(s, r.Started))
		}
	}
	return all, nil
}

// added is a point of a counter, or its sum since the job began.
func (e *Encoder) added(s *series, begun time.Time) *series {
	if e.temporality == Delta {
		return s
	}
	key := keyOf(s.metric.Name, s.labels)
	before := e.pending[key]
	if before == nil {
		before = e.total[key]
	}
	s.from = begun
	if before != nil {
		s.value += before.value
		if s.to.Before(before.to) {
			s.to = before.to
		}
		if s.distribution != nil {
			sum := *before.distribution
			sum.Merge(*s.distribution)
			s.distribution = &sum
		}
	}
	e.pending[key] = s
	return s
}
