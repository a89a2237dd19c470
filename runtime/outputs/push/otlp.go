package push

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push/otlp"
)

// otlpMax bounds a request before compression: the collector takes 20 MiB, vendors 4 MiB or less.
const otlpMax = 3 << 20

// OTLP is the kind `otlp`: OpenTelemetry's protocol over HTTP with protobuf, version 1.x. Cumulative values say the
// same when a batch is repeated; deltas add up.
func OTLP() outputs.Kind {
	return outputs.Kind{
		Name: "otlp", Engine: "push", About: "an OpenTelemetry collector, and all services that take OTLP over HTTP, during the run and at its end",
		Place: "URL", Example: "http://127.0.0.1:4318",
		Options: []outputs.Option{
			{Name: "temporality", Type: outputs.OptionChoice, Default: "cumulative", Choices: []string{"cumulative", "delta"}, Help: "of counters and distributions: cumulative for Prometheus and its like; delta for Datadog, New Relic, Dynatrace"},
			{Name: "headers", Type: outputs.OptionSecret, Help: "more heads, as OTEL_EXPORTER_OTLP_HEADERS has them: api-key=KEY,tenant=NAME"},
			{Name: "gzip", Type: outputs.OptionBool, Default: "true", Help: "compress requests"},
			{Name: "datacenters", Type: outputs.OptionBool, Default: "true", Help: "also the figures of each datacenter, as hyperscale.datacenter.*"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 200, Bytes: 512 << 10},
		Tested:   "otlpreceiver 0.165.0 of the OpenTelemetry collector",
		Open:     openOTLP,
		Alone: func(s *outputs.Settings) string {
			if s.Text("temporality") == "delta" {
				return ""
			}
			return "temporality = cumulative is a sum since the job's begin, and a gate that takes the job over knows no such sum: write temporality: delta"
		},
	}
}

type otlpService struct {
	url     string
	headers outputs.Secret
	gzip    bool
	encoder *otlp.Encoder
	points  int // of the batch that was encoded last
}

func openOTLP(s *outputs.Settings) (outputs.Sink, error) {
	u, err := addressOf(s, "/v1/metrics")
	if err != nil {
		return nil, err
	}
	temporality := otlp.Cumulative
	if s.Text("temporality") == "delta" {
		temporality = otlp.Delta
	}
	o := &otlpService{url: u.String(), headers: s.Secret("headers"), gzip: s.Bool("gzip"), encoder: otlp.NewEncoder(temporality, s.Bool("datacenters"))}
	return newSink(o), nil
}

// probes sends a request without metrics, which the protocol allows.
func (o *otlpService) probes() ([]*call, error) {
	c, err := o.call(nil)
	return []*call{c}, err
}

func (o *otlpService) encode(b outputs.Batch) (*call, error) {
	body, points, err := o.encoder.Encode(b.Rows)
	if err != nil || points == 0 {
		return nil, err
	}
	o.points = points
	return o.call(body)
}

func (o *otlpService) call(body []byte) (*call, error) {
	c := &call{method: http.MethodPost, url: o.url, body: body, most: otlpMax, sign: o.sign, header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	if o.gzip && len(body) > 0 && len(body) <= otlpMax {
		c.header.Set("Content-Encoding", "gzip")
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(body)
		if err = errors.Join(err, w.Close()); err != nil {
			return nil, fmt.Errorf("compress a request: %w", err)
		}
		c.body = b.Bytes()
	}
	return c, nil
}

// sign adds the heads of the user: NAME=VALUE, separated by commas, with values as URLs have them.
func (o *otlpService) sign(r *http.Request, _ []byte) (hide []string, err error) {
	if !o.headers.Given() {
		return nil, nil
	}
	text, err := o.headers.Read()
	if err != nil {
		return nil, err
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		value = strings.TrimSpace(value)
		if !ok || !headName(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("%s: write NAME=VALUE, and commas between several, as in OTEL_EXPORTER_OTLP_HEADERS", o.headers)
		}
		r.Header.Set(name, value)
		hide = append(hide, value)
	}
	return hide, nil
}

// headName says that a name can stand in a head of HTTP.
func headName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// judge: a receiver that takes some points says how many it rejects, not which. Those of 429, 502, 503 and 504 are to
// be sent again, all others not.
func (o *otlpService) judge(b outputs.Batch, a *answer) outputs.Outcome {
	out := o.meaning(b, a)
	if out.Verdict == outputs.VerdictDelivered || out.Verdict == outputs.VerdictRejected {
		o.encoder.Commit()
	}
	return out
}

func (o *otlpService) meaning(b outputs.Batch, a *answer) outputs.Outcome {
	if a.status/100 == 2 {
		if strings.Contains(a.header.Get("Content-Type"), "html") {
			return outputs.Rejected(nil, "the service answered with a page: correct the address and its path")
		}
		rejected, why, err := otlp.Partial(a.body)
		if err != nil || rejected == 0 { // the status says success: some services answer it with text
			return outputs.Delivered()
		}
		return outputs.Rejected(nil, fmt.Sprintf("the service rejects %d of %d data points and does not say which: %s", rejected, o.points, clean(why, a.hide)))
	}
	if why := otlp.Status(a.body); why != "" && strings.Contains(a.header.Get("Content-Type"), "protobuf") {
		a.body = []byte(why)
	}
	switch a.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return outputs.Again(a.after(time.Now()), a.text())
	}
	if a.status/100 == 5 {
		return outputs.Rejected(nil, a.text())
	}
	return standard(b, a)
}
