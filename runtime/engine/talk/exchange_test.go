package talk

import "testing"

// The memory of an exchange that has ended serves the next one.
func TestExchangesAreReused(t *testing.T) {
	k := NewStock(nil, nil)
	k.End(k.Begin(&Plan{}, nil, nil, 1, false))
	plan := &Plan{}
	if n := testing.AllocsPerRun(100, func() {
		x := k.Begin(plan, nil, nil, 2, true)
		if x.plan != plan || x.due != 2 || !x.keeps || x.got != 0 {
			t.Fatalf("%+v", x)
		}
		x.got++
		k.End(x)
	}); n > 0 {
		t.Errorf("%v allocations of each", n)
	}
}
