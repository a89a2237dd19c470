package otlp

import (
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// Numbers of fields of opentelemetry-proto, by message.
const (
	requestResourceMetrics = 1

	resourceMetricsResource = 1
	resourceMetricsScopes   = 2

	resourceAttributes = 1

	scopeMetricsScope   = 1
	scopeMetricsMetrics = 2

	scopeName = 1

	metricName        = 1
	metricDescription = 2
	metricUnit        = 3
	metricGauge       = 5
	metricSum         = 7
	metricExponential = 10

	dataPoints      = 1 // of gauge, sum and exponential histogram
	dataTemporality = 2 // of sum and exponential histogram
	sumMonotonic    = 3

	numberStart      = 2
	numberTime       = 3
	numberDouble     = 4
	numberInteger    = 6
	numberAttributes = 7

	exponentialAttributes = 1
	exponentialStart      = 2
	exponentialTime       = 3
	exponentialCount      = 4
	exponentialSum        = 5
	exponentialScale      = 6
	exponentialZero       = 7
	exponentialPositive   = 8
	exponentialMin        = 12
	exponentialMax        = 13

	bucketsOffset = 1
	bucketsCounts = 2

	keyValueKey   = 1
	keyValueValue = 2
	anyString     = 1
)

// Encode returns a request with all rows, and how many data points it has: none, if no row has a meaning. It
// returns an error for a distribution that cannot be read.
func (e *Encoder) Encode(rows []outputs.Row) (body []byte, points int, err error) {
	all, err := e.points(rows)
	if err != nil || len(all) == 0 {
		return nil, 0, err
	}
	var scope []byte
	scope = message(scope, scopeMetricsScope, text(nil, scopeName, "hyperscale"))
	var order []string
	byName := map[string][]*series{}
	for _, s := range all {
		if byName[s.metric.Name] == nil {
			order = append(order, s.metric.Name)
		}
		byName[s.metric.Name] = append(byName[s.metric.Name], s)
	}
	slices.Sort(order)
	for _, name := range order {
		scope = message(scope, scopeMetricsMetrics, e.metric(byName[name]))
	}
	resource := message(nil, resourceAttributes, attribute(model.Label{Name: "service.name", Value: "hyperscale"}))
	group := message(nil, resourceMetricsResource, resource)
	group = message(group, resourceMetricsScopes, scope)
	return message(nil, requestResourceMetrics, group), len(all), nil
}

// metric encodes the points of one metric.
func (e *Encoder) metric(all []*series) (out []byte) {
	m := all[0].metric
	out = text(out, metricName, m.Name)
	out = text(out, metricDescription, m.Help)
	out = text(out, metricUnit, m.Unit)
	var data []byte
	for _, s := range all {
		if s.distribution != nil {
			data = message(data, dataPoints, s.exponential())
			continue
		}
		data = message(data, dataPoints, s.number())
	}
	switch {
	case all[0].distribution != nil:
		return message(out, metricExponential, number(data, dataTemporality, uint64(e.temporality)))
	case m.Type == model.Gauge:
		return message(out, metricGauge, data)
	}
	data = number(data, dataTemporality, uint64(e.temporality))
	return message(out, metricSum, number(data, sumMonotonic, 1))
}

func (s *series) number() (out []byte) {
	out = fixed(out, numberTime, nanosOf(s.to))
	if s.metric.Type == model.Counter {
		out = fixed(out, numberStart, nanosOf(s.from))
	}
	if s.metric.Type == model.Counter && s.value < math.MaxInt64 {
		out = fixed(out, numberInteger, uint64(s.value))
	} else {
		out = fixed(out, numberDouble, math.Float64bits(s.value))
	}
	return attributes(out, numberAttributes, s.labels)
}

func (s *series) exponential() (out []byte) {
	d := s.distribution
	out = attributes(out, exponentialAttributes, s.labels)
	out = fixed(out, exponentialStart, nanosOf(s.from))
	out = fixed(out, exponentialTime, nanosOf(s.to))
	out = fixed(out, exponentialCount, d.Count)
	out = fixed(out, exponentialSum, math.Float64bits(d.Sum))
	out = number(out, exponentialScale, protowire.EncodeZigZag(int64(d.Scale)))
	out = fixed(out, exponentialZero, d.Zero)
	buckets := number(nil, bucketsOffset, protowire.EncodeZigZag(int64(d.Offset)))
	var counts []byte
	for _, n := range d.Counts {
		counts = protowire.AppendVarint(counts, n)
	}
	out = message(out, exponentialPositive, message(buckets, bucketsCounts, counts))
	out = fixed(out, exponentialMin, math.Float64bits(d.Min))
	return fixed(out, exponentialMax, math.Float64bits(d.Max))
}

func attributes(out []byte, field protowire.Number, labels []model.Label) []byte {
	for _, l := range labels {
		out = message(out, field, attribute(l))
	}
	return out
}

func attribute(l model.Label) []byte {
	return message(text(nil, keyValueKey, l.Name), keyValueValue, text(nil, anyString, l.Value))
}

func nanosOf(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

func message(out []byte, field protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), inner)
}

func text(out []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(out, field, protowire.BytesType), outputs.Text(s))
}

func number(out []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, field, protowire.VarintType), n)
}

func fixed(out []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(out, field, protowire.Fixed64Type), n)
}
