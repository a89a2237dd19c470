package metrics

import (
	"slices"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// seriesOf returns the sum of the series of a metric that have these labels.
func seriesOf(t *testing.T, m *Metrics, name string, labels map[string]string) (sum float64) {
	t.Helper()
	_, sum = seriesWith(t, m, name, labels)
	return sum
}

func seriesCount(t *testing.T, m *Metrics, name string, labels map[string]string) (n int) {
	t.Helper()
	n, _ = seriesWith(t, m, name, labels)
	return n
}

func seriesWith(t *testing.T, m *Metrics, name string, labels map[string]string) (n int, sum float64) {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, s := range f.GetMetric() {
			has := 0
			for _, l := range s.GetLabel() {
				if labels[l.GetName()] == l.GetValue() && slices.ContainsFunc(s.GetLabel(), func(o *dto.LabelPair) bool { return o.GetName() == l.GetName() }) {
					has++
				}
			}
			if has == len(labels) {
				n++
				sum += s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
			}
		}
	}
	return n, sum
}

// Each signal that dashboards of other systems draw moves with what it is about, up and back, and its
// neighbours stay: docs/operations.md has the table.
func TestSignalsOfDashboardsMove(t *testing.T) {
	type labels = map[string]string
	shed := func(reason event.ShedReason) event.Shed {
		return event.Shed{Reason: reason, Kind: message.KindJobSubmit, Priority: node.Normal}
	}
	const bound, sheds = "hyperscale_node_bound_used", "hyperscale_node_shed_requests_total"
	for _, c := range []struct {
		signal, metric string
		labels         labels
		events         []node.Event
		want           []float64 // after each of them
	}{
		{"queue depth", bound, labels{"setting": "gate.queue_max"}, []node.Event{
			event.BoundUsed{Setting: "gate.queue_max", Used: 7, Bound: 10}, event.BoundUsed{Setting: "gate.jobs_max", Used: 9, Bound: 10}, event.BoundUsed{Setting: "gate.queue_max", Bound: 10},
		}, []float64{7, 7, 0}},
		{"latency, of the queue", "hyperscale_gate_queue_wait_seconds", nil, []node.Event{event.JobBegan{Waited: time.Second}}, []float64{1}},
		{"latency, of the start", "hyperscale_gate_start_seconds", nil, []node.Event{event.JobBegan{Took: time.Second}}, []float64{1}},
		{"error rate, losses", "hyperscale_shard_losses_total", nil, []node.Event{event.ShardStarted{}, event.ShardLost{}}, []float64{0, 1}},
		{"error rate, of these", "hyperscale_shard_transitions_total", labels{"state": "STARTED"}, []node.Event{
			event.ShardStarted{}, event.ShardEnded{State: message.WorkflowFailed}, event.ShardStarted{},
		}, []float64{1, 1, 2}},
		{"throttle rate", "hyperscale_gate_dispatch_rate_ratio", nil, []node.Event{
			event.DispatchesPaced{Rate: 25, Bound: 100}, event.DispatchesPaced{Rate: 100, Bound: 100},
		}, []float64{0.25, 1}},
		{"shed count", sheds, nil, []node.Event{shed(event.ShedBound), shed(event.ShedShare), shed(event.ShedQuorum)}, []float64{1, 2, 3}},
		{"buffer overflow", sheds, labels{"reason": "bound"}, []node.Event{shed(event.ShedBound), shed(event.ShedShare)}, []float64{1, 1}},
		{"rate limit exceeded", sheds, labels{"reason": "share"}, []node.Event{shed(event.ShedBound), shed(event.ShedShare)}, []float64{0, 1}},
		{"circuit rejections", sheds, labels{"reason": "quorum"}, []node.Event{shed(event.ShedShare), shed(event.ShedQuorum)}, []float64{0, 1}},
		{"buffer depth", "hyperscale_gate_dead_letters", nil, []node.Event{event.LettersKept{Letters: 3, Bytes: 900}, event.LettersKept{}}, []float64{3, 0}},
		{"wanted cores", "hyperscale_gate_wanted_cores", labels{"datacenter": "fra"}, []node.Event{
			event.CoresWanted{Datacenter: "fra", Cores: 9}, event.CoresWanted{Datacenter: "iad", Cores: 4}, event.CoresWanted{Datacenter: "fra"},
		}, []float64{9, 9, 0}},
		{"circuit state", "hyperscale_gate_circuit_state", nil, []node.Event{
			event.CircuitChanged{State: "open"}, event.CircuitChanged{State: "half-open"}, event.CircuitChanged{State: "open"}, event.CircuitChanged{State: "closed"},
		}, []float64{2, 1, 2, 0}},
		{"degradation level", "hyperscale_gate_load_level", nil, []node.Event{event.LoadChanged{Level: "emergency", Rank: 3}, event.LoadChanged{Level: "normal"}}, []float64{3, 0}},
		{"agent health", "hyperscale_manager_workers", labels{"state": "unhealthy"}, []node.Event{
			event.FleetCounted{Healthy: 4, Unhealthy: 2}, event.FleetCounted{Healthy: 6},
		}, []float64{2, 0}},
		{"agent circuit", "hyperscale_manager_workers", labels{"state": "circuit-open"}, []node.Event{
			event.FleetCounted{Healthy: 3, Tripped: 1}, event.FleetCounted{Healthy: 3},
		}, []float64{1, 0}},
		{"agent load", "hyperscale_manager_cores", labels{"state": "free"}, []node.Event{
			event.FleetCounted{Healthy: 1, CoresFree: 3, CoresTotal: 8}, event.FleetCounted{Healthy: 1, CoresTotal: 8},
		}, []float64{3, 0}},
	} {
		m := New(sources())
		for i, e := range c.events {
			m.Observe(e)
			if got := seriesOf(t, m, c.metric, c.labels); got != c.want[i] {
				t.Errorf("%s: after event %d, %+v, %s%v is %v, want %v", c.signal, i, e, c.metric, c.labels, got, c.want[i])
			}
		}
	}
}

// What has not happened yet is zero: Prometheus sees the first increase of a series that is there.
func TestWhatHasNotHappenedIsZero(t *testing.T) {
	m := New(sources())
	for _, c := range []struct {
		metric string
		labels map[string]string
		event  node.Event
	}{
		{"hyperscale_node_shed_requests_total", map[string]string{"reason": "quorum", "priority": "none"}, event.Shed{Reason: event.ShedQuorum}},
		{"hyperscale_lease_ends_total", map[string]string{"reason": "expired"}, event.LeaseEnded{Reason: "expired"}},
	} {
		if n := seriesCount(t, m, c.metric, c.labels); n != 1 || seriesOf(t, m, c.metric, c.labels) != 0 {
			t.Errorf("%s%v is there %d times before it happens, want a zero", c.metric, c.labels, n)
		}
		m.Observe(c.event)
		if n := seriesCount(t, m, c.metric, c.labels); n != 1 || seriesOf(t, m, c.metric, c.labels) != 1 {
			t.Errorf("%s%v is there %d times after it, want a one", c.metric, c.labels, n)
		}
	}
}
