package workflow_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// small keeps a hostile file below milliseconds.
func small() guard.Limits {
	l := guard.DefaultLimits()
	l.LoadSteps, l.LoadBytes = 20_000, 1<<20
	l.CallSteps, l.CallBytes = 20_000, 1<<20
	l.ValueBytes, l.Elements, l.KeptBytes = 1<<16, 1<<12, 1<<18
	return l
}

// FuzzLoad loads any bytes as a file. It is rejected with an *Error, or has a plan that loads
// again to the same digest and whose functions can be called.
func FuzzLoad(f *testing.F) {
	//lint:orderfree a corpus is a set
	for _, text := range examples(f) {
		f.Add(text)
	}
	wrong, err := filepath.Glob("testdata/errors/*.star")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range wrong {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := program("fuzz.star", text)
		loaded, err := workflow.LoadWithin(p, small())
		if err != nil {
			var wrong *language.Error
			if !errors.As(err, &wrong) || wrong.Error() == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := workflow.LoadWithin(p, small())
		if err != nil || again.Digest() != loaded.Digest() {
			t.Fatalf("the second load differs: %v", err)
		}
		for _, w := range loaded.Plan().Workflows {
			w := loaded.Workflow(w.Name)
			v := w.NewVU(1, 1, &fake{})
			v.Begin()
			for i, s := range w.Steps {
				if s.Request != nil {
					v.SetResponse(i, &workflow.Response{Status: 200, Body: []byte(`{"token": "t"}`)})
				} else {
					v.Call(i)
				}
			}
		}
	})
}

// Programs of whole declarations load to the same plan each time, in which everything points
// backwards.
func TestLoadIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "steps")
		text := "workflow(name = \"w\", vus = 3, steps = [\n"
		names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}[:n]).Draw(t, "names")
		for i := range n {
			after := "[]"
			if i > 0 {
				after = "[\"" + names[rapid.IntRange(0, n-1).Draw(t, "after")] + "\"]"
			}
			text += "  step(\"" + names[i] + "\", http.get(\"http://h/\"), after = " + after + "),\n"
		}
		p := program("w.star", text+"])\n")
		first, err := workflow.Load(p)
		second, err2 := workflow.Load(p)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("first %v, then %v", err, err2)
		}
		if err != nil {
			return // a cycle
		}
		if first.Digest() != second.Digest() {
			t.Fatal("two loads, two digests")
		}
		backwards(t, first.Plan())
	})
}

func backwards(t *rapid.T, p *message.Plan) {
	for _, w := range p.Workflows {
		for i, s := range w.Steps {
			layer := uint32(0)
			for _, k := range s.After {
				if int(k) >= i {
					t.Fatalf("step %d is after step %d", i, k)
				}
				layer = max(layer, w.Steps[k].Layer+1)
			}
			if s.Layer != layer {
				t.Fatalf("step %d has layer %d, want %d", i, s.Layer, layer)
			}
		}
	}
}
