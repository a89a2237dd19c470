package files

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

func opened(t *testing.T, place string) outputs.Sink {
	t.Helper()
	k := JSONL()
	s, err := outputs.Parse(&k, place)
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	return sink
}

// Of a folder with a file that broke off, the rows that are whole count.
func TestAFolderWithATornFile(t *testing.T) {
	folder, rows := t.TempDir()+"/", outputstest.Rows("a")
	for i, batch := range [][]outputs.Row{rows[:9], rows[9:20], rows[20:]} {
		s := opened(t, folder)
		require.Equal(t, outputs.Delivered(), s.Deliver(context.Background(), outputs.Batch{Number: uint64(i + 1), Rows: batch}))
		s.Close()
	}
	files, err := filepath.Glob(folder + "*")
	require.NoError(t, err)
	at, err := os.Stat(files[0])
	require.NoError(t, err)
	require.NoError(t, os.Truncate(files[0], at.Size()-10))
	got, err := Read(folder, "a")
	require.ErrorIs(t, err, outputs.ErrTorn)
	require.Len(t, got, len(rows)-1)
}

// FILES-5: two gates deliver a job, and the second one repeats the last batch of the first. In one folder each row is there
// once. Of two folders, on disks of their own, both have that batch, and files put together are those of one folder.
func TestTwoGatesFillFolders(t *testing.T) {
	rows := outputstest.Rows("a")
	batches := [][]outputs.Row{rows[:9], rows[9:20], rows[20:]}
	shared, disks := t.TempDir()+"/", []string{t.TempDir() + "/", t.TempDir() + "/"}
	for gate, of := range [][][]outputs.Row{batches[:2], batches[1:]} {
		for i, batch := range of {
			for _, folder := range []string{shared, disks[gate]} {
				s := opened(t, folder)
				require.NoError(t, s.Check(context.Background()))
				require.Equal(t, outputs.Delivered(), s.Deliver(context.Background(), outputs.Batch{Number: uint64(i + 1), Again: gate == 1 && i == 0, Rows: batch}))
				s.Close()
			}
		}
	}
	whole := func(folder string) {
		got, err := Read(folder, "a")
		require.NoError(t, err)
		byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() })
		if d := cmp.Diff(rows, got, cmpopts.EquateEmpty(), byKey); d != "" {
			t.Fatal(d)
		}
	}
	whole(shared)
	for gate, want := range []int{20, len(rows) - 9} {
		got, err := Read(disks[gate], "a")
		require.NoError(t, err)
		require.Len(t, got, want)
	}
	files, err := filepath.Glob(disks[0] + "*")
	require.NoError(t, err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(disks[1], filepath.Base(name)), b, 0o600))
	}
	whole(disks[1])
	got, err := Read(shared, "b")
	require.NoError(t, err)
	require.Empty(t, got, "rows of another job")
}

// FILES-5: what a crash leaves unfinished is no file of the folder, and a folder that cannot take files says why.
func TestFoldersWithFaults(t *testing.T) {
	folder := t.TempDir() + "/"
	s := opened(t, folder)
	require.Equal(t, outputs.Delivered(), s.Deliver(context.Background(), outputs.Batch{Rows: outputstest.Rows("a")[:3]}))
	for name, age := range map[string]time.Duration{unfinished + "1": 0, unfinished + "2": 2 * time.Hour, unfinished + "notes": 2 * time.Hour, "notes": 2 * time.Hour} {
		require.NoError(t, os.WriteFile(folder+name, []byte(`{"kind":`), 0o600))
		require.NoError(t, os.Chtimes(folder+name, time.Now().Add(-age), time.Now().Add(-age)))
	}
	got, err := Read(folder, "")
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.NoError(t, s.Check(context.Background()))
	all, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, all, 4, "the batch, what another process may be writing, and files of others")
	require.NoFileExists(t, folder+unfinished+"2", "a process that was killed left it")
	require.ErrorContains(t, opened(t, folder+"none/").Check(context.Background()), "is no folder: create it first")
	require.ErrorContains(t, opened(t, folder[:len(folder)-1]).Check(context.Background()), "end its name with /, for a file for each batch")
	require.Equal(t, outputs.VerdictAgain, opened(t, folder+"none/").Deliver(context.Background(), outputs.Batch{Rows: got}).Verdict)
}

// TestGatesNeedFolders: a file belongs to one process.
func TestGatesNeedFolders(t *testing.T) {
	k := JSONL()
	for place, want := range map[string]string{"rows/": "", "rows.jsonl": "name a folder, as in address: rows/"} {
		s, err := outputs.Parse(&k, place)
		require.NoError(t, err)
		if got := k.Alone(s); want == "" {
			require.Empty(t, got)
		} else {
			require.Contains(t, got, want)
		}
	}
}

// A folder that cannot be read is an error, and no folder without rows.
func TestAFolderThatCannotBeRead(t *testing.T) {
	f := jsonl()
	_, err := f.readFolder(filepath.Join(t.TempDir(), "gone"), "")
	require.ErrorIs(t, err, os.ErrNotExist)
}
