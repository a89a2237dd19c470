package stats

import "hyperscale/core/message"

// SilentMax bounds the executors that figures name because none of their requests was answered.
const SilentMax = 16

// Silent says whether an executor had no answer at all: its requests ended, each without one. A
// whole workflow of such executors measured nothing, but among others one is a fact beside their
// figures: its machine may have no way to the target.
func Silent(s *message.Stats) (out message.Silent, is bool) {
	var worst uint64
	for i := range s.Steps {
		step := &s.Steps[i]
		if !step.Kind.Measured() && !step.Kind.Requests() {
			continue
		}
		if step.OK > 0 || len(step.Statuses) > 0 {
			return message.Silent{}, false
		}
		if !step.Kind.Measured() {
			continue // a function's own row counts them
		}
		for _, e := range step.Errors {
			if !Unanswered(e.Kind) {
				return message.Silent{}, false
			}
			if out.Requests = add(out.Requests, e.Count); e.Count > worst {
				worst, out.Kind, out.Example = e.Count, e.Kind, e.Example
			}
		}
	}
	return out, out.Requests > 0
}

// Unanswered says whether a request that failed so got no answer.
func Unanswered(kind string) bool {
	return Unconnected(kind) || kind == "closed" || kind == "reset" || kind == "timeout" || kind == "write_timeout" || kind == "lost" ||
		kind == "refused_stream" || kind == "goaway" || kind == "stream_reset"
}

// Unconnected says whether a request that failed so had no connection.
func Unconnected(kind string) bool {
	switch kind {
	case "refused", "connect_timeout", "unreachable", "dns", "local", "tls", "tls_alert", "tls_authority", "tls_name", "tls_expired":
		return true
	}
	return false
}
