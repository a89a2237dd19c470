package lines

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// AppendInflux appends a row as a line of InfluxDB's line protocol, with milliseconds. Integers are capped at the
// largest int64. A row without figures, such as an event without a detail, has at least one field.
func AppendInflux(to []byte, r *outputs.Row) []byte { return appendInflux(to, r, r.At().UnixMilli()) }

// AppendTelegraf appends the same line with nanoseconds, which Telegraf's parser wants by default.
func AppendTelegraf(to []byte, r *outputs.Row) []byte {
	return appendInflux(to, r, r.At().UnixNano())
}

func appendInflux(to []byte, r *outputs.Row, at int64) []byte {
	to = append(append(to, "hyperscale_"...), r.Kind.String()...)
	for _, l := range influxTags(r) {
		to = append(to, ',')
		to = append(to, InfluxName(l.Name)...)
		to = append(to, '=')
		to = append(to, InfluxName(l.Value)...)
	}
	f := fields{to: append(to, ' ')}
	switch {
	case r.Figures != nil:
		f.figures(r)
	case r.Run != nil:
		f.run(r.Run)
	case r.Threshold != nil:
		f.threshold(r.Threshold)
	case r.Event != nil:
		f.event(r.Event)
	}
	if !f.some {
		f.text("about", r.Kind.String())
	}
	to = append(f.to, ' ')
	to = strconv.AppendInt(to, at, 10)
	return append(to, '\n')
}

// influxTags are the labels, and what tells rows of one moment apart.
func influxTags(r *outputs.Row) []model.Label {
	all := model.Labels(r)
	switch {
	case r.Threshold != nil:
		all = model.With(all, "threshold", r.Threshold.Expression)
	case r.Event != nil:
		all = model.With(all, "sequence", strconv.FormatUint(r.Event.Sequence, 10))
	}
	return all
}

type fields struct {
	to   []byte
	some bool
}

func (f *fields) name(name string) {
	if f.some {
		f.to = append(f.to, ',')
	}
	f.some = true
	f.to = append(append(f.to, InfluxName(name)...), '=')
}

func (f *fields) count(name string, n uint64) {
	f.name(name)
	f.to = append(strconv.AppendUint(f.to, min(n, math.MaxInt64), 10), 'i')
}

func (f *fields) number(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) { // the format has neither
		f.name(name)
		f.to = strconv.AppendFloat(f.to, v, 'g', -1, 64)
	}
}

func (f *fields) truth(name string, v bool) {
	f.name(name)
	f.to = strconv.AppendBool(f.to, v)
}

func (f *fields) text(name, v string) {
	f.name(name)
	f.to = append(append(append(f.to, '"'), influxText(v)...), '"')
}

func (f *fields) figures(r *outputs.Row) {
	g := r.Figures
	f.count("from_ms", uint64(r.From.Milliseconds()))
	f.count("to_ms", uint64(r.To.Milliseconds()))
	f.count("begun", g.Begun)
	f.count("ok", g.OK)
	f.count("failed", g.Failed)
	f.count("timed_out", g.TimedOut)
	f.count("cancelled", g.Cancelled)
	f.count("dropped", g.Dropped)
	f.count("skipped", g.Skipped)
	f.count("bytes_in", g.BytesIn)
	f.count("bytes_out", g.BytesOut)
	f.count("active_users", g.ActiveUsers)
	if q, err := model.Quantiles(g.Latency); err == nil {
		for _, v := range q {
			f.count(v.Name+"_ns", v.Nanos)
		}
	}
	for _, s := range g.Statuses {
		f.count("status_"+outputs.StatusName(s.Status), s.Count)
	}
	for _, e := range g.Errors {
		f.count("error_"+e.Kind, e.Count)
	}
	if r.Rebased {
		f.truth("rebased", true)
	}
}

func (f *fields) run(r *outputs.Run) {
	f.text("outcome", r.Outcome)
	f.text("hyperscale_version", r.Version)
	f.text("program_digest", r.ProgramDigest)
	f.truth("saturated", r.Saturated)
	f.truth("thresholds_ok", r.ThresholdsOK)
	f.count("requests", r.Requests)
	f.count("lost_requests", r.LostRequests)
}

func (f *fields) threshold(t *outputs.Threshold) {
	f.truth("met", t.Met)
	f.text("of", t.Of)
	if !t.Unmeasured {
		f.number("value", t.Value)
	}
}

func (f *fields) event(e *outputs.Event) {
	f.text("kind", e.Kind)
	f.text("subject", e.Subject)
	f.text("detail", e.Detail)
}

// InfluxName escapes a measurement, a tag or the name of a field. The format has no escape for a backslash at
// an end and for control characters, so they become the characters that picture them.
func InfluxName(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == ',' || r == '=' || r == ' ':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\\':
			b.WriteRune('＼')
		case r == '"':
			b.WriteRune('＂') // VictoriaMetrics takes one in a tag for the begin of a text
		default:
			b.WriteRune(pictured(r))
		}
	}
	return b.String()
}

// influxText escapes the inside of a text.
func influxText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(pictured(r))
	}
	return b.String()
}

// pictured replaces control characters, also those of Unicode that end lines.
func pictured(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029:
		return utf8.RuneError
	}
	return r
}
