package ui

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// place is one datacenter's part.
type place struct {
	name, fault         string
	state               message.JobState
	vus, cores          uint64
	started, ok, failed uint64
	rateMilli           uint64
	lost                []message.LostAttempt
	every               time.Duration // how often its workers report, if seldom
	hands               []hand        // its workers

	base   uint64 // requests that had ended at the last sample
	baseAt time.Duration
}

// apply takes over a status's reports of each datacenter.
func (m *Model) apply(s *message.JobStatus) {
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		at := slices.IndexFunc(m.places, func(p *place) bool { return p.name == d.Name })
		if at < 0 {
			at = len(m.places)
			m.places = append(m.places, &place{name: d.Name})
		}
		m.places[at].apply(d, s.Elapsed)
	}
}

func (p *place) apply(d *message.DatacenterResult, now time.Duration) {
	p.state, p.fault, p.every = d.State, d.Error, d.Every
	p.vus, p.cores, p.started, p.ok, p.failed, p.lost = 0, 0, 0, 0, 0, nil
	running := false
	for i := range d.Workflows {
		w := &d.Workflows[i]
		if !w.State.Terminal() {
			p.vus, p.cores, running = p.vus+w.Stats.Active, p.cores+uint64(w.Cores), true
		}
		p.lost = append(p.lost, w.Lost...)
		for k := range w.Stats.Steps {
			if step := &w.Stats.Steps[k]; w.Stats.CountsRequests(step) {
				p.started, p.ok, p.failed = p.started+step.Started, p.ok+step.OK, p.failed+step.Failed+step.TimedOut
			}
		}
	}
	took := now - p.baseAt
	sample := took >= sampleEvery || !running
	p.applyWorkers(d.Workers, running, sample, took)
	if !sample {
		return
	}
	ended := p.ok + p.failed
	p.rateMilli = 0
	if running {
		p.rateMilli = report.Rate(ended-min(ended, p.base), took)
	}
	p.base, p.baseAt = ended, now
}
