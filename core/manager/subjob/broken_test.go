package subjob

import (
	"testing"

	"hyperscale/core/message"
)

// A test is broken if each iteration that ended failed by its script or by a value. One good
// request of any shard, or a failure of another kind, is a result.
func TestBrokenTestsSaySo(t *testing.T) {
	step := func(kind message.StepKind, ok, failed uint64, errors ...message.ErrorCount) message.StepStats {
		return message.StepStats{Kind: kind, Started: ok + failed, OK: ok, Failed: failed, Errors: errors}
	}
	of := func(kind string, n uint64) message.ErrorCount {
		return message.ErrorCount{Kind: kind, Count: n, Example: "a.star:2"}
	}
	for _, c := range []struct {
		name  string
		steps []message.StepStats
		want  string
	}{
		{"nothing began", []message.StepStats{step(message.StepFunction, 0, 0)}, ""},
		{"the script fails", []message.StepStats{step(message.StepFunction, 0, 9, of("script", 9)), step(message.StepCheck, 3, 0)}, "not one of 9 iterations worked (script): a.star:2"},
		{"a value fits nowhere", []message.StepStats{step(message.StepRequest, 0, 3, of("value", 2), of("script", 1))}, "not one of 3 iterations worked (value): a.star:2"},
		{"one user has a good row", []message.StepStats{step(message.StepFunction, 1, 9, of("script", 9))}, ""},
		{"another step is good", []message.StepStats{step(message.StepFunction, 0, 9, of("script", 9)), step(message.StepRequest, 1, 0)}, ""},
		{"an answer is bad", []message.StepStats{step(message.StepFunction, 0, 9, of("script", 8), of("status 500", 1))}, ""},
		{"each connection is closed", []message.StepStats{step(message.StepRequest, 0, 9, of("closed", 9))}, "not one of 9 requests was answered (closed): a.star:2: check that the target serves this address, and its logs"},
		{"each request times out", []message.StepStats{{Kind: message.StepRequest, Started: 5, TimedOut: 5, Errors: []message.ErrorCount{of("timeout", 5)}}}, "not one of 5 requests was answered (timeout): a.star:2: check that the target serves this address, and its logs"},
		{"each handshake fails", []message.StepStats{step(message.StepRequest, 0, 9, of("tls_alert", 9))}, "not one of 9 TLS handshakes succeeded (tls_alert): a.star:2"},
		{"the address is unknown", []message.StepStats{step(message.StepRequest, 0, 9, of("dns", 9))}, "not one of 9 requests reached the target (dns): a.star:2: check that it runs and that the URL is right"},
		{"each answer is a 500", []message.StepStats{step(message.StepRequest, 0, 9, of("status", 9))}, ""},
		{"one answer is a 500", []message.StepStats{step(message.StepRequest, 0, 9, of("closed", 8), of("status", 1))}, ""},
		{"a function's answers come, and then time out", []message.StepStats{{Kind: message.StepFunction, Started: 5, TimedOut: 5, Statuses: []message.StatusCount{{Status: 200, Count: 5}}, Errors: []message.ErrorCount{of("timeout", 5)}}}, ""},
		{"all are cut off", []message.StepStats{{Kind: message.StepFunction, Started: 2, Cancelled: 2, Errors: []message.ErrorCount{of("cancelled", 2)}}}, ""},
	} {
		if got := Broken(&message.Stats{Steps: c.steps}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
