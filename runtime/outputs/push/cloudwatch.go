package push

import (
	"fmt"
	"math"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Bounds of PutMetricData.
const (
	cloudWatchMax        = 1_000_000 // bytes of a request
	cloudWatchMost       = 1000      // metrics of a request
	cloudWatchDimensions = 30
	cloudWatchValue      = 1024 // bytes of a dimension's value
)

// CloudWatch is the kind `cloudwatch`: PutMetricData. Source: "PutMetricData", "MetricDatum" and "Dimension" in the API reference
// of Amazon CloudWatch. Each set of dimensions is a metric that costs, so the user chooses them.
func CloudWatch() outputs.Kind {
	return outputs.Kind{
		Name: "cloudwatch", Engine: "push", About: "Amazon CloudWatch: metrics with distributions, during the run and at its end",
		Place: "NAMESPACE", Example: "Load/Tests,region=eu-west-1",
		Options: amazonOptions(
			outputs.Option{Name: "dimensions", Default: "test workflow step kind", Help: "labels that are dimensions, by spaces: run, test, datacenter, workflow, step, kind, and names of tags; each set of values is a metric, which costs"},
			outputs.Option{Name: "resolution", Type: outputs.OptionChoice, Default: "60", Choices: []string{"60", "1"}, Help: "seconds in which the service keeps values apart"},
			outputs.Option{Name: "datacenters", Type: outputs.OptionBool, Default: "false", Help: "also the figures of each datacenter, as hyperscale.datacenter.*: add the dimension datacenter"},
		),
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 40, Bytes: 256 << 10},
		Tested:   "a double of ours that verifies signatures with aws-sdk-go-v2 1.48.0, and that its CloudWatch client 1.76.0 passes; no CloudWatch",
		Open:     openCloudWatch,
	}
}

type cloudWatch struct {
	*amazon
	namespace  string
	dimensions map[string]bool
	resolution int64
	all        bool // also datacenters
}

func openCloudWatch(s *outputs.Settings) (outputs.Sink, error) {
	if len(s.Place) > 255 || strings.HasPrefix(s.Place, "AWS/") || strings.Trim(s.Place, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/#:") != "" {
		return nil, fmt.Errorf("place = %q is no namespace: write letters, digits and . - _ / #, at most 255, not behind AWS/", s.Place)
	}
	c := &cloudWatch{namespace: s.Place, dimensions: map[string]bool{}, resolution: s.Number("resolution"), all: s.Bool("datacenters")}
	for name := range strings.FieldsSeq(s.Text("dimensions")) {
		c.dimensions[name] = true
	}
	if len(c.dimensions) >= cloudWatchDimensions { // a metric's own is one more
		return nil, fmt.Errorf("dimensions = %d names: CloudWatch takes %d", len(c.dimensions), cloudWatchDimensions-1)
	}
	if !c.dimensions["kind"] {
		return nil, fmt.Errorf("dimensions = %q: add kind, else calls of functions and the requests that they send are one metric, and count twice", s.Text("dimensions"))
	}
	if c.all && !c.dimensions["datacenter"] {
		return nil, fmt.Errorf("datacenters = true: add datacenter to dimensions=, else the figures of all datacenters are one metric")
	}
	var err error
	if c.amazon, err = newAmazon(s, "monitoring", "monitoring"); err != nil {
		return nil, err
	}
	return newSink(c), nil
}

type cloudWatchPut struct {
	Namespace  string            `json:"Namespace"`
	MetricData []cloudWatchDatum `json:"MetricData"`
}

type cloudWatchDimension struct{ Name, Value string }

type cloudWatchDatum struct {
	MetricName        string
	Dimensions        []cloudWatchDimension `json:",omitempty"`
	Timestamp         float64               // seconds
	Value             *float64              `json:",omitempty"`
	Values            []float64             `json:",omitempty"`
	Counts            []float64             `json:",omitempty"`
	Unit              string
	StorageResolution int64
}

// probes send no metrics: the service finds them missing once it has found the credentials good.
func (c *cloudWatch) probes() ([]*call, error) {
	one, err := c.put(nil)
	return []*call{one}, err
}

func (c *cloudWatch) put(all []cloudWatchDatum) (*call, error) {
	return c.ask("GraniteServiceVersion20100801.PutMetricData", cloudWatchPut{c.namespace, append([]cloudWatchDatum{}, all...)}, cloudWatchMax)
}

func (c *cloudWatch) encode(b outputs.Batch) (*call, error) {
	var all []cloudWatchDatum
	for i := range b.Rows {
		r := &b.Rows[i]
		if !model.Has(r, c.all) {
			continue
		}
		data, err := c.row(r)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.Key(), err)
		}
		all = append(all, data...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) <= cloudWatchMost {
		return c.put(all)
	}
	first, err := c.put(all[:cloudWatchMost])
	for last := first; err == nil && len(all) > cloudWatchMost; last = last.next {
		all = all[cloudWatchMost:]
		last.next, err = c.put(all[:min(len(all), cloudWatchMost)])
	}
	return first, err
}

func (c *cloudWatch) row(r *outputs.Row) (all []cloudWatchDatum, err error) {
	labels := model.Labels(r)
	datum := func(m *model.Metric, labels []model.Label) cloudWatchDatum {
		return cloudWatchDatum{MetricName: m.Name, Dimensions: c.dimensionsOf(labels, m.Attribute), Timestamp: float64(r.At().UnixMilli()) / 1000, Unit: cloudWatchUnit(m.Unit), StorageResolution: c.resolution}
	}
	for _, p := range model.Points(r) {
		if math.IsNaN(p.Value) || math.Abs(p.Value) > math.Exp2(360) {
			continue // the service takes neither
		}
		d := datum(&p.Metric, p.Labels(labels))
		d.Value = &p.Value
		all = append(all, d)
	}
	h, ok := model.Latency(r)
	if !ok {
		return all, nil
	}
	values, err := model.Values(h)
	if err != nil {
		return nil, err
	}
	m := model.Duration(r)
	d := datum(&m, labels)
	for _, v := range values {
		d.Values, d.Counts = append(d.Values, float64(v.Nanos)/1e9), append(d.Counts, float64(v.Count))
	}
	return append(all, d), nil
}

// dimensionsOf are the labels that the user chose, and what tells the points of a metric apart.
func (c *cloudWatch) dimensionsOf(labels []model.Label, attribute string) (out []cloudWatchDimension) {
	for _, l := range labels {
		if value := asciiOf(l.Value); (c.dimensions[l.Name] || l.Name == attribute) && value != "" {
			out = append(out, cloudWatchDimension{tidy(asciiOf(l.Name), 255, func(s string) string { return s }), tidy(value, cloudWatchValue, func(s string) string { return s })})
		}
	}
	return out
}

// asciiOf writes what the service does not take as %XX, as in URLs: control characters, all beyond ASCII, a percent sign, a colon
// in front, and spaces at the ends.
func asciiOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == '%' || (i == 0 && (c == ':' || c == ' ')) || (i == len(s)-1 && c == ' ') {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// cloudWatchUnit is a unit by its name there.
func cloudWatchUnit(unit string) string {
	switch {
	case unit == "s":
		return "Seconds"
	case unit == "By":
		return "Bytes"
	case strings.HasPrefix(unit, "{"):
		return "Count"
	}
	return "None"
}

func (c *cloudWatch) judge(b outputs.Batch, a *answer) outputs.Outcome {
	said := amazonSaid(a)
	if len(b.Rows) == 0 && strings.HasPrefix(said.Type, "MissingParameter") {
		return outputs.Delivered() // what it answers to a probe whose credentials are good
	}
	return amazonJudge(b, a, &said)
}
