package measure

import (
	"fmt"
	"strings"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/http1"
)

// Judge judges a run that has ended.
func Judge(all message.Stats, cancelled bool) *message.ExecResult {
	out := &message.ExecResult{State: message.WorkflowCompleted, Duration: all.Elapsed, Stats: all}
	if cancelled {
		out.State = message.WorkflowCancelled
		return out
	}
	if reason := useless(all.Steps); reason != "" {
		out.State, out.Error = message.WorkflowFailed, reason
	}
	return out
}

// useless returns why nothing worked, or nothing if a request reached the target and its
// iteration was judged: a run without a single connection, or whose script fails each time, is no
// measurement.
func useless(steps []message.StepStats) string {
	var failed uint64
	var first message.ErrorCount
	for _, s := range steps {
		if !s.Kind.Measured() {
			continue
		}
		if s.OK > 0 {
			return ""
		}
		for _, e := range s.Errors {
			if kind := http1.Kind(e.Kind); !unmade(kind) && (!unconnected(kind) || len(s.Statuses) > 0) {
				return ""
			}
			if e.Count > first.Count {
				first = e
			}
			failed += e.Count
		}
	}
	switch kind := http1.Kind(first.Kind); {
	case failed == 0:
		return ""
	case unmade(kind):
		return fmt.Sprintf("not one of %d iterations worked (%s): %s", failed, first.Kind, first.Example)
	case strings.HasPrefix(first.Kind, string(http1.KindTLS)): // its example has the remedy
		return fmt.Sprintf("not one of %d TLS handshakes succeeded (%s): %s", failed, first.Kind, first.Example)
	}
	return fmt.Sprintf("not one of %d requests reached the target (%s): %s: check that it runs and that the URL is right", failed, first.Kind, first.Example)
}

// unmade says that the test itself is wrong: its function failed, or a value of it fits nowhere.
func unmade(kind http1.Kind) bool { return kind == http1.KindScript || kind == http1.KindValue }

func unconnected(kind http1.Kind) bool {
	switch kind {
	case http1.KindRefused, http1.KindConnectTimeout, http1.KindUnreachable, http1.KindDNS, http1.KindLocal,
		http1.KindTLS, http1.KindTLSAlert, http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return true
	}
	return false
}
