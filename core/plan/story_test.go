package plan_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// small is the plan that each command of the story changes.
func small() *message.Plan {
	return &message.Plan{Source: "load.star", Workflows: []message.WorkflowPlan{
		{Name: "load", Test: true, VUs: 10, Duration: time.Minute, Timeout: time.Second, Steps: []message.StepPlan{
			{Name: "home", Kind: message.StepRequest}, {Name: "buy", Kind: message.StepRequest, After: []uint32{0}, Layer: 1},
		}},
		{Name: "after", VUs: 1, Duration: time.Minute, Timeout: time.Second, Layer: 1, Depends: []uint32{0}, Steps: []message.StepPlan{{Name: "home", Kind: message.StepRequest}}},
	}}
}

// TestStory plays testdata/check.txt: each line of a command sets a value of the plan, 0.VUs=0
// a value of its first workflow.
func TestStory(t *testing.T) {
	datadriven.RunTest(t, "testdata/check.txt", func(t *testing.T, d *datadriven.TestData) string {
		p := small()
		for _, line := range strings.Fields(d.Input) {
			path, value, _ := strings.Cut(line, "=")
			set(t, reflect.ValueOf(p).Elem(), path, value)
		}
		var b strings.Builder
		for _, f := range plan.Check(p) {
			fmt.Fprintln(&b, f)
		}
		if b.Len() == 0 {
			return "accepted\n"
		}
		return b.String()
	})
}

// set sets the field at a path; an index beyond a list makes it longer.
func set(t *testing.T, v reflect.Value, path, value string) {
	for _, name := range strings.Split(path, ".") {
		if n, err := strconv.Atoi(name); err == nil {
			for v.Len() <= n {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			}
			v = v.Index(n)
			continue
		}
		v = v.FieldByName(name)
	}
	switch x := v.Addr().Interface().(type) {
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil {
			t.Fatal(err)
		}
		*x = d
	case *string:
		*x = value
	case *bool:
		*x = value == "true"
	case *[]uint32:
		*x = nil
		for _, n := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
			i, err := strconv.ParseUint(n, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			*x = append(*x, uint32(i))
		}
	default:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		v.SetUint(n)
	}
}
