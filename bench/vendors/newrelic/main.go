// Command newrelic is a double of New Relic's Metric API, for tests. Before it prints its address, the vendor's
// newrelic-telemetry-sdk-go must have passed, and have failed with another key. Key nr-key. Limits are those of the page
// "Metric API limits and restricted attributes". Its second address is a page of all metrics.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/newrelic/newrelic-telemetry-sdk-go/telemetry"

	"hyperscale/bench/vendors/double"
)

const (
	key      = "nr-key"
	most     = 1_000_000 // bytes of a payload
	nameMax  = 255
	valueMax = 4096 // characters
	attrsMax = 100
	letters  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._"
)

type service struct{ store double.Store }

// common is what metrics of a block share.
type common struct {
	Timestamp  *int64         `json:"timestamp"`
	Interval   *int64         `json:"interval.ms"`
	Attributes map[string]any `json:"attributes"`
}

type block struct {
	Common  common `json:"common"`
	Metrics []struct {
		Name       string          `json:"name"`
		Type       string          `json:"type"`
		Value      json.RawMessage `json:"value"`
		Timestamp  *int64          `json:"timestamp"`
		Interval   *int64          `json:"interval.ms"`
		Attributes map[string]any  `json:"attributes"`
	} `json:"metrics"`
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/metric/v1":
		double.Refuse(w, http.StatusNotFound, "no such path")
		return
	case r.Method != http.MethodPost:
		double.Refuse(w, http.StatusMethodNotAllowed, "POST")
		return
	case r.Header.Get("Api-Key") != key:
		double.Refuse(w, http.StatusForbidden, "the key is no license key")
		return
	case r.Header.Get("Content-Type") != "application/json":
		double.Refuse(w, http.StatusUnsupportedMediaType, "application/json")
		return
	}
	body, err := double.Body(r, most, most)
	if errors.Is(err, double.ErrLarge) {
		double.Refuse(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	if err == nil {
		err = s.take(body)
	}
	if err != nil {
		double.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte(`{"requestId":"f0e7bfff-001a-b000-0000-01682bcf4565"}`))
}

func (s *service) take(body []byte) error {
	var blocks []block
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&blocks); err != nil {
		return err
	}
	var all []any
	for _, b := range blocks {
		for _, m := range b.Metrics {
			p := double.Point{Name: m.Name, Type: m.Type, Labels: map[string]string{}}
			for name, v := range b.Common.Attributes {
				p.Labels[name] = fmt.Sprint(v)
			}
			for name, v := range m.Attributes {
				p.Labels[name] = fmt.Sprint(v)
			}
			for name, v := range p.Labels {
				if len(name) > nameMax || strings.Trim(name, letters) != "" || len([]rune(v)) > valueMax || len(p.Labels) > attrsMax {
					return fmt.Errorf("attribute %q = %q", name, v)
				}
			}
			at, wide := m.Timestamp, m.Interval
			if at == nil {
				at = b.Common.Timestamp
			}
			if wide == nil {
				wide = b.Common.Interval
			}
			if at == nil || m.Name == "" || len(m.Name) > nameMax {
				return fmt.Errorf("metric %q", m.Name)
			}
			if p.Type != "gauge" && (wide == nil || *wide <= 0) {
				return fmt.Errorf("metric %q of type %s has no interval", m.Name, m.Type)
			}
			p.Nanos = *at * 1e6
			if wide != nil && p.Type != "gauge" {
				p.Width = *wide * 1e6
			}
			if err := valueOf(m.Value, &p); err != nil {
				return err
			}
			all = append(all, p)
		}
	}
	s.store.Add(all...)
	return nil
}

func valueOf(raw []byte, p *double.Point) error {
	switch p.Type {
	case "count", "gauge":
		return json.Unmarshal(raw, &p.Value)
	case "summary":
		var v struct{ Count, Sum, Min, Max *float64 }
		if err := json.Unmarshal(raw, &v); err != nil || v.Count == nil || v.Sum == nil {
			return fmt.Errorf("a summary of %s", raw)
		}
		p.Value, p.Values = *v.Count, []float64{*v.Sum}
		for _, f := range []*float64{v.Min, v.Max} {
			if f != nil {
				p.Values = append(p.Values, *f)
			}
		}
		return nil
	}
	return fmt.Errorf("type %q", p.Type)
}

// judge lets the vendor's client pass.
func judge(s *service) func(address string) error {
	return func(address string) error {
		for _, k := range []string{"another", key} {
			var failed []string
			h, err := telemetry.NewHarvester(telemetry.ConfigAPIKey(k), telemetry.ConfigHarvestPeriod(0), telemetry.ConfigMetricsURLOverride("http://"+address+"/metric/v1"),
				func(c *telemetry.Config) {
					c.ErrorLogger = func(m map[string]any) { failed = append(failed, fmt.Sprint(m)) }
				})
			if err != nil {
				return err
			}
			now := time.Now()
			h.RecordMetric(telemetry.Count{Name: "judge.count", Value: 7, Timestamp: now, Interval: time.Second, Attributes: map[string]any{"a": "b"}})
			h.RecordMetric(telemetry.Gauge{Name: "judge.gauge", Value: 7, Timestamp: now})
			h.RecordMetric(telemetry.Summary{Name: "judge.summary", Count: 2, Sum: 3, Min: 1, Max: 2, Timestamp: now, Interval: time.Second})
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			h.HarvestNow(ctx)
			cancel()
			if k != key && len(failed) == 0 {
				return errors.New("the vendor's client passed with a wrong key")
			}
			if k == key && len(failed) > 0 {
				return fmt.Errorf("the vendor's client: %s", failed)
			}
		}
		if all := s.store.Take(); len(all) != 3 {
			return fmt.Errorf("the vendor's client left %d metrics", len(all))
		}
		return nil
	}
}

func main() {
	s := &service{}
	double.Main(s, &s.store, judge(s))
}
