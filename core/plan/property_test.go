package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/plan/plantest"
)

func find(faults []plan.Fault, key string) *plan.Fault {
	if i := slices.IndexFunc(faults, func(f plan.Fault) bool { return f.Key == key }); i >= 0 {
		return &faults[i]
	}
	return nil
}

// TestEachBoundIsChecked: a plan within all bounds has no fault. With one bound broken it has a
// fault that names the key, the value, the bound and a remedy.
func TestEachBoundIsChecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		legal := plantest.Legal(t)
		if faults := plan.Check(legal); len(faults) > 0 {
			t.Fatalf("a plan within all bounds: %s", plan.Text(faults))
		}
		for _, b := range plantest.Breaches() {
			p := plantest.Copy(t, legal)
			w := &p.Workflows[rapid.IntRange(0, len(p.Workflows)-1).Draw(t, "workflow")]
			key := b.Set(t, p, w)
			if key == "" {
				continue // this plan has no place for it
			}
			faults := plan.Check(p)
			f := find(faults, key)
			if f == nil {
				t.Fatalf("%s: no fault of %q: %s", b.Name, key, plan.Text(faults))
			}
			if f.Value == "" || f.Bound == "" || f.Remedy == "" || !strings.Contains(f.String(), f.Key+" = "+f.Value+" must "+f.Bound+": "+f.Remedy) {
				t.Fatalf("%s: the fault lacks something: %+v", b.Name, *f)
			}
			if text := plan.Text(faults); !utf8.ValidString(text) || len(text) > 8<<10 {
				t.Fatalf("%s: the faults are no text for people: %d bytes, %q", b.Name, len(text), text)
			}
		}
	})
}

// TestAllFaultsAreReportedAtOnce: for any set of values out of bounds, one Check names each of
// them, and no key within its bounds.
func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	plain := slices.DeleteFunc(plantest.Breaches(), func(b plantest.Breach) bool { return !b.Plain })
	rapid.Check(t, func(t *rapid.T) {
		p := plantest.Legal(t)
		w := &p.Workflows[rapid.IntRange(0, len(p.Workflows)-1).Draw(t, "workflow")]
		w.Stages, w.UserIterations, w.Name = nil, 0, "only" // stages and iterations of each user hang on vus
		want := map[string]bool{}
		for _, b := range rapid.SliceOfNDistinct(rapid.SampledFrom(plain), 2, 6, func(b plantest.Breach) string { return b.Name }).Draw(t, "breaches") {
			want[b.Set(t, p, w)] = true
		}
		if want["think"] || want["think_max"] {
			want["think"], want["think_max"] = true, true // they bound each other
		}
		faults := plan.Check(p)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if f := find(faults, key); f == nil && key != "think" && key != "think_max" || f != nil && f.Workflow != "only" {
				t.Fatalf("%v are broken, and %q is not told of \"only\": %s", want, key, plan.Text(faults))
			}
		}
		for _, f := range faults {
			if !want[f.Key] {
				t.Fatalf("%v are broken, and there is a fault of %q: %v", want, f.Key, f)
			}
		}
	})
}

// TestFaultsAreBounded: Check reports a hundred faults of a plan with only faults, and Text
// ten.
func TestFaultsAreBounded(t *testing.T) {
	p := &message.Plan{Workflows: []message.WorkflowPlan{{Steps: make([]message.StepPlan, plan.StepsMax)}}}
	faults := plan.Check(p)
	if len(faults) != plan.FaultsMax {
		t.Fatalf("%d faults", len(faults))
	}
	if text := plan.Text(faults); !strings.HasSuffix(text, "; and 90 more") {
		t.Fatal(text)
	}
}

// TestLayersAddUp: no chain of workflows takes longer than Longest, by a search over all
// chains, and some chain takes as long.
func TestLayersAddUp(t *testing.T) {
	duration := func(w *message.WorkflowPlan) time.Duration { return w.Duration }
	rapid.Check(t, func(t *rapid.T) {
		p := plantest.Legal(t)
		var need func(i uint32) time.Duration // until workflow i has ended
		need = func(i uint32) (before time.Duration) {
			w := &p.Workflows[i]
			for _, k := range slices.Concat(w.Depends, w.StartAfter) {
				before = max(before, need(k))
			}
			return before + w.Duration
		}
		got, sum := plan.Longest(p, duration), time.Duration(0)
		for i := range p.Workflows {
			if n := need(uint32(i)); got < n {
				t.Fatalf("all layers take %v, the chain to workflow %d takes %v", got, i, n)
			}
			sum += p.Workflows[i].Duration
		}
		if got > sum {
			t.Fatalf("all layers take %v, all workflows one after the other take %v", got, sum)
		}
	})
}

// TestDigestsTellPlansApart: a plan that another process has read has the same digest, and each
// changed value gives another.
func TestDigestsTellPlansApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plantest.Legal(t)
		if plan.Digest(p) != plan.Digest(plantest.Copy(t, p)) {
			t.Fatal("the digest of a copy differs")
		}
		for _, b := range plantest.Breaches() {
			changed := plantest.Copy(t, p)
			if b.Set(t, changed, &changed.Workflows[0]) != "" && plan.Digest(changed) == plan.Digest(p) {
				t.Fatalf("%s: the digest stays", b.Name)
			}
		}
	})
}

// TestProgramsWithinTheirBounds: a program has one fault for each bound that it breaks.
func TestProgramsWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := message.Program{Main: "main.star", Files: []message.File{{Name: "main.star", Data: make([]byte, plantest.Edge(t, "data", 0, plan.FileBytesMax))}}}
		for i := range plantest.Edge(t, "feeds", 0, 2) {
			f := message.FeedFile{Name: plantest.Text(t, i, plan.PathMax), Bytes: plantest.Edge(t, "bytes", 1, uint64(plan.FeedBytesMax/2)), Rows: plantest.Edge(t, "rows", 1, uint64(plan.RowsMax))}
			if f.Whole = rapid.Bool().Draw(t, "whole"); f.Whole {
				f.Rows = 0
				p.Feeds = append(p.Feeds, f)
				continue
			}
			for k := range plantest.Edge(t, "columns", 1, plan.ColumnsMax) {
				f.Columns = append(f.Columns, plantest.Text(t, k, 9))
			}
			p.Feeds = append(p.Feeds, f)
		}
		if faults := plan.CheckProgram(&p); len(faults) > 0 {
			t.Fatalf("a program within all bounds: %s", plan.Text(faults))
		}
		bad := message.FeedFile{Name: "f", Bytes: 1, Rows: 1, Columns: []string{"a"}}
		key := func(name string) string { return "program.feeds[0]." + name }
		for _, b := range []struct {
			key   string
			spoil func()
		}{
			{"program.files", func() { p.Files = append(p.Files, make([]message.File, plan.FilesMax)...) }},
			{"program.files[1].name", func() { p.Files = append(p.Files, message.File{Name: plantest.BadText(t, plan.PathMax)}) }},
			{"bytes of program.files", func() { p.Files[0].Data = make([]byte, plan.FileBytesMax+1) }},
			{"program.main", func() { p.Main = "gone" }},
			{"program.params", func() { p.Params = make([]message.Param, plan.ParamsMax+1) }},
			{"program.secrets", func() { p.Secrets = make([]message.Secret, plan.SecretsMax+1) }},
			{"program.secrets[0].name", func() { p.Secrets = []message.Secret{{Name: "a b", Value: "abcd"}} }},
			{"program.secrets[0].value", func() { p.Secrets = []message.Secret{{Name: "a", Value: "abc"}} }},
			{"program.secrets[1].value", func() { p.Secrets = []message.Secret{{Name: "a", Value: "abcd"}, {Name: "b", Value: "abcd\xff"}} }},
			{"program.feeds", func() { p.Feeds = make([]message.FeedFile, plan.FeedsMax+1) }},
			{"program", func() { p.Params = []message.Param{{Value: strings.Repeat("x", plan.ProgramMax)}} }},
			{key("name"), func() { bad.Name = plantest.BadText(t, plan.PathMax); p.Feeds = []message.FeedFile{bad} }},
			{key("bytes"), func() { bad.Bytes = plan.FeedBytesMax + 1; p.Feeds = []message.FeedFile{bad} }},
			{"bytes of program.feeds", func() {
				bad.Bytes = plan.FeedBytesMax/2 + 1
				p.Feeds = []message.FeedFile{bad, bad}
			}},
			{"program.files", func() { p.Feeds = make([]message.FeedFile, plan.FilesMax) }},
			{key("whole"), func() { bad.Whole = true; p.Feeds = []message.FeedFile{bad} }},
			{key("rows"), func() { bad.Rows = 0; p.Feeds = []message.FeedFile{bad} }},
			{key("columns"), func() { bad.Columns = nil; p.Feeds = []message.FeedFile{bad} }},
			{key("columns[0]"), func() { bad.Columns = []string{""}; p.Feeds = []message.FeedFile{bad} }},
		} {
			was, whole := p, bad
			p.Files = slices.Clone(p.Files)
			b.spoil()
			if faults := plan.CheckProgram(&p); find(faults, b.key) == nil {
				t.Fatalf("%s is broken: %s", b.key, plan.Text(faults))
			}
			p, bad = was, whole
		}
	})
}
