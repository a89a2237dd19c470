package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"hyperscale/core/stats"
)

// sizeMax bounds a result file that is read: a run of an hour with a hundred steps in
// three datacenters is some 20 MB.
const sizeMax = 256 << 20

// Read reads a result file, "-" for stdin. It skips fields that it does not know, which come
// from a newer version.
func Read(file string) (*Result, error) {
	in := os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read a result: %w", err)
		}
		defer func() { _ = f.Close() }() // nothing was written to it
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, sizeMax+1))
	if err != nil {
		return nil, fmt.Errorf("read result %s: %w", file, err)
	}
	r, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("read result %s: %w", file, err)
	}
	return r, nil
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Result, error) {
	if len(b) > sizeMax {
		return nil, fmt.Errorf("it is larger than %d MiB, no run writes so much", sizeMax>>20)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, errors.New("it is empty: give the file that --out json=FILE wrote")
	}
	r := new(Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("it is no result file: %w: give the file that --out json=FILE wrote", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("its schema is %.60q, want %q: give the file that --out json=FILE wrote, with this version of hyperscale", r.Schema, Schema)
	}
	for i := range r.Workflows {
		w := &r.Workflows[i]
		for _, s := range slices.Concat(w.Steps, w.Requests, w.Beside) {
			if err := s.checkBuckets(); err != nil {
				return nil, fmt.Errorf("workflow %s, step %s, %w", w.Name, s.Name, err)
			}
		}
	}
	r.complete()
	r.forget()
	return r, nil
}

// forget drops the zeroes that earlier versions wrote for datacenters without a report.
func (r *Result) forget() {
	//lint:orderfree each is judged alone
	for name, d := range r.Datacenters {
		if d.Figures != nil && (len(d.Workflows) == 0 || slices.Contains(r.Missing, name)) {
			d.Figures = nil
			r.Datacenters[name] = d
		}
	}
}

// complete fills in what earlier versions did not write: their steps were all requests.
func (r *Result) complete() {
	if r.Requested != (Totals{}) {
		return
	}
	r.Requested = r.Totals
	for i := range r.Workflows {
		r.Workflows[i].Requested = r.Workflows[i].Totals
	}
	//lint:orderfree each is filled in alone
	for name, d := range r.Datacenters {
		if d.Figures != nil {
			d.Requested = d.Totals
		}
		r.Datacenters[name] = d
	}
}

// checkBuckets refuses histograms that Build does not write.
func (s *Step) checkBuckets() error {
	nothing := func(uint64, uint64) {}
	if err := s.Buckets.Each(nothing); err != nil {
		return fmt.Errorf("latency_buckets: %w", err)
	}
	if n := s.Course.PerOctave; n < 0 || n > stats.FineMost || n&(n-1) != 0 {
		return fmt.Errorf("course, buckets_per_octave = %d: want 1, 2, 4 or %d, as --out json=FILE writes", n, stats.FineMost)
	}
	for i := range s.Course.Windows {
		if err := s.Course.Windows[i].Buckets.Each(nothing); err != nil {
			return fmt.Errorf("course, window %d, latency_buckets: %w", i, err)
		}
	}
	return nil
}
