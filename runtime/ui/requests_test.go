package ui

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// TestRequestsOfFunctionsAreDrawnOnce: a function's calls of three requests each are three times as
// many requests, for each datacenter and for the time before the first status.
func TestRequestsOfFunctionsAreDrawnOnce(t *testing.T) {
	var windows stats.Windows
	for at := range 20 {
		windows.At(time.Duration(at) * time.Second).OK = 100
	}
	row := func(name string, kind message.StepKind) message.StepStats {
		return message.StepStats{Name: name, Kind: kind, Started: 2000, Sent: 2000, OK: 2000, Windows: windows.Wire()}
	}
	calls := row("buy", message.StepFunction)
	calls.Sent = 6000
	s := story(20*time.Second, "local")
	d := &s.Datacenters[0]
	d.Workflows = d.Workflows[:1]
	d.Workflows[0].Stats.Steps = []message.StepStats{
		calls, row("buy/a", message.StepPart), row("buy/b", message.StepPart), row("buy/c", message.StepPart),
		row("seen/k", message.StepPart), row("setup/x", message.StepBeside),
	}
	m := NewModel("", &message.Plan{})
	m.Apply(s)
	if p := m.places[0]; p.started != 8000 || p.ok != 8000 {
		t.Errorf("the datacenter started %d requests, %d were good: want 8000", p.started, p.ok)
	}
	if p := m.Points[3]; p.RateMilli != 400_000 {
		t.Errorf("four names of 100 requests a second are drawn as %d/s", p.RateMilli/1000)
	}
}
