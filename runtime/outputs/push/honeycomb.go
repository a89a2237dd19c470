package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Bounds of Honeycomb's API.
const (
	honeycombMax  = 5_000_000 // bytes of a batch before compression, as its own client has it
	honeycombText = 64 << 10  // bytes of a text
	honeycombMost = 500       // statuses, and kinds of errors, of an event: it takes 2,000 fields
)

// Honeycomb is the kind `honeycomb`: each row is an event of a dataset. Source: docs.honeycomb.io/api/events/create-events.
func Honeycomb() outputs.Kind {
	return outputs.Kind{
		Name: "honeycomb", Engine: "push", About: "Honeycomb: each row is an event, during the run and at its end",
		Place: "URL", Example: "https://api.honeycomb.io,dataset=load,api_key_file=honeycomb.key",
		Options: []outputs.Option{
			{Name: "dataset", Default: "hyperscale", Help: "which the key may send to"},
			{Name: "api_key", Type: outputs.OptionSecret, Help: "an ingest key, or one that may send events: goes into X-Honeycomb-Team"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 500, Bytes: 1 << 20},
		Tested:   "a double of ours that libhoney-go 1.25.0 passes; no Honeycomb",
		Open:     openHoneycomb,
	}
}

type honeycomb struct {
	base url.URL
	data string // the path of batches
	key  outputs.Secret
}

func openHoneycomb(s *outputs.Settings) (outputs.Sink, error) {
	u, err := addressOf(s, "/")
	if err != nil {
		return nil, err
	}
	h := &honeycomb{base: *u, key: s.Secret("api_key")}
	dataset := s.Text("dataset")
	if dataset == "" || strings.ContainsAny(dataset, "/\x00") {
		return nil, fmt.Errorf("dataset = %q: write the name of a dataset, without a slash", dataset)
	}
	if !h.key.Given() {
		return nil, errors.New("api_key: give api_key_file=FILE or api_key_env=VARIABLE")
	}
	h.data = "/1/batch/" + dataset
	return newSink(h), nil
}

// probes ask whose the key is.
func (h *honeycomb) probes() ([]*call, error) {
	return []*call{{method: http.MethodGet, url: h.at("/1/auth"), sign: h.sign}}, nil
}

func (h *honeycomb) at(path string) string {
	u := h.base
	u.Path = strings.TrimRight(u.Path, "/") + path
	return u.String()
}

func (h *honeycomb) sign(r *http.Request, _ []byte) ([]string, error) {
	key, err := readHead(h.key)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Honeycomb-Team", key)
	return []string{key}, nil
}

// honeycombEvent is an element of a batch.
type honeycombEvent struct {
	Time string         `json:"time"`
	Data map[string]any `json:"data"`
}

func (h *honeycomb) encode(b outputs.Batch) (*call, error) {
	all := make([]honeycombEvent, len(b.Rows))
	for i := range b.Rows {
		r := &b.Rows[i]
		all[i] = honeycombEvent{Time: r.At().UTC().Format(time.RFC3339Nano), Data: honeycombData(r)}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	c := &call{method: http.MethodPost, url: h.at(h.data), body: body, most: honeycombMax, sign: h.sign, header: http.Header{"Content-Type": {"application/json"}}}
	if len(body) <= honeycombMax { // else it is not sent
		c.header.Set("Content-Encoding", "gzip")
		c.body, err = zipped(body)
	}
	return c, err
}

// honeycombData are the fields of a row.
func honeycombData(r *outputs.Row) map[string]any {
	m := map[string]any{}
	for _, l := range model.Labels(r) {
		m[l.Name] = cut(l.Value, honeycombText)
	}
	m["row"], m["from_ms"], m["to_ms"], m["revision"] = r.Kind.String(), r.From.Milliseconds(), r.To.Milliseconds(), revisionOf(r)
	switch {
	case r.Figures != nil:
		figureFields(m, r.Figures, honeycombMost)
	case r.Threshold != nil:
		m["threshold"], m["of"], m["met"] = cut(r.Threshold.Expression, honeycombText), r.Threshold.Of, r.Threshold.Met
		if !r.Threshold.Unmeasured && !math.IsNaN(r.Threshold.Value) && !math.IsInf(r.Threshold.Value, 0) {
			m["value"] = r.Threshold.Value
		}
	case r.Event != nil:
		m["sequence"], m["event"], m["subject"], m["detail"] = r.Event.Sequence, r.Event.Kind, r.Event.Subject, cut(r.Event.Detail, honeycombText)
	case r.Run != nil:
		m["outcome"], m["hyperscale_version"], m["program_digest"] = r.Run.Outcome, r.Run.Version, r.Run.ProgramDigest
		m["saturated"], m["thresholds_ok"] = r.Run.Saturated, r.Run.ThresholdsOK
		m["requests"], m["lost_requests"] = r.Run.Requests, r.Run.LostRequests
	}
	return m
}

// judge: the answer has a status for each event. An event that the service limits for now would be repeated with all
// others, so it is rejected alone, unless no event was taken.
func (h *honeycomb) judge(b outputs.Batch, a *answer) outputs.Outcome {
	if a.status/100 != 2 || len(b.Rows) == 0 {
		return standard(b, a)
	}
	statuses, why, err := honeycombAnswer(a.body, len(b.Rows))
	if err != nil {
		return outputs.Unclear(clean(err.Error(), a.hide))
	}
	var rejected []int
	later := 0
	for i, status := range statuses {
		if status/100 != 2 {
			rejected = append(rejected, i)
		}
		if status == http.StatusTooManyRequests || status/100 == 5 {
			later++
		}
	}
	why = clean(why, a.hide)
	switch {
	case len(rejected) == 0:
		return outputs.Delivered()
	case later == len(b.Rows):
		return outputs.Again(a.after(time.Now()), "the service takes no event now: "+why)
	}
	return outputs.Rejected(rejected, fmt.Sprintf("the service rejects %d of %d events: %s", len(rejected), len(b.Rows), why))
}

// honeycombAnswer reads the statuses of so many events, and the first reason for a rejection. An answer without a body means
// that all are queued.
func honeycombAnswer(body []byte, events int) (statuses []int, why string, err error) {
	var all []struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
	}
	if len(body) == 0 {
		return nil, "", nil
	}
	if err := json.Unmarshal(body, &all); err != nil || len(all) != events {
		return nil, "", fmt.Errorf("the service answered %d events with %d statuses", events, len(all))
	}
	for _, one := range all {
		statuses = append(statuses, one.Status)
		if one.Status/100 != 2 && why == "" {
			why = strings.TrimSpace(fmt.Sprint(one.Status, " ", one.Error))
		}
	}
	return statuses, why, nil
}
