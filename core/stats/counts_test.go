package stats_test

import (
	"reflect"
	"testing"

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
