package vendorstest

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
)

// OTLPPoint is a data point as the collector's JSON has it.
type OTLPPoint struct {
	Attributes []struct {
		Key   string
		Value struct{ StringValue string }
	}
	StartTimeUnixNano, TimeUnixNano string
	AsInt                           string
	AsDouble                        float64
	Count                           string
	Sum                             float64
	Scale                           int
	ZeroCount                       string
	Positive                        struct {
		Offset       int
		BucketCounts []string
	}
	Min, Max float64
}

// OTLPMetric is a metric as the collector's JSON has it.
type OTLPMetric struct {
	Name, Unit string
	Sum        struct {
		DataPoints             []OTLPPoint
		AggregationTemporality int
		IsMonotonic            bool
	}
	Gauge                struct{ DataPoints []OTLPPoint }
	ExponentialHistogram struct {
		DataPoints             []OTLPPoint
		AggregationTemporality int
	}
}

// Attribute is the value of an attribute, empty if it has none.
func (p *OTLPPoint) Attribute(name string) string {
	for _, a := range p.Attributes {
		if a.Key == name {
			return a.Value.StringValue
		}
	}
	return ""
}

// OTLPTaken are the metrics that the collector has of a job, in their order.
func OTLPTaken(t testing.TB, page, job string) (all []OTLPMetric) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(serverstest.Ask(t, http.MethodGet, "http://"+page)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var got struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct{ Metrics []OTLPMetric }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					points := append(append(m.Sum.DataPoints, m.Gauge.DataPoints...), m.ExponentialHistogram.DataPoints...)
					if job == "" || points[0].Attribute("run") == job {
						all = append(all, m)
					}
				}
			}
		}
	}
	return all
}
