package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Bounds of Datadog's API.
const (
	datadogMax   = 512_000 // bytes of a request, compressed
	datadogPlain = 5 << 20 // bytes of a request, before compression
	datadogTag   = 200     // of a tag, its name included
)

// The numbers of types in /api/v2/series.
const (
	datadogCount = 1
	datadogGauge = 3
)

// Datadog is the kind `datadog`: counts and gauges to /api/v2/series, distributions to /api/v1/distribution_points.
// Source: docs.datadoghq.com/api/latest/metrics, "Submit metrics" and "Submit distribution points".
func Datadog() outputs.Kind {
	return outputs.Kind{
		Name: "datadog", Engine: "push", About: "Datadog's API: counts, gauges and distributions, during the run and at its end",
		Place: "URL", Example: "https://api.datadoghq.eu,api_key_file=datadog.key",
		Options: []outputs.Option{
			{Name: "api_key", Type: outputs.OptionSecret, Help: "of the organization: goes into DD-API-KEY"},
			{Name: "datacenters", Type: outputs.OptionBool, Default: "false", Help: "also the figures of each datacenter"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 50, Bytes: 256 << 10, Parallel: 1},
		Tested:   "a double of ours that datadog-api-client-go 2.67.0 accepts; no Datadog",
		Open:     openDatadog,
	}
}

type datadog struct {
	base url.URL
	key  outputs.Secret
	all  bool // also datacenters
}

func openDatadog(s *outputs.Settings) (outputs.Sink, error) {
	u, err := addressOf(s, "")
	if err != nil {
		return nil, err
	}
	d := &datadog{base: *u, key: s.Secret("api_key"), all: s.Bool("datacenters")}
	if u.Path != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("place = %q: write the address of the site's API without a path, as in https://api.datadoghq.eu", s.Place)
	}
	if !d.key.Given() {
		return nil, errors.New("api_key: give api_key_file=FILE or api_key_env=VARIABLE")
	}
	return newSink(d), nil
}

func (d *datadog) probes() ([]*call, error) {
	return []*call{{method: http.MethodGet, url: d.at("/api/v1/validate"), sign: d.sign}}, nil
}

func (d *datadog) at(path string) string {
	u := d.base
	u.Path = path
	return u.String()
}

func (d *datadog) sign(r *http.Request, _ []byte) ([]string, error) {
	key, err := readHead(d.key)
	if err != nil {
		return nil, err
	}
	r.Header.Set("DD-API-KEY", key)
	return []string{key}, nil
}

// datadogSeries is an element of a request; its points are objects in version 2, and pairs in version 1.
type datadogSeries struct {
	Metric   string   `json:"metric"`
	Type     any      `json:"type"`
	Interval int64    `json:"interval,omitempty"`
	Points   any      `json:"points"`
	Tags     []string `json:"tags,omitempty"`
}

type datadogPoint struct {
	Timestamp int64   `json:"timestamp"`
	Value     float64 `json:"value"`
}

func (d *datadog) encode(b outputs.Batch) (*call, error) {
	var series, distributions []datadogSeries
	for i := range b.Rows {
		r := &b.Rows[i]
		if !model.Has(r, d.all) {
			continue
		}
		labels := model.Labels(r)
		for _, p := range model.Points(r) {
			if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				continue // JSON has neither
			}
			s := datadogSeries{Metric: p.Metric.Name, Type: datadogGauge, Points: []datadogPoint{{r.At().Unix(), p.Value}}, Tags: datadogTags(p.Labels(labels))}
			if p.Metric.Type == model.Counter {
				s.Type, s.Interval = datadogCount, max(1, int64((r.To-r.From).Seconds()))
			}
			series = append(series, s)
		}
		h, ok := model.Latency(r)
		if !ok {
			continue
		}
		nanos, err := model.Sample(h)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", r.Key(), err)
		}
		seconds := make([]float64, len(nanos))
		for i, n := range nanos {
			seconds[i] = float64(n) / 1e9
		}
		distributions = append(distributions, datadogSeries{Metric: model.Duration(r).Name, Type: "distribution", Points: []any{[]any{r.At().Unix(), seconds}}, Tags: datadogTags(labels)})
	}
	if len(series) == 0 {
		return nil, nil
	}
	first, err := d.call("/api/v2/series", series)
	if err == nil && len(distributions) > 0 {
		first.next, err = d.call("/api/v1/distribution_points", distributions)
	}
	return first, err
}

func (d *datadog) call(path string, series []datadogSeries) (*call, error) {
	body, err := json.Marshal(map[string]any{"series": series})
	if err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	c := &call{method: http.MethodPost, url: d.at(path), sign: d.sign, header: http.Header{"Content-Type": {"application/json"}}}
	if len(body) > datadogPlain {
		c.body, c.most = body, datadogPlain // it is not sent
		return c, nil
	}
	c.header.Set("Content-Encoding", "deflate")
	c.most = datadogMax
	c.body, err = deflated(body)
	return c, err
}

// datadogTags are labels as Datadog keeps them: it replaces characters and capitals by itself, and names that differ would
// become one series.
func datadogTags(labels []model.Label) (out []string) {
	for _, l := range labels {
		name := tidy(l.Name, datadogTag/2, func(s string) string { return datadogClean(strings.ReplaceAll(s, ":", "_")) })
		if first, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(first) {
			name = "tag_" + name
		}
		out = append(out, name+":"+tidy(l.Value, datadogTag-len(name)-1, datadogClean))
	}
	return out
}

// datadogClean is what Datadog makes of a tag: letters are small, other characters become underscores, which it joins.
func datadogClean(s string) string {
	var b strings.Builder
	for _, r := range s {
		r = unicode.ToLower(r)
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("-:./", r) {
			b.WriteRune(r)
		} else if text := b.String(); text != "" && text[len(text)-1] != '_' {
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// judge: each 4xx is for ever, and a key of another site is none. The service drops points that are older than an hour
// and answers 202.
func (d *datadog) judge(b outputs.Batch, a *answer) outputs.Outcome {
	out := standard(b, a)
	if out.Verdict == outputs.VerdictDenied {
		out.Why = a.text() + ": correct the key, or the site: each site of Datadog has keys of its own"
	}
	return out
}
