package workflow

import (
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// iterationRate is a rate as written: thousandths of an iteration in per, which is a second,
// a minute or an hour.
type iterationRate struct {
	thousandths uint64
	per         time.Duration
	text        string
}

// ParseRate reads a rate such as "500/s", "30/m" or "2.5/h": thousandths of an iteration
// in a second, a minute or an hour. It is above zero.
func ParseRate(text string) (thousandths uint64, per time.Duration, err error) {
	r, why := parseRate(text)
	if why == "" && r.thousandths == 0 {
		why = "is no load at all"
	}
	if why != "" {
		return 0, 0, fmt.Errorf("%q %s: write a number of iterations in a time, such as 500/s, 30/m or 1000/h", clip(text, 40), why)
	}
	return r.thousandths, r.per, nil
}

func parseRate(text string) (r iterationRate, why string) {
	number, unit, _ := strings.Cut(text, "/")
	switch unit {
	case "s":
		r.per = time.Second
	case "m":
		r.per = time.Minute
	case "h":
		r.per = time.Hour
	default:
		return r, "is not a rate"
	}
	n, wrong := parseDecimal(number, 3)
	if wrong {
		return r, "is not a rate"
	}
	r.thousandths, r.text = uint64(n), text
	if r.thousandths > plan.RateBound(r.per) {
		return r, fmt.Sprintf("is more than %d a second", plan.RateMax)
	}
	return r, ""
}

// readRate reads an argument that is a rate.
func readRate(fn string, v starlark.Value) (iterationRate, error) {
	s, ok := starlark.AsString(v)
	if !ok {
		f := wrongType(fn, "rate", "a text such as \"500/s\"", v)
		if i, ok := v.(starlark.Int); ok {
			f.do("write rate = \"%s/s\" for so many iterations a second", clip(i.String(), 20))
		}
		return iterationRate{}, f
	}
	r, why := parseRate(s)
	if why != "" {
		return r, faultf("%s: rate = %q %s", fn, clip(s, 40), why).in("rate").do("write a number of iterations and s, m or h: \"500/s\", \"30/m\", \"1000/h\"")
	}
	return r, nil
}

// common turns rates into thousandths in the shortest unit in which all of them
// are whole: nothing is rounded.
func common(rates []iterationRate) (thousandths []uint64, per time.Duration) {
	per = time.Second
	for _, r := range rates {
		for r.thousandths*uint64(per/time.Second)%uint64(r.per/time.Second) != 0 {
			per *= 60
		}
	}
	for _, r := range rates {
		thousandths = append(thousandths, r.thousandths*uint64(per/time.Second)/uint64(r.per/time.Second))
	}
	return thousandths, per
}

// stageValue is what stage() returns.
type stageValue struct {
	opaque
	plan message.StagePlan // Rate is not set yet
	rate *iterationRate    // nil: of virtual users
}

// stagesMax bounds the stages of a file: vus beside them adds one, where the first begins.
const stagesMax = plan.StagesMax - 1

func newStage(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := bind("stage", []string{"duration", "vus", "rate"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, faultf("stage: its duration is missing").do("write stage(\"30s\", vus = 100), or \"0s\" to jump there")
	}
	s := &stageValue{opaque: opaque{"stage"}}
	if text, ok := in[0].(starlark.String); !ok || text != "0s" { // a jump
		var err error
		if s.plan.Duration, err = duration("stage", "duration", in[0]); err != nil {
			if f, ok := err.(*fault); ok && len(args) > 0 {
				f.in("#1")
			}
			return nil, err
		}
	}
	switch {
	case in[1] != nil && in[2] != nil:
		return nil, faultf("stage: it has vus and a rate").in("rate").do("give it vus, or a rate where the others have one")
	case in[2] != nil:
		r, err := readRate("stage", in[2])
		s.rate = &r
		return s, err
	case in[1] != nil:
		n, err := integer("stage", "vus", in[1], 0, plan.VUsMax)
		s.plan.VUs = uint64(n)
		return s, err
	}
	return nil, faultf("stage: it says neither vus nor rate").do("write stage(\"30s\", vus = 100) or stage(\"30s\", rate = \"100/s\")")
}

// betweenValue is what between() returns.
type betweenValue struct {
	opaque
	low, high time.Duration
}

func newBetween(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	names := []string{"low", "high"}
	var in [2]starlark.Value
	if err := bind("between", names, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	var ends [2]time.Duration
	for i, v := range in {
		if v == nil {
			return nil, faultf("between: %s is missing", names[i]).do("write between(\"1s\", \"3s\")")
		}
		var err error
		if ends[i], err = duration("between", names[i], v); err != nil {
			if f, ok := err.(*fault); ok && i < len(args) {
				f.in(fmt.Sprintf("#%d", i+1))
			}
			return nil, err
		}
	}
	if ends[0] >= ends[1] {
		return nil, faultf("between: %v is not below %v", ends[0], ends[1]).do("write the shorter one first: between(\"1s\", \"3s\")")
	}
	return &betweenValue{opaque{"between"}, ends[0], ends[1]}, nil
}
