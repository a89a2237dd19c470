package lines

import (
	"math"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// nodeMax bounds a node of a path: whisper makes a file of it, and file systems take 255 bytes.
const nodeMax = 200

// whole is the node of rows of all datacenters. No datacenter has an underscore in front.
const whole = "_all"

// path begins the name of a metric: PREFIX[.JOB].TEST.DATACENTER.WORKFLOW.STEP. Requests of functions, which the
// functions count once more, have a node of their own before their step.
func path(prefix string, run bool, r *outputs.Row) string {
	nodes := []string{prefix}
	if run {
		nodes = append(nodes, Node(r.Job))
	}
	nodes = append(nodes, Node(r.Test))
	if r.Datacenter == "" {
		nodes = append(nodes, whole)
	} else {
		nodes = append(nodes, Node(r.Datacenter))
	}
	if r.Workflow != "" {
		nodes = append(nodes, Node(r.Workflow))
	}
	if kind := outputs.StepKindName(r.StepKind); kind == "part" || kind == "beside" {
		nodes = append(nodes, "_"+kind)
	}
	if r.Step != "" {
		nodes = append(nodes, Node(r.Step))
	}
	return strings.Join(nodes, ".")
}

// short is the name of a point behind its path.
func short(p *model.Point) string {
	name := strings.TrimPrefix(strings.TrimPrefix(p.Metric.Name, "hyperscale."), "datacenter.")
	if p.Metric.Attribute != "" {
		name += "." + Node(p.Attribute)
	}
	return name
}

// AppendGraphite appends a row as lines of Graphite's plaintext protocol: PATH VALUE SECONDS.
func AppendGraphite(to []byte, prefix string, run bool, r *outputs.Row) []byte {
	at := strconv.FormatInt(r.At().Unix(), 10)
	before := path(prefix, run, r)
	line := func(name string, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		to = append(append(append(append(to, before...), '.'), name...), ' ')
		to = append(strconv.AppendFloat(to, v, 'f', -1, 64), ' ')
		to = append(append(to, at...), '\n')
	}
	for _, p := range model.Points(r) {
		line(short(&p), p.Value)
	}
	for _, q := range latencies(r) {
		line("latency."+q.Name, float64(q.Nanos)/1e9)
	}
	return to
}

// latencies are the quantiles of a row; none if it has no distribution.
func latencies(r *outputs.Row) []model.Quantile {
	h, ok := model.Latency(r)
	if !ok {
		return nil
	}
	q, err := model.Quantiles(h)
	if err != nil {
		return nil
	}
	return q
}

// Node makes a name one node of a path. All but letters of ASCII, digits, - and _ become %XX, as in URLs, so names
// that differ stay different. What is too long ends with its digest.
func Node(s string) string {
	if s == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' && i > 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	out := b.String()
	if len(out) <= nodeMax {
		return out
	}
	return out[:nodeMax-17] + "%" + strconv.FormatUint(xxhash.Sum64String(s)|1<<63, 16)
}

const hexDigits = "0123456789ABCDEF"
