package export

import (
	"cmp"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
)

// series is one line of the text form: a name, labels, a value.
type series struct {
	labels labels // with the name, in the order of names
	value  float64
}

// seriesOf takes metrics apart: a summary or a histogram is many series.
func seriesOf(families []*dto.MetricFamily) (all []series) {
	for _, f := range families {
		name := f.GetName()
		for _, m := range f.Metric {
			add := func(suffix string, value float64, more ...label) {
				l := labels{{"__name__", name + suffix}}
				for _, pair := range m.Label {
					if pair.GetValue() != "" { // as good as absent, and refused
						l = append(l, label{pair.GetName(), pair.GetValue()})
					}
				}
				l = append(l, more...)
				slices.SortFunc(l, func(a, b label) int { return cmp.Compare(a.name, b.name) })
				all = append(all, series{l, value})
			}
			switch {
			case m.Counter != nil:
				add("", m.Counter.GetValue())
			case m.Gauge != nil:
				add("", m.Gauge.GetValue())
			case m.Summary != nil:
				for _, q := range m.Summary.Quantile {
					add("", q.GetValue(), label{"quantile", float(q.GetQuantile())})
				}
				add("_sum", m.Summary.GetSampleSum())
				add("_count", float64(m.Summary.GetSampleCount()))
			case m.Histogram != nil:
				for _, b := range m.Histogram.Bucket {
					add("_bucket", float64(b.GetCumulativeCount()), label{"le", float(b.GetUpperBound())})
				}
				add("_bucket", float64(m.Histogram.GetSampleCount()), label{"le", "+Inf"})
				add("_sum", m.Histogram.GetSampleSum())
				add("_count", float64(m.Histogram.GetSampleCount()))
			}
		}
	}
	return all
}

// The fields of prometheus.WriteRequest, version 1, that are in use.
const (
	requestSeries   = 1
	seriesLabels    = 1
	seriesSamples   = 2
	labelName       = 1
	labelValue      = 2
	sampleValue     = 1
	sampleTimestamp = 2 // in milliseconds since 1970
)

// encode writes a WriteRequest.
func encode(all []series, at time.Time) []byte {
	var request, one, part []byte
	for _, s := range all {
		one = one[:0]
		for _, l := range s.labels {
			part = protowire.AppendTag(part[:0], labelName, protowire.BytesType)
			part = protowire.AppendString(part, l.name)
			part = protowire.AppendTag(part, labelValue, protowire.BytesType)
			part = protowire.AppendString(part, l.value)
			one = protowire.AppendTag(one, seriesLabels, protowire.BytesType)
			one = protowire.AppendBytes(one, part)
		}
		part = protowire.AppendTag(part[:0], sampleValue, protowire.Fixed64Type)
		part = protowire.AppendFixed64(part, math.Float64bits(s.value))
		part = protowire.AppendTag(part, sampleTimestamp, protowire.VarintType)
		part = protowire.AppendVarint(part, uint64(at.UnixMilli()))
		one = protowire.AppendTag(one, seriesSamples, protowire.BytesType)
		one = protowire.AppendBytes(one, part)
		request = protowire.AppendTag(request, requestSeries, protowire.BytesType)
		request = protowire.AppendBytes(request, one)
	}
	return request
}
