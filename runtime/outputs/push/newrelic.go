package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Bounds of New Relic's API.
const (
	newRelicMax   = 1_000_000 // bytes of a request
	newRelicName  = 255       // bytes of an attribute's name
	newRelicValue = 4096      // bytes of its value; the API counts characters
)

// NewRelic is the kind `newrelic`: the Metric API. Source: docs.newrelic.com, "Report metrics via the Metric API" and "Metric API
// limits and restricted attributes".
func NewRelic() outputs.Kind {
	return outputs.Kind{
		Name: "newrelic", Engine: "push", About: "New Relic's Metric API: counts, gauges and summaries, during the run and at its end",
		Place: "URL", Example: "https://metric-api.newrelic.com,api_key_file=newrelic.key",
		Options: []outputs.Option{
			{Name: "api_key", Type: outputs.OptionSecret, Help: "a license key: goes into Api-Key"},
			{Name: "datacenters", Type: outputs.OptionBool, Default: "true", Help: "also the figures of each datacenter"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 100, Bytes: 256 << 10},
		Tested:   "a double of ours that newrelic-telemetry-sdk-go 0.8.1 passes; no New Relic",
		Open:     openNewRelic,
	}
}

type newRelic struct {
	url string
	key outputs.Secret
	all bool // also datacenters
}

func openNewRelic(s *outputs.Settings) (outputs.Sink, error) {
	u, err := addressOf(s, "/metric/v1")
	if err != nil {
		return nil, err
	}
	n := &newRelic{url: u.String(), key: s.Secret("api_key"), all: s.Bool("datacenters")}
	if !n.key.Given() {
		return nil, errors.New("api_key: give api_key_file=FILE or api_key_env=VARIABLE")
	}
	return newSink(n), nil
}

// probes send no metrics, which the API takes from who has a key.
func (n *newRelic) probes() ([]*call, error) {
	c, err := n.call([]newRelicMetric{})
	return []*call{c}, err
}

type newRelicMetric struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Value      any               `json:"value"`
	Timestamp  int64             `json:"timestamp"` // ms; of counts and summaries the begin of their interval
	Interval   int64             `json:"interval.ms,omitempty"`
	Attributes map[string]string `json:"attributes"`
}

// newRelicSummary is the value of a summary, in seconds.
type newRelicSummary struct {
	Count uint64  `json:"count"`
	Sum   float64 `json:"sum"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

func (n *newRelic) encode(b outputs.Batch) (*call, error) {
	var all []newRelicMetric
	for i := range b.Rows {
		r := &b.Rows[i]
		if !model.Has(r, n.all) {
			continue
		}
		metrics, err := newRelicRow(r)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.Key(), err)
		}
		all = append(all, metrics...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return n.call(all)
}

// newRelicRow is a row as metrics: quantiles are gauges, since summaries have none.
func newRelicRow(r *outputs.Row) (all []newRelicMetric, err error) {
	labels := model.Labels(r)
	begin, width := r.Started.Add(r.From).UnixMilli(), max(1, (r.To-r.From).Milliseconds())
	for _, p := range model.Points(r) {
		if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
			continue // JSON has neither
		}
		m := newRelicMetric{Name: p.Metric.Name, Type: "gauge", Value: p.Value, Timestamp: r.At().UnixMilli(), Attributes: newRelicAttributes(p.Labels(labels))}
		if p.Metric.Type == model.Counter {
			m.Type, m.Timestamp, m.Interval = "count", begin, width
		}
		all = append(all, m)
	}
	h, ok := model.Latency(r)
	if !ok {
		return all, nil
	}
	quantiles, err := model.Quantiles(h)
	if err != nil {
		return nil, err
	}
	name, attributes := model.Duration(r).Name, newRelicAttributes(labels)
	all = append(all, newRelicMetric{
		Name: name, Type: "summary", Timestamp: begin, Interval: width, Attributes: attributes,
		Value: newRelicSummary{Count: h.Count, Sum: float64(h.Sum) / 1e9, Min: float64(h.Min) / 1e9, Max: float64(h.Max) / 1e9},
	})
	for _, q := range quantiles {
		if strings.HasPrefix(q.Name, "p") {
			all = append(all, newRelicMetric{Name: name + "." + q.Name, Type: "gauge", Value: float64(q.Nanos) / 1e9, Timestamp: r.At().UnixMilli(), Attributes: attributes})
		}
	}
	return all, nil
}

// newRelicAttributes are labels as the API keeps them: names of letters, digits, colons, dots and underscores.
func newRelicAttributes(labels []model.Label) map[string]string {
	out := map[string]string{}
	for _, l := range labels {
		name := tidy(l.Name, newRelicName, func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(":._", r) {
					return r
				}
				return '_'
			}, s)
		})
		out[name] = tidy(l.Value, newRelicValue, func(s string) string { return s })
	}
	return out
}

func (n *newRelic) call(all []newRelicMetric) (*call, error) {
	body, err := json.Marshal([]map[string]any{{"metrics": all}})
	if err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	c := &call{method: http.MethodPost, url: n.url, body: body, most: newRelicMax, sign: n.sign, header: http.Header{"Content-Type": {"application/json"}}}
	if len(body) <= newRelicMax { // else it is not sent
		c.header.Set("Content-Encoding", "gzip")
		c.body, err = zipped(body)
	}
	return c, err
}

func (n *newRelic) sign(r *http.Request, _ []byte) ([]string, error) {
	key, err := readHead(n.key)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Api-Key", key)
	return []string{key}, nil
}

// judge: 202 says that the service has the request, not that it keeps its metrics.
func (n *newRelic) judge(b outputs.Batch, a *answer) outputs.Outcome { return standard(b, a) }
