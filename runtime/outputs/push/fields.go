package push

import (
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// figureFields puts figures into fields: counts, quantiles in nanoseconds, and at most so many statuses and kinds of errors;
// the rest of those is in status_rest and error_rest.
func figureFields(m map[string]any, f *outputs.Figures, most int) {
	m["begun"], m["ok"], m["failed"], m["timed_out"], m["cancelled"] = f.Begun, f.OK, f.Failed, f.TimedOut, f.Cancelled
	m["dropped"], m["skipped"], m["bytes_in"], m["bytes_out"], m["active_users"] = f.Dropped, f.Skipped, f.BytesIn, f.BytesOut, f.ActiveUsers
	if quantiles, err := model.Quantiles(f.Latency); err == nil {
		for _, q := range quantiles {
			m[q.Name+"_ns"] = q.Nanos
		}
	}
	add := func(i int, name, rest string, n uint64) {
		if i >= most {
			name = rest
		}
		was, _ := m[name].(uint64) // 0 at first
		m[name] = was + n
	}
	for i, s := range f.Statuses {
		add(i, "status_"+outputs.StatusName(s.Status), "status_rest", s.Count)
	}
	for i, e := range f.Errors {
		add(i, "error_"+e.Kind, "error_rest", e.Count)
	}
}

// cut keeps the begin of a text.
func cut(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "")
	}
	return s
}
