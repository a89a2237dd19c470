package workflow

import (
	"slices"
	"testing"

	"hyperscale/core/message"
)

// A function before all workflows runs in one of its own, which all others depend on and take a
// value of; one after them runs whatever became of them. Both have one virtual user, so one
// executor, and one iteration.
func TestOnceForAll(t *testing.T) {
	const prepare, clean, load = "def f(vu):\n    return 1\nbefore_all(f)\n", "def g(vu):\n    pass\nafter_all(g)\n", `
workflow(name = "a", steps = [step("home", http.get("http://h/"))])
workflow(name = "b", depends = ["a"], steps = [step("home", http.get("http://h/"))])
`
	for _, c := range []struct {
		source  string
		names   []string
		depends map[string][]uint32
		starts  map[string][]uint32
	}{
		{prepare + load, []string{"before_all", "a", "b"}, map[string][]uint32{"a": {0}, "b": {0, 1}}, nil},
		{clean + load, []string{"a", "b", "after_all"}, map[string][]uint32{"b": {0}}, map[string][]uint32{"after_all": {0, 1}}},
		{prepare + clean + load, []string{"before_all", "a", "b", "after_all"}, map[string][]uint32{"a": {0}, "b": {0, 1}, "after_all": {0}}, map[string][]uint32{"after_all": {1, 2}}},
	} {
		p, err := Load(message.Program{Main: "t.star", Files: []message.File{{Name: "t.star", Data: []byte(c.source)}}})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i, w := range p.Plan().Workflows {
			names = append(names, w.Name)
			once := w.Name == "before_all" || w.Name == "after_all"
			switch {
			case !slices.Equal(w.Depends, c.depends[w.Name]) || !slices.Equal(w.StartAfter, c.starts[w.Name]):
				t.Errorf("%s depends on %v and starts after %v, want %v and %v", w.Name, w.Depends, w.StartAfter, c.depends[w.Name], c.starts[w.Name])
			case once && (w.Test || w.VUs != 1 || w.Duration != 0):
				t.Errorf("%s is load: %+v", w.Name, w)
			case p.workflows[i].Uses() != (len(c.depends[w.Name]) > 0 && c.names[0] == "before_all"):
				t.Errorf("%s uses what before_all returns: %v", w.Name, p.workflows[i].Uses())
			}
		}
		if got, want := int(p.Plan().AfterAll), slices.Index(names, "after_all")+1; got != want {
			t.Errorf("workflow %d of %v cleans up, want %d", got, names, want)
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("workflows %v, want %v", names, c.names)
		}
	}
}
