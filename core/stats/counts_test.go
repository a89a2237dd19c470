package stats_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// TestEveryCountIsAddedUp: no count of a step is forgotten when executors' figures are merged.
func TestEveryCountIsAddedUp(t *testing.T) {
	part := func(first uint64) *message.Stats {
		s := message.StepStats{Name: "a", Kind: message.StepRequest}
		v := reflect.ValueOf(&s).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Uint64 {
				f.SetUint(first + uint64(i))
			}
		}
		return &message.Stats{Steps: []message.StepStats{s}}
	}
	sum, err := stats.Sum([]*message.Stats{part(100), part(1000)})
	if err != nil {
		t.Fatal(err)
	}
	v, counts := reflect.ValueOf(sum.Steps[0]), 0
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Uint64 {
			counts++
			if want := 1100 + 2*uint64(i); f.Uint() != want {
				t.Errorf("%s is %d, want %d", v.Type().Field(i).Name, f.Uint(), want)
			}
		}
	}
	if counts < 9 {
		t.Errorf("only %d counts are compared", counts)
	}
}

// Waits at barriers and values of counters are added up by name, and no more names than a plan has
// are kept.
func TestWaitsAndValuesAreAddedUp(t *testing.T) {
	a := &message.Stats{
		Barriers: []message.BarrierStats{{Name: "rush", Released: 3, TimedOut: 1}},
		Counters: []message.CounterStats{{Name: "orders", Taken: 5}},
	}
	b := &message.Stats{
		Barriers: []message.BarrierStats{{Name: "slow", Ended: 2}, {Name: "rush", Released: 4, Ended: 1}},
		Counters: []message.CounterStats{{Name: "seats", Taken: 1}, {Name: "orders", Taken: 7}},
	}
	many := &message.Stats{}
	for i := range 40 {
		many.Counters = append(many.Counters, message.CounterStats{Name: fmt.Sprint(i), Taken: 1})
	}
	sum, err := stats.Sum([]*message.Stats{a, nil, b, many})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]message.BarrierStats{{Name: "rush", Released: 7, TimedOut: 1, Ended: 1}, {Name: "slow", Ended: 2}}, sum.Barriers); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]message.CounterStats{{Name: "orders", Taken: 12}, {Name: "seats", Taken: 1}}, sum.Counters[:2]); diff != "" || len(sum.Counters) != 16 {
		t.Errorf("values of %d counters (-want +got):\n%s", len(sum.Counters), diff)
	}
}
