package main

import (
	"slices"
	"strings"
	"testing"
)

// TestKeepers: what reaches a function that calls methods by name is named up to main, and reflect's own are not.
func TestKeepers(t *testing.T) {
	chains, faults := keepers(strings.NewReader(`# hyperscale/cmd/hyperscale
runtime.main -> main.main
main.main -> main.help
main.help -> text/template.(*state).evalField <ReflectMethod>
text/template.(*state).evalField <ReflectMethod> -> reflect.Value.MethodByName
type:reflect.Value <UsedInIface> -> reflect.(*Value).Method <ReflectMethod>
main.other -> text/template.(*state).evalField <ReflectMethod>
`))
	want := []string{"text/template.(*state).evalField", "main.help", "main.main"}
	if len(chains) != 1 || !slices.Equal(chains[0], want) || faults != "# hyperscale/cmd/hyperscale\n" {
		t.Errorf("got %q and faults %q, want one chain %q", chains, faults, want)
	}
}

// TestPackages sums functions by package, generic and nested ones too, and nothing else.
func TestPackages(t *testing.T) {
	got := packages(strings.NewReader(`  401000         30 T slices.SortFunc[go.shape.struct { hyperscale/core/message.ID }]
  401040         12 T hyperscale/core/gate.(*Machine).Step.func1
  401060          8 t hyperscale/core/gate.init.0
  501000        100 D hyperscale/core/gate.table
                  0 U nothing
`))
	if len(got) != 2 || got["slices"] != 30 || got["hyperscale/core/gate"] != 20 {
		t.Errorf("got %v", got)
	}
}

// TestTell: a bound is missed by more than it allows, and by no less.
func TestTell(t *testing.T) {
	var b strings.Builder
	err := (&comparison{starts: 3}).tell(&b, "abc", []line{{"stripped", "MB", 40, 46, 6}, {"packed", "MB", 10, 90, 0}, {"  of these new", "", 0, 13, 12}}, []string{"a.org/b"})
	if err == nil || err.Error() != "bound missed: of these new" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"stripped MB                   40.00      46.00      +6.00  6 MB: met", "12 : missed", "new: a.org/b"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// TestMemory reads what the kernel writes.
func TestMemory(t *testing.T) {
	status := []byte("Name:\thyperscale\nVmRSS:\t   24312 kB\nRssAnon:\t    5632 kB\nRssFile:\t   18680 kB\n")
	if own, all := kilobytes(status, "RssAnon:"), kilobytes(status, "VmRSS:"); own != 5632 || all != 24312 {
		t.Errorf("got %d and %d", own, all)
	}
}

func TestMissing(t *testing.T) {
	if got := missing([]string{"a", "b", "c"}, []string{"b"}); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %q", got)
	}
}
