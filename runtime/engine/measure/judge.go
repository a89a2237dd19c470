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
	if reason := unreached(all.Steps); reason != "" {
		out.State, out.Error = message.WorkflowFailed, reason
	}
	return out
}

// unreached returns why no request ever reached the target, or nothing if one did: a run
// without a single connection is no measurement.
func unreached(steps []message.StepStats) string {
	var failed uint64
	var first message.ErrorCount
	for _, s := range steps {
		if !s.Kind.Measured() {
			continue
		}
		if s.OK > 0 || len(s.Statuses) > 0 {
			return ""
		}
		for _, e := range s.Errors {
			if !unconnected(http1.Kind(e.Kind)) {
				return ""
			}
			if e.Count > first.Count {
				first = e
			}
			failed += e.Count
		}
	}
	if failed == 0 {
		return ""
	}
	if strings.HasPrefix(first.Kind, string(http1.KindTLS)) { // its example has the remedy
		return fmt.Sprintf("not one of %d TLS handshakes succeeded (%s): %s", failed, first.Kind, first.Example)
	}
	return fmt.Sprintf("not one of %d requests reached the target (%s): %s: check that it runs and that the URL is right", failed, first.Kind, first.Example)
}

func unconnected(kind http1.Kind) bool {
	switch kind {
	case http1.KindRefused, http1.KindConnectTimeout, http1.KindUnreachable, http1.KindDNS, http1.KindLocal,
		http1.KindTLS, http1.KindTLSAlert, http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return true
	}
	return false
}
