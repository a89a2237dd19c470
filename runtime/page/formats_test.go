package page

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"hyperscale/runtime/report/reporttest"
	"hyperscale/runtime/ui/units"
)

// TestFormats holds numbers and axes to a golden, which runtime/live's scripts have, too: a figure reads the
// same on the page of a result and on the live one.
func TestFormats(t *testing.T) {
	type row struct {
		In  []float64 `json:"in"`
		Out any       `json:"out"`
	}
	counts := []uint64{0, 1, 7, 12, 100, 999, 1000, 1234, 9999, 10_000, 12_345, 99_999, 100_000, 123_456, 999_499, 999_500, 1_000_000, 1_234_567, 19_999_999, 4_503_599_627_370_495}
	nanos := []uint64{0, 1, 999, 1000, 1023, 9_994, 9_995, 12_345, 99_949, 99_950, 999_499, 999_500, 999_600, 1_500_000, 9_995_000, 45_678_901, 250_000_000, 999_499_999, 999_500_000, 1_000_000_000, 59_949_000_000, 59_950_000_000, 61_000_000_000, 185_400_000_000, 3_599_600_000_000, 3_600_000_000_000, 7_499_000_000_000, 86_400_000_000_000}
	out := map[string][]row{}
	one := func(name string, v uint64, text string) {
		out[name] = append(out[name], row{[]float64{float64(v)}, text})
	}
	for _, v := range counts {
		one("count", v, units.Count(v))
		one("milli", v, units.Milli(v))
		one("bytes", v, units.Bytes(v))
	}
	for _, v := range nanos {
		one("latency", v, units.Latency(v))
		one("duration", v, units.Duration(time.Duration(v)))
	}
	for _, p := range [][2]uint64{{0, 0}, {0, 5}, {5, 5}, {6, 5}, {1, 3}, {1, 1_000_000}, {999_999, 1_000_000}, {12_345, 100_000}} {
		out["share"] = append(out["share"], row{[]float64{float64(p[0]), float64(p[1])}, units.Share(p[0], p[1])})
	}
	axisOf := func(name string, in []float64, a axis) {
		type mark struct {
			At    float64 `json:"at"`
			Label string  `json:"label"`
		}
		marks := []mark{}
		for _, k := range a.ticks {
			marks = append(marks, mark{math.Round(k.at*1e6) / 1e6, k.label})
		}
		out[name] = append(out[name], row{in, map[string]any{"low": a.low, "high": a.high, "ticks": marks}})
	}
	for _, high := range []float64{0, 0.004, 1, 3, 7.5, 40, 999, 1234, 5800, 123_456} {
		axisOf("linear", []float64{high}, linear(high, rateLabel))
	}
	for _, p := range [][2]float64{{1, 10}, {4_700_000, 5_300_000}, {900_000, 250_000_000}, {2048, 9e9}, {1e6, 1e8}, {300, 1e11}} {
		axisOf("octaves", p[:], octaves(p[0], p[1], latencyLabel))
	}
	for _, span := range []int64{1, 250_000_000, 1_000_000_000, 5_000_000_000, 60_000_000_000, 299_000_000_000, 3_600_000_000_000, 90_000_000_000_000, 900_000_000_000_000} {
		axisOf("times", []float64{float64(span)}, times(span))
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/formats.json", string(b)+"\n")
}
