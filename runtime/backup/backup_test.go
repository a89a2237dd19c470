package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/store"
)

// fake is a gate that answers from memory, a page of two registers and 100 KiB at a time.
type fake struct {
	addr      string
	epoch     uint64
	registers []message.LeaseRegister // by job
	files     [][]byte
	down      bool
	deaf      int // requests that another gate answers
	asked     []string
	atFile    func() // what happens before the first file is asked for
}

var group = []string{"a:1", "b:1", "c:1"}

func (f *fake) ask(_ context.Context, q *message.BackupQuery) (*message.BackupPage, error) {
	p := &message.BackupPage{Gate: "gate-" + f.addr, Addr: f.addr, Members: slices.Clone(group), Epoch: f.epoch, Floor: 3}
	switch {
	case f.down:
		return nil, errors.New("no program listens there")
	case f.deaf > 0:
		f.deaf--
		p.Addr = "other:1"
		return p, nil
	case q.File != (message.FileDigest{}):
		f.asked = append(f.asked, "file")
		if f.atFile != nil {
			f.atFile()
		}
		for _, b := range f.files {
			if archive.DigestOf(b) == q.File && q.Offset < uint64(len(b)) {
				end := min(len(b), int(q.Offset)+100<<10)
				p.Length, p.Data, p.More = uint64(len(b)), b[q.Offset:end], end < len(b)
			}
		}
		return p, nil
	}
	f.asked = append(f.asked, "registers")
	for _, r := range f.registers {
		if r.Job.Compare(q.After) <= 0 {
			continue
		}
		if len(p.Registers) == 2 {
			p.More = true
			break
		}
		p.Registers = append(p.Registers, r)
	}
	return p, nil
}

// made collects a backup of gates.
func made(t testing.TB, gates ...*fake) ([]byte, *Manifest) {
	t.Helper()
	task := &Task{Cluster: "c", Environment: "e", Version: "v", Members: group, Now: func() time.Time { return time.Unix(0, 0) }, Tell: func(text func() string) { _ = text() }}
	for _, g := range gates {
		slices.SortFunc(g.registers, func(a, b message.LeaseRegister) int { return a.Job.Compare(b.Job) })
		task.Gates = append(task.Gates, Gate{Addr: g.addr, Ask: g.ask})
	}
	var b bytes.Buffer
	m, err := Collect(context.Background(), task, &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

// three are gates of which no two have the same: the newest record of each job is at two of them.
func three(t testing.TB) []*fake {
	program, result := bytes.Repeat([]byte("p"), 250<<10), []byte("result")
	queued := register(t, "queued", 3, 0, jobRecord("queued", message.JobQueued, archive.DigestOf(program)))
	running := register(t, "queued", 3, 4, jobRecord("queued", message.JobRunning, archive.DigestOf(program)))
	ended := register(t, "ended", 5, 2, jobRecord("ended", message.JobCompleted, archive.DigestOf(result)))
	ended.Accepted.Released = true
	taken := register(t, "taken", 2, 9, jobRecord("taken", message.JobQueued, archive.DigestOf(program)))
	over := register(t, "taken", 4, 0, jobRecord("taken", message.JobCancelling, archive.DigestOf(program)))
	promised := message.LeaseRegister{Job: message.JobOf("promised"), Promised: message.LeaseToken{Epoch: 77, Ordinal: 2}}
	return []*fake{
		{addr: "a:1", registers: []message.LeaseRegister{queued, ended, taken}, files: [][]byte{program}},
		{addr: "b:1", registers: []message.LeaseRegister{running, over, promised}, files: [][]byte{result}},
		{addr: "c:1", registers: []message.LeaseRegister{running, ended, over}, files: [][]byte{program, result}},
	}
}

func order(dir string) *Order {
	return &Order{Cluster: "c", Environment: "e", ID: "gate-1", Members: []node.Addr{"x:1", "y:1", "z:1"}, Directory: dir, Draw: 7}
}

// TestBackupAndRestore: the restored disk has the newest record of each job, their files, marks on
// what had not ended, and tokens above all.
func TestBackupAndRestore(t *testing.T) {
	gates := three(t)
	b, m := made(t, gates...)
	if !m.Whole || len(m.Copies) != 3 || m.Files != 2 || len(m.Absent) > 0 {
		t.Fatalf("the manifest is %+v", m)
	}
	for _, g := range gates {
		if i := slices.Index(g.asked, "file"); i >= 0 && slices.Contains(g.asked[i:], "registers") {
			t.Errorf("%s is asked for registers after a file: %v", g.addr, g.asked)
		}
	}
	dir := filepath.Join(t.TempDir(), "new", "gate-1")
	r, err := Restore(bytes.NewReader(b), order(dir))
	if err != nil {
		t.Fatal(err)
	}
	if r.Token.Epoch <= 77 || r.Epoch < 64 || r.Absent > 0 {
		t.Errorf("it begins with %v in epoch %d, %d files are missing", r.Token, r.Epoch, r.Absent)
	}
	var lines []string
	for _, j := range r.Jobs {
		lines = append(lines, fmt.Sprintf("%s %v %v", j.Name, j.State, j.Unknown))
	}
	slices.Sort(lines)
	if got, want := strings.Join(lines, ", "), "ended COMPLETED false, queued RUNNING true, taken CANCELLING true"; got != want {
		t.Errorf("the jobs are %s, want %s", got, want)
	}
	a, err := Examine(dir)
	if err != nil || a.Damaged() || len(a.Notes) > 0 || a.ID != "gate-1" || a.Records["lease"].Records != 4 {
		t.Errorf("the directory is %+v, %v", a, err)
	}
	if _, err := Restore(bytes.NewReader(b), order(dir)); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("again: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left over, %v", left, err)
	}
}

// TestLessThanAMajority: a backup without a majority is not whole, and says so.
func TestLessThanAMajority(t *testing.T) {
	gates := three(t)
	gates[0].down, gates[2].down = true, true
	b, m := made(t, gates...)
	if m.Whole || len(m.Missing) != 2 || len(m.Absent) != 1 {
		t.Fatalf("the manifest is %+v", m)
	}
	dir := filepath.Join(t.TempDir(), "gate-1")
	o := order(dir)
	if _, err := Restore(bytes.NewReader(b), o); err == nil || !strings.Contains(err.Error(), "1 of 3 gates, which are no majority") {
		t.Errorf("a backup of one gate: %v", err)
	}
	o.Partial = true
	if r, err := Restore(bytes.NewReader(b), o); err != nil || r.Absent == 0 {
		t.Errorf("with --partial: %+v, %v", r, err)
	}
	gates = three(t)
	gates[1].epoch = 1 // the others run on outlived disks
	if _, m := made(t, gates...); m.Whole || m.Epoch != 1 {
		t.Errorf("two epochs: %+v", m)
	}
	gates = three(t)
	gates[0].deaf, gates[1].deaf = 2, 9
	if _, m := made(t, gates...); !m.Whole || len(m.Copies) != 2 || !strings.Contains(m.Missing[0].Why, "answers in its place") {
		t.Errorf("a gate in another's place: %+v", m)
	}
}

// TestRestoreRefuses what is not this cluster's, and leaves nothing behind.
func TestRestoreRefuses(t *testing.T) {
	b, _ := made(t, three(t)...)
	for what, change := range map[string]func(*Order){
		`is of cluster "c", and this gate is of "other"`:     func(o *Order) { o.Cluster = "other" },
		`is of environment "e", and this gate is of "other"`: func(o *Order) { o.Environment = "other" },
	} {
		dir := filepath.Join(t.TempDir(), "gate-1")
		o := order(dir)
		change(o)
		if _, err := Restore(bytes.NewReader(b), o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %s", err, what)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %s is there", what, dir)
		}
	}
}

// TestDamagedBackups: whatever happens to a backup, it is refused before anything is made.
func TestDamagedBackups(t *testing.T) {
	whole, _ := made(t, three(t)...)
	if _, err := Scan(bytes.NewReader(whole), Visitor{}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		switch rapid.SampledFrom([]string{"flip", "cut", "tail", "zeros"}).Draw(t, "how") {
		case "flip":
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		case "cut":
			b = b[:rapid.IntRange(0, len(b)-1).Draw(t, "length")]
		case "tail":
			b = append(b, byte(rapid.IntRange(0, 255).Draw(t, "byte")))
		case "zeros":
			from := rapid.IntRange(0, len(b)-1).Draw(t, "from")
			clear(b[from:min(len(b), from+rapid.IntRange(1, 9000).Draw(t, "zeros"))])
			if bytes.Equal(b, whole) {
				return
			}
		}
		if _, err := Scan(bytes.NewReader(b), Visitor{}); !errors.Is(err, ErrBackup) {
			t.Fatalf("a damaged backup is read: %v", err)
		}
	})
}

// TestForgedFiles: a file under another one's name is refused, even with good checksums.
func TestForgedFiles(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	d := archive.DigestOf([]byte("program"))
	if err := w.frame(frameFile, d[:], []byte("another")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(&Manifest{Files: 1, FileBytes: 7}); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(bytes.NewReader(b.Bytes()), Visitor{}); err == nil || !strings.Contains(err.Error(), "does not match its digest") {
		t.Errorf("a file with another one's digest is read: %v", err)
	}
}

// FuzzFrames: whatever is behind good checksums, Scan returns, and a whole backup has a majority.
func FuzzFrames(f *testing.F) {
	page := &message.BackupPage{Gate: "gate-1", Addr: "a:1", Members: group, Registers: []message.LeaseRegister{register(f, "k", 3, 0, jobRecord("k", message.JobQueued, message.FileDigest{1}))}}
	body, err := page.MarshalMsg(nil)
	if err != nil {
		f.Fatal(err)
	}
	d := archive.DigestOf([]byte("program"))
	f.Add(byte(framePage), body, uint8(3))
	f.Add(byte(frameFile), append(d[:], "program"...), uint8(0))
	f.Add(byte(frameManifest), []byte(`{"schema":"hyperscale.backup/v1","members":["a:1"],"whole":true}`), uint8(1))
	f.Fuzz(func(t *testing.T, kind byte, body []byte, members uint8) {
		if len(body) > bodyMax {
			return
		}
		var b bytes.Buffer
		w, err := NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.frame(kind, body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(&Manifest{Members: make([]string, members), Whole: true}); err != nil {
			t.Fatal(err)
		}
		m, err := Scan(bytes.NewReader(b.Bytes()), Visitor{})
		if (m == nil) != (err != nil) || err == nil && m.Whole && m.counted() < len(m.Members)/2+1 {
			t.Fatalf("%+v, %v", m, err)
		}
	})
}

// TestRestoredStoreOpens: a node starts on what a restore has made, as its first start.
func TestRestoredStoreOpens(t *testing.T) {
	b, _ := made(t, three(t)...)
	dir := filepath.Join(t.TempDir(), "gate-1")
	if err := os.Mkdir(dir, 0o755); err != nil { // an empty one may be there
		t.Fatal(err)
	}
	if _, err := Restore(bytes.NewReader(b), order(dir)); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, "gate-1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got := s.Load("lease/gates/member"); len(got) != 1 {
		t.Errorf("%d marks", len(got))
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// TestJobsThatEndMeanwhile: gates drop the program of a job that ends after its register was
// copied. The backup then has its end, not a job without a program.
func TestJobsThatEndMeanwhile(t *testing.T) {
	gates := three(t)
	result := []byte("the end")
	ended := register(t, "queued", 3, 7, jobRecord("queued", message.JobCompleted, archive.DigestOf(result)))
	taken := register(t, "taken", 4, 3, jobRecord("taken", message.JobCancelled, archive.DigestOf(result)))
	for _, g := range gates {
		g.atFile = func() {
			for _, g := range gates {
				g.registers, g.files, g.atFile = []message.LeaseRegister{ended, taken}, [][]byte{result}, nil
				slices.SortFunc(g.registers, func(a, b message.LeaseRegister) int { return a.Job.Compare(b.Job) })
			}
		}
	}
	b, m := made(t, gates...)
	if !m.Whole || len(m.Absent) > 0 || len(m.Copies) != 6 {
		t.Fatalf("the manifest is %+v", m)
	}
	r, err := Restore(bytes.NewReader(b), order(filepath.Join(t.TempDir(), "gate-1")))
	if err != nil || r.Absent > 0 {
		t.Fatalf("%d files are missing, %v", r.Absent, err)
	}
	for _, j := range r.Jobs {
		if j.Unknown {
			t.Errorf("job %s is %v, and unknown", j.Name, j.State)
		}
	}
}
