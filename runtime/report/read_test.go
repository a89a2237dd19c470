package report

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/stats"
)

// Buckets keep every quantile.
func TestBucketsKeepQuantiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := new(stats.Histogram)
		for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 0, 200).Draw(rt, "values") {
			h.RecordN(v, rapid.Uint64Range(1, 1<<20).Draw(rt, "times"))
		}
		got, err := bucketsOf(h).Histogram()
		if err != nil {
			rt.Fatal(err)
		}
		for _, ppm := range []uint32{1, 250_000, 500_000, 990_000, 999_999, 1_000_000} {
			if got.Quantile(ppm) != h.Quantile(ppm) {
				rt.Fatalf("quantile %d is %d, was %d", ppm, got.Quantile(ppm), h.Quantile(ppm))
			}
		}
		if got.Count() != h.Count() || got.Max() != h.Max() {
			rt.Fatalf("count %d, max %d, were %d, %d", got.Count(), got.Max(), h.Count(), h.Max())
		}
	})
}

// A written result reads back as it was; Read refuses other files with an explanation.
func TestRead(t *testing.T) {
	written := &Result{Schema: Schema, Workflows: []Workflow{{Name: "w", Steps: []Step{{Name: "s", Buckets: "5:1 7:2"}}}}, Run: &Run{Command: []string{"run", "x.star"}}}
	b, err := written.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"started,ok\n1,2\n", "no result file"},
		{"{}", `schema is ""`},
		{`{"schema":"hyperscale.result/v9"}`, "v9"},
		{strings.Replace(string(b), "7:2", "4:2", 1), "latency_buckets: bucket 2"},
		{strings.Replace(string(b), "7:2", "7:0", 1), "latency_buckets: bucket 2"},
	} {
		if _, err := Decode([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Read(t.TempDir() + "/none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzDecode: whatever a file contains, Decode ends with a result or an error; a result reads
// the same after it is written again.
func FuzzDecode(f *testing.F) {
	r := &Result{Schema: Schema, Workflows: []Workflow{{Name: "w", Steps: []Step{{
		Name: "s", Buckets: "5:1 7:2", Course: Course{WidthNS: 1, Windows: []Window{{OK: 3, Buckets: "2047:3"}}},
	}}}}}
	b, err := r.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":"hyperscale.result/v1","workflows":[{"steps":[{"latency_buckets":"9:281474976710655 1:1"}]}]}`))
	f.Add([]byte(`{"schema":"hyperscale.result/v1","generator":{"saturated":1}}`))
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		first, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(first)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
