package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/scenarios"
)

// A fault that no world draws proves nothing: storm reaches every kind that the simulator
// knows, except the one that ends all others.
func TestStormDrawsEveryKindOfFault(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../sim/fault.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Fault") && len(v.Values) == 1 {
			kind, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds[kind] = true
		}
		return true
	})
	if len(kinds) < 20 {
		t.Fatalf("sim/fault.go declares %d kinds of faults: is this test out of date?", len(kinds))
	}
	delete(kinds, "heal")
	storm, err := scenarios.Find("storm")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 40 && len(kinds) > 0; seed++ {
		for _, f := range storm.Run(scenarios.Options{Seed: seed, Virtual: time.Second}).Faults {
			delete(kinds, f.Kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Errorf("40 seeds of storm draw no fault %q", kind)
	}
}
