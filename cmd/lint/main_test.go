package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the complaints of this run as the golden files")

// TestGolden runs the linter on modules with planted violations. Each module of testdata breaks
// the rules of one group; its golden file holds the exit code, the complaints and stderr.
func TestGolden(t *testing.T) {
	modules, err := filepath.Glob("testdata/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatalf("no planted modules: %v", err)
	}
	for _, module := range modules {
		dir := filepath.Dir(module)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			compare(t, dir+".golden", lint(t, dir))
		})
	}
}

// lint prints a run as the golden files keep it, without this machine's paths.
func lint(t *testing.T, dir string) string {
	t.Helper()
	root, err := moduleRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	code := run(root, nil, &stdout, &stderr)
	text := map[int]string{exitClean: "clean", exitComplaints: "complaints", exitNotLoaded: "not loaded"}[code]
	return strings.ReplaceAll("exit: "+text+"\n"+stdout.String()+stderr.String(), root+string(filepath.Separator), "")
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v: write it with go test ./cmd/lint -rewrite", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("complaints differ from %s (-want +got), rewrite with go test ./cmd/lint -rewrite:\n%s", golden, diff)
	}
}

// TestEdgesNameRooms checks that the explanations of forbidden edges name existing rooms, and
// no edge that the table allows.
func TestEdgesNameRooms(t *testing.T) {
	may := map[string][]string{"": nil}
	for _, r := range rooms {
		may[r.name] = r.may
		if r.why == "" {
			t.Errorf("room %s: no reason", r.name)
		}
	}
	for _, edge := range mayNot {
		allowed, from := may[edge.from]
		_, to := may[edge.to]
		if !from || !to {
			t.Errorf("edge %q -> %q: no such room", edge.from, edge.to)
		}
		for _, name := range allowed {
			if name == edge.to {
				t.Errorf("edge %q -> %q is explained and allowed", edge.from, edge.to)
			}
		}
	}
	for _, r := range rooms {
		for _, name := range r.may {
			if _, ok := may[name]; !ok {
				t.Errorf("room %s may import %s: no such room", r.name, name)
			}
		}
	}
}
