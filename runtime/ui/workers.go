package ui

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// hand is one worker of a part, or all those that it does not tell of one by one.
type hand struct {
	message.WorkerShare
	rateMilli uint64
	base      uint64 // requests that had ended at the last sample
}

func (h *hand) ended() uint64  { return h.OK + h.failed() }
func (h *hand) failed() uint64 { return h.Failed + h.TimedOut }

// applyWorkers takes over a datacenter's report about its workers. A rate is that of the last
// sample; a datacenter that does not run has none.
func (p *place) applyWorkers(told []message.WorkerShare, running, sample bool, took time.Duration) {
	old := make(map[string]hand, len(p.hands))
	for _, h := range p.hands {
		old[h.Node] = h
	}
	p.hands = p.hands[:0]
	for _, w := range told {
		h := old[w.Node]
		h.WorkerShare = w
		switch {
		case !running:
			h.rateMilli = 0
		case sample:
			h.rateMilli = report.Rate(h.ended()-min(h.ended(), h.base), took)
		}
		if sample || !running {
			h.base = h.ended()
		}
		p.hands = append(p.hands, h)
	}
}

// name is the worker's name.
func (h *hand) name() string {
	if h.Node == "" {
		return units.Count(uint64(h.Others)) + " more"
	}
	return units.Clean(h.Node)
}

// row is a worker in the table of its datacenter.
func (h *hand) row() []cell {
	cores := units.Count(uint64(h.Cores))
	if h.CoresTotal > 0 {
		cores += "/" + units.Count(uint64(h.CoresTotal))
	}
	busy, late := plain("–"), "–" // of what has not begun
	if h.Started > 0 {
		busy = plain(fmt.Sprintf("%d%%", h.BusyMax/10_000))
	}
	if h.Saturated {
		busy.colour = warn
	}
	if h.Started > 0 && h.Node != "" {
		late = units.Latency(uint64(max(h.Late, 0)))
	}
	return []cell{plain("  " + h.name()), {h.State.String(), workerColour(h)}, plain(cores), plain(units.Count(h.Active)), plain(units.Milli(h.rateMilli)), plain(units.Count(h.OK)),
		alarm(h.failed(), bad), busy, plain(late)}
}

func workerColour(h *hand) string {
	switch h.State {
	case message.WorkerRunning, message.WorkerDone:
		return good
	case message.WorkerLost:
		return bad
	}
	return warn
}
