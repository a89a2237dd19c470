package api

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/report"
	"hyperscale/runtime/view"
)

// TestOutputsOfAGate: a viewer sees how far each sink is, and no address; a gate without sinks has an empty list.
func TestOutputsOfAGate(t *testing.T) {
	stats := []carrier.Stats{{Sink: "warehouse", Kind: "postgres", Window: 10 * time.Second, Total: outputs.Report{Delivered: 7}, Why: "connection refused"}}
	for _, c := range []struct {
		ask  func() []carrier.Stats
		want OutputList
	}{
		{func() []carrier.Stats { return stats }, OutputList{"gate-1", []view.Output{{Name: "warehouse", Kind: "postgres", WindowNS: 10_000_000_000, Delivered: 7, Error: "connection refused"}}}},
		{nil, OutputList{"gate-1", []view.Output{}}},
	} {
		s := start(t, func(config *Config) { config.Gate, config.Outputs = "gate-1", c.ask })
		r := s.call(node.RightView, http.MethodGet, "/v1/outputs", "")
		require.Equal(t, http.StatusOK, r.status, "%s", r.body)
		var got OutputList
		require.NoError(t, json.Unmarshal(r.body, &got))
		require.Equal(t, c.want, got)
	}
}

// TestSinksOfAJob: its state and its result have what the gates report of its sinks.
func TestSinksOfAJob(t *testing.T) {
	s := start(t)
	id, told := message.JobOf("k"), message.SinkReports{List: []message.SinkReport{{Name: "warehouse", Delivered: 7, Behind: 2, Since: time.Second, Twice: 3, Why: "busy"}}}
	s.answer(message.KindJobQuery, func(node.Message) node.Message {
		return &message.JobStatus{Job: id, State: message.JobRunning, Sinks: told}
	})
	s.answer(message.KindJobWatch, func(node.Message) node.Message {
		return &message.JobResult{Result: message.Result{Job: id, State: message.JobCompleted}, Sinks: told}
	})
	want := []report.Sink{{Name: "warehouse", Delivered: 7, Behind: 2, BehindNS: 1_000_000_000, PerhapsTwice: 3, Error: "busy"}}
	for _, path := range []string{"/v1/jobs/" + id.String(), "/v1/jobs/" + id.String() + "/result"} {
		r := s.call(node.RightView, http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, r.status, "%s", r.body)
		var got struct{ Sinks []report.Sink }
		require.NoError(t, json.Unmarshal(r.body, &got))
		require.Equal(t, want, got.Sinks, path)
	}
}

// TestAlertsOfThisGate: the cluster and the list of alerts have those of the gate's own host beside those of its machine, and
// what callers share does not grow.
func TestAlertsOfThisGate(t *testing.T) {
	s := start(t, func(config *Config) { config.Alerts = func() []string { return []string{"alert disk-low: x"} } })
	s.answer(message.KindClusterQuery, func(node.Message) node.Message {
		return &message.ClusterStatus{Gate: "gate-1", Warnings: append(make([]string, 0, 8), "alert queue-high: y")}
	})
	s.answer(message.KindStatusQuery, func(node.Message) node.Message { return &message.StatusList{} })
	want := []string{"alert queue-high: y", "alert disk-low: x"}
	for range 2 {
		for path, key := range map[string]string{"/v1/cluster": "warnings", "/v1/alerts": "alerts"} {
			r := s.call(node.RightView, http.MethodGet, path, "")
			require.Equal(t, http.StatusOK, r.status, "%s", r.body)
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(r.body, &got))
			var all []string
			require.NoError(t, json.Unmarshal(got[key], &all))
			require.Equal(t, want, all, path)
		}
	}
}
