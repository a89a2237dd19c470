package kinds_test

import (
	"path/filepath"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
)

func init() {
	places["parquet"] = func(t *testing.T) outputstest.Place { return &folder{t, t.TempDir()} }
}

// folder is one on a disk that works.
type folder struct {
	t    *testing.T
	name string
}

func (f *folder) Name() string                { return f.name }
func (f *folder) Misbehave(outputstest.Fault) {}
func (f *folder) Can(outputstest.Fault) bool  { return false }
func (f *folder) Key(r *outputs.Row) string   { return r.Key() }

func (f *folder) Stored(job string) (map[string]int, error) {
	files, err := filepath.Glob(filepath.Join(f.name, "*"))
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, p := range vendorstest.Parquet(f.t, files...) {
		if r := p.Row(f.t); r.Job == job {
			all[r.Key()]++
		}
	}
	return all, nil
}
