package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	"hyperscale/bench/vendors/double"
)

// Limits of PutMetricData, by its page in the API reference.
const (
	putMax       = 1 << 20
	metricsMax   = 1000
	valuesMax    = 150
	dimensionMax = 30
)

var units = map[string]bool{"Seconds": true, "Bytes": true, "Count": true, "None": true}

type datum struct {
	MetricName        string
	Dimensions        []struct{ Name, Value string }
	Timestamp         float64
	Value             *float64
	Values, Counts    []float64
	Unit              string
	StorageResolution int64
}

func (s *service) cloudWatch(w http.ResponseWriter, body []byte) {
	var in struct {
		Namespace              string
		MetricData             []datum
		EntityMetricData       []json.RawMessage
		StrictEntityValidation *bool
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	if len(body) > putMax {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException", "1 MB")
		return
	}
	if len(in.MetricData) == 0 {
		refuse(w, http.StatusBadRequest, "MissingParameterException", "The parameter MetricData is required.")
		return
	}
	if len(in.MetricData) > metricsMax || in.Namespace == "" {
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException", "too many metrics")
		return
	}
	var all []any
	for _, m := range in.MetricData {
		if why := m.wrong(); why != "" {
			refuse(w, http.StatusBadRequest, "InvalidParameterValueException", m.MetricName+": "+why)
			return
		}
		p := double.Point{Name: m.MetricName, Type: m.Unit, Nanos: int64(math.Round(m.Timestamp*1000)) * 1e6, Width: m.StorageResolution * 1e9, Values: m.Values, Counts: m.Counts, Labels: map[string]string{}}
		if m.Value != nil {
			p.Value = *m.Value
		}
		for _, d := range m.Dimensions {
			p.Labels[d.Name] = d.Value
		}
		all = append(all, p)
	}
	s.store.Add(all...)
	_, _ = w.Write([]byte("{}"))
}

func (m *datum) wrong() string {
	switch {
	case m.MetricName == "" || !units[m.Unit] || m.Timestamp <= 0:
		return "name, unit or time"
	case len(m.Values) > valuesMax || len(m.Values) != len(m.Counts):
		return fmt.Sprintf("%d values, %d counts", len(m.Values), len(m.Counts))
	case (m.Value == nil) == (len(m.Values) == 0):
		return "value and values"
	case m.StorageResolution != 0 && m.StorageResolution != 1 && m.StorageResolution != 60:
		return "resolution"
	case len(m.Dimensions) > dimensionMax:
		return "dimensions"
	}
	for _, d := range m.Dimensions {
		if d.Name == "" || len(d.Name) > 255 || d.Name[0] == ':' || strings.TrimSpace(d.Value) == "" || len(d.Value) > 1024 {
			return fmt.Sprintf("dimension %q = %q", d.Name, d.Value)
		}
		for _, c := range []byte(d.Name + d.Value) {
			if c < ' ' || c > '~' {
				return fmt.Sprintf("dimension %q = %q", d.Name, d.Value)
			}
		}
	}
	return ""
}
