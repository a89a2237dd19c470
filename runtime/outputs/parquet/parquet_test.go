package parquet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
)

// rowsOf are rows of every kind, with empty and long lists beside each other.
func rowsOf() []outputs.Row {
	rows := outputstest.Rows("a")
	rows[1].Figures = &outputs.Figures{Blunt: true}
	rows[2].Tags = []message.Tag{{Name: "team", Value: "checkout"}, {Name: "x", Value: "ü"}}
	rows[2].Rebased = true
	for i := range rows {
		if rows[i].Threshold != nil {
			rows[i].Threshold.Unmeasured, rows[i].Threshold.Value = true, 0
			break
		}
	}
	return rows
}

func deliver(t *testing.T, s outputs.Sink, rows []outputs.Row) {
	t.Helper()
	if out := s.Deliver(context.Background(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("%+v", out)
	}
}

func found(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// PARQUET-2, PARQUET-3: what others read is what was delivered, once, however often it was delivered.
func TestParquet(t *testing.T) {
	s := folderOf(t.TempDir())
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf()
	deliver(t, s, rows[:20])
	deliver(t, s, rows[20:])
	before := found(t, s.Path)
	first, err := os.ReadFile(before[0])
	if err != nil {
		t.Fatal(err)
	}
	deliver(t, s, rows[:20])
	deliver(t, s, rows[20:])
	if again, err := os.ReadFile(before[0]); err != nil || !bytes.Equal(first, again) || len(found(t, s.Path)) != 2 {
		t.Errorf("%v, %v, before %v", err, found(t, s.Path), before)
	}
	var got []outputs.Row
	quantiles := map[string][5]uint64{}
	for _, r := range vendorstest.Parquet(t, before...) {
		row := r.Row(t)
		got = append(got, row)
		var q [5]uint64
		for i, name := range []string{"p50_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns"} {
			if q[i], err = strconv.ParseUint(string(r[name]), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		quantiles[row.Key()] = q
	}
	byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() })
	byName := cmpopts.SortSlices(func(a, b message.Tag) bool { return a.Name < b.Name }) // a row that is read has them in any order
	if d := cmp.Diff(rows, got, byKey, byName, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	for i := range rows {
		if f := rows[i].Figures; f != nil && quantiles[rows[i].Key()] != f.Quantiles() {
			t.Errorf("%s: quantiles %v, want %v", rows[i].Key(), quantiles[rows[i].Key()], f.Quantiles())
		}
	}
}

func TestParquetOfManyRows(t *testing.T) {
	s := folderOf(t.TempDir())
	var rows []outputs.Row
	for i := range 3000 {
		r := outputstest.Rows("a")[i%50]
		r.Step = strconv.Itoa(i)
		rows = append(rows, r)
	}
	deliver(t, s, rows)
	read := vendorstest.Parquet(t, found(t, s.Path)...)
	if len(read) != len(rows) {
		t.Fatalf("%d rows, want %d", len(read), len(rows))
	}
	for i := range read {
		if got := read[i].Row(t); !cmp.Equal(got, rows[i], cmpopts.EquateEmpty()) {
			t.Fatalf("row %d: %s", i, cmp.Diff(rows[i], got, cmpopts.EquateEmpty()))
		}
	}
}

func TestParquetPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{file, file + "s"} {
		s := folderOf(place)
		if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "create it first") {
			t.Errorf("%s: %v", place, err)
		}
		if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Rows: rowsOf()}); out.Verdict != outputs.VerdictAgain {
			t.Errorf("%s: %+v", place, out)
		}
	}
}
