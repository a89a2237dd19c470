package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/rows"
)

// mapped uses rows as an executor does: from lent memory, and leased rows.
func mapped(w *Work) string {
	table, err := rows.Map(w.Sheets[0], &w.Start.Program.Feeds[0])
	if err != nil {
		return err.Error()
	}
	woken := make(chan struct{}, 1)
	w.Rows.OnAnswer(func() { woken <- struct{}{} })
	w.Rows.Ask(0, 3)
	<-woken
	first, count, ok := w.Rows.Answer(0)
	_, _, again := w.Rows.Answer(0)
	r := feed.NewReader(table)
	return fmt.Sprintf("%d+%d %v %v %s", first, count, ok, again, r.Read(first)[1])
}

func startRows(h *harness, id node.ExecID, name message.FeedFile) {
	h.Start(id, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "rows", PlanDigest: 1, VUs: 3,
		Program: message.Program{Main: "x.star", Feeds: []message.FeedFile{name}}})
}

// people is a folder with a file of rows, and its description.
func people(t *testing.T) (folder string, name message.FeedFile) {
	t.Helper()
	folder = t.TempDir()
	path := filepath.Join(folder, "people.csv")
	text := "id,name\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,\"n%d\"\n", i, i)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sheet, err := rows.Read(folder, "people.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	name = sheet.Name("people.csv")
	if err := sheet.Close(); err != nil {
		t.Fatal(err)
	}
	return folder, name
}

// leaseRows leases rows to a run that asks for them, and returns what it says at its end.
func leaseRows(t *testing.T, h *harness, id node.ExecID) (said string) {
	t.Helper()
	for {
		e := h.next(t, id)
		if e.Kind == node.ExecGone {
			if said == "" {
				t.Fatalf("gone: %s %s", e.Reason, e.Tail)
			}
			return said
		}
		if ask, ok := e.Body.(*message.ExecRows); ok {
			if ask.Ask != 1 || ask.Want != 3 {
				t.Errorf("asked %+v", ask)
			}
			h.Tell(id, &message.ExecRowsLeased{Ask: 7, First: 1, Count: 1}) // none of its questions
			h.Tell(id, &message.ExecRowsLeased{Ask: 1, First: 40, Count: 3})
		}
		if r, ok := e.Body.(*message.ExecResult); ok {
			said = r.Error
		}
	}
}

func TestRowsAreLent(t *testing.T) {
	folder, name := people(t)
	h := start(t, func(c *Config) { c.Feeds = folder })
	for id := node.ExecID(1); id < 3; id++ {
		startRows(h, id, name)
		if got, want := leaseRows(t, h, id), "40+3 true false n40"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	name.Digest[0]++
	startRows(h, 9, name)
	e := h.next(t, 9)
	for e.Kind != node.ExecGone {
		e = h.next(t, 9)
	}
	if !strings.Contains(e.Reason, "another file here") {
		t.Errorf("got %q", e.Reason)
	}
}

// wholes reads the files that it was lent.
func wholes(w *Work) string {
	for i := range w.Sheets {
		name := &w.Start.Program.Feeds[i]
		data, err := rows.MapWhole(w.Sheets[i], name)
		if err != nil {
			return err.Error()
		}
		if string(data) != "file "+name.Name {
			return fmt.Sprintf("%s has %q", name.Name, data)
		}
	}
	return fmt.Sprintf("%d files", len(w.Sheets))
}

// As many files as a program may have are handed over, each in its place.
func TestManyFilesAreLent(t *testing.T) {
	folder := t.TempDir()
	p := message.Program{Main: "x.star"}
	for i := range 999 {
		name := fmt.Sprint(i)
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("file "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := rows.Describe(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		f.Name = name
		p.Feeds = append(p.Feeds, f)
	}
	h := start(t, func(c *Config) { c.Feeds = folder })
	h.Start(1, 0, &message.ExecStart{Shard: message.ShardID{Job: message.JobID{1}}, Workflow: "files", PlanDigest: 1, VUs: 1, Program: p})
	said := ""
	e := h.next(t, 1)
	for ; e.Kind != node.ExecGone; e = h.next(t, 1) {
		if r, ok := e.Body.(*message.ExecResult); ok {
			said = r.Error
		}
	}
	if said != "999 files" {
		t.Errorf("it says %q, gone: %s %s", said, e.Reason, e.Tail)
	}
}
