package lines

import (
	"math"
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Dialect is how a server of StatsD's family names what tells series apart.
type Dialect uint8

// The dialects.
const (
	Plain    Dialect = iota // in the path: StatsD itself knows no tags
	Dog                     // name:1|c|#step:a,run:b
	Telegraf                // name,step=a,run=b:1|c
	Low                     // in the path, of small letters: Netdata makes all small, and replaces what charts cannot be named
)

// Statsd returns a row as lines without ends. Counts of zero are left out. Counters add up in the server, quantiles are
// gauges of their window.
func Statsd(d Dialect, prefix string, r *outputs.Row) (all []string) {
	labels := model.Labels(r)
	for _, p := range model.Points(r) {
		if p.Metric.Type == model.Counter {
			if p.Value > 0 {
				all = append(all, d.line(prefix, r, &p, labels, strconv.FormatFloat(p.Value, 'f', -1, 64)+"|c"))
			}
			continue
		}
		all = append(all, d.gauge(prefix, r, &p, labels)...)
	}
	for _, q := range latencies(r) {
		m := model.Duration(r)
		m.Name = strings.Replace(m.Name, "request.duration", "latency."+q.Name, 1)
		p := model.Point{Metric: m, Value: float64(q.Nanos) / 1e9}
		p.Metric.Type = model.Gauge
		all = append(all, d.gauge(prefix, r, &p, labels)...)
	}
	return all
}

// gauge is one line, or two: a sign in front of a value would add it to the last one.
func (d Dialect) gauge(prefix string, r *outputs.Row, p *model.Point, labels []model.Label) (all []string) {
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
		return nil
	}
	if p.Value < 0 {
		all = append(all, d.line(prefix, r, p, labels, "0|g"))
	}
	return append(all, d.line(prefix, r, p, labels, strconv.FormatFloat(p.Value, 'f', -1, 64)+"|g"))
}

func (d Dialect) line(prefix string, r *outputs.Row, p *model.Point, labels []model.Label, value string) string {
	switch d {
	case Plain:
		return path(prefix, false, r) + "." + short(p) + ":" + value
	case Low:
		return low(path(prefix, false, r)+"."+short(p)) + ":" + value
	case Dog, Telegraf:
	}
	name := prefix + strings.TrimPrefix(p.Metric.Name, "hyperscale")
	var tags []string
	for _, l := range p.Labels(labels) {
		if d == Dog {
			tags = append(tags, tag(l.Name)+":"+tag(l.Value))
		} else {
			tags = append(tags, tag(l.Name)+"="+tag(l.Value))
		}
	}
	if d == Dog {
		return name + ":" + value + "|#" + strings.Join(tags, ",")
	}
	return name + "," + strings.Join(tags, ",") + ":" + value
}

// low writes capitals, underscores within a node, and what Node has made %XX as _xx, in small letters: paths that differ
// still differ in a server that knows no capitals.
func low(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%':
			b.WriteByte('_') // its digits follow
		case i >= 2 && path[i-2] == '%' || i >= 1 && path[i-1] == '%':
			b.WriteString(strings.ToLower(path[i : i+1]))
		case c >= 'A' && c <= 'Z' || c == '_' && i > 0 && path[i-1] != '.':
			b.WriteByte('_')
			b.WriteString(strconv.FormatUint(uint64(c), 16))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// tag makes a name or a value part of a tag: what ends one becomes %XX, as in URLs, and what no line may have its
// picture. What is left is the text itself, in any language.
func tag(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("%,|:=#@ \\\"", r) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[r>>4])
			b.WriteByte(hexDigits[r&15])
			continue
		}
		b.WriteRune(pictured(r))
	}
	if b.Len() == 0 {
		return "%"
	}
	return b.String()
}
