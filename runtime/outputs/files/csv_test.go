package files

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// cruelRows have names that CSV and spreadsheets take for something else.
func cruelRows(job string) []outputs.Row {
	rows := outputstest.Rows(job)
	for i, name := range []string{"'already", "''", "=1+1", "a\r\nb", "a\rb", `"`, `""`, `","`, "\t=1", "＝1", "'=1", " x "} {
		rows[i].Step = name
		rows[i].Tags = []message.Tag{{Name: name, Value: `it's "x"`}}
	}
	return rows
}

// FILES-4: what is read is what was delivered, and the standard library's reader finds a cell for each column.
func TestRecordsComeBack(t *testing.T) {
	l := &lines{format: csv(), name: filepath.Join(t.TempDir(), "rows.csv")}
	rows := cruelRows("a")
	deliver(t, l, rows[:9])
	deliver(t, l, rows[9:])
	l.Close()
	got, err := l.read(l.name, "a")
	require.NoError(t, err)
	if d := cmp.Diff(rows, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	none, err := l.read(l.name, "b")
	require.NoError(t, err)
	require.Empty(t, none)
	b, err := os.ReadFile(l.name)
	require.NoError(t, err)
	records, err := stdcsv.NewReader(bytes.NewReader(b)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, len(rows)+1, "one head")
	require.Equal(t, []string{"kind", "job", "test", "started"}, records[0][:4])
	column := func(name string, of []string) string {
		for i, c := range records[0] {
			if c == name {
				return of[i]
			}
		}
		t.Fatalf("no column %s", name)
		return ""
	}
	for i, name := range []string{"''already", "'''", "'=1+1"} {
		require.Equal(t, name, column("step", records[i+1]))
	}
	window := records[1+3]
	require.Equal(t, []string{"window", "4", "4", "0"}, []string{column("kind", window), column("begun", window), column("ok", window), column("failed", window)})
	require.Equal(t, `{"200":4,"503":1}`, column("statuses", window))
	run := records[len(records)-1]
	require.Equal(t, []string{"run", "COMPLETED", "4000", "7", "true"}, []string{column("kind", run), column("outcome", run), column("requests", run), column("lost_requests", run), column("thresholds_ok", run)})
}

// FILES-1: a crash tears the last record alone, also within a cell that has a line end, and the first delivery cuts it.
func TestATornRecord(t *testing.T) {
	dir := t.TempDir()
	l := &lines{format: csv(), name: filepath.Join(dir, "rows.csv")}
	rows := cruelRows("a")
	deliver(t, l, rows[:3])
	l.Close()
	whole, err := os.ReadFile(l.name)
	require.NoError(t, err)
	next := appendRecord(nil, &rows[3]) // its step has CR LF
	require.Contains(t, string(next), "a\r\nb")
	for cut := 1; cut < len(next); cut++ {
		require.NoError(t, os.WriteFile(l.name, append(whole[:len(whole):len(whole)], next[:cut]...), 0o600))
		got, err := l.read(l.name, "")
		require.ErrorIs(t, err, outputs.ErrTorn, "%q", next[:cut])
		require.Len(t, got, 3)
		again := &lines{format: csv(), name: l.name}
		deliver(t, again, rows[3:4])
		again.Close()
		b, err := os.ReadFile(l.name)
		require.NoError(t, err)
		require.Equal(t, string(whole)+string(next), string(b), "cut behind %d bytes", cut)
	}
}

// The end of the last whole record is that of the file, however long it is.
func TestATornRecordOfALongFile(t *testing.T) {
	l := &lines{format: csv(), name: filepath.Join(t.TempDir(), "rows.csv")}
	rows := cruelRows("a")
	for range 7 {
		deliver(t, l, rows)
	}
	l.Close()
	whole, err := os.ReadFile(l.name)
	require.NoError(t, err)
	require.Greater(t, len(whole), 3*64<<10)
	require.NoError(t, os.WriteFile(l.name, append(whole[:len(whole):len(whole)], "window,\"a\r\n"...), 0o600))
	got, err := l.read(l.name, "a")
	require.ErrorIs(t, err, outputs.ErrTorn)
	require.Len(t, got, 7*len(rows))
	again := &lines{format: csv(), name: l.name}
	deliver(t, again, rows[:1])
	again.Close()
	b, err := os.ReadFile(l.name)
	require.NoError(t, err)
	require.True(t, string(b) == string(appendRecord(whole, &rows[0])), "the first %d bytes stay, and a record follows", len(whole))
}

// FILES-3: it appends to no table of others, also of its own result.
func TestTablesOfOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "steps.csv")
	for _, text := range []string{"job,name,started_at,datacenter,workflow,step\r\n", strings.TrimSuffix(csvHead(), "\r\n") + "\n", csvHead()[:20], `"`, "{}\n"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		err := (&lines{format: csv(), name: name}).Check(context.Background())
		require.ErrorIs(t, err, errOther, "%q", text)
		f := csv()
		_, err = f.read(name, "")
		require.ErrorIs(t, err, errOther, "%q", text)
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
	require.NoError(t, os.WriteFile(name, []byte(csvHead()+"a,b\r\n"), 0o600))
	f := csv()
	_, err := f.read(name, "")
	require.ErrorIs(t, err, errRecord)
	require.False(t, errors.Is(err, outputs.ErrTorn))
}

// What a file has may be anything, and what is a row comes back as it is.
func FuzzRecord(f *testing.F) {
	for _, r := range cruelRows("a") {
		f.Add(appendRecord(nil, &r))
	}
	f.Add([]byte("\"\r\n\",,\r\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		r, err := parseRecord(record)
		if err != nil {
			return
		}
		again, err := parseRecord(appendRecord(nil, &r))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}
