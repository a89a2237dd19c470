package demand

import (
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
)

// IterationRate is a rate as written: thousandths of an iteration in per, which is a second, a
// minute or an hour.
type IterationRate struct {
	Thousandths uint64
	Per         time.Duration
	Text        string
}

// ParseRate parses a rate such as "500/s", "30/m" or "2.5/h" to thousandths of an iteration in
// a second, a minute or an hour. It is above zero.
func ParseRate(text string) (thousandths uint64, per time.Duration, err error) {
	r, why := parseRate(text)
	if why == "" && r.Thousandths == 0 {
		why = "is no load at all"
	}
	if why != "" {
		return 0, 0, fmt.Errorf("%q %s: write a number of iterations in a time, such as 500/s, 30/m or 1000/h", language.Clip(text, 40), why)
	}
	return r.Thousandths, r.Per, nil
}

func parseRate(text string) (r IterationRate, why string) {
	number, unit, _ := strings.Cut(text, "/")
	switch unit {
	case "s":
		r.Per = time.Second
	case "m":
		r.Per = time.Minute
	case "h":
		r.Per = time.Hour
	default:
		return r, "is not a rate"
	}
	n, wrong := parseDecimal(number, 3)
	if wrong {
		return r, "is not a rate"
	}
	r.Thousandths, r.Text = uint64(n), text
	if r.Thousandths > plan.RateBound(r.Per) {
		return r, fmt.Sprintf("is more than %d a second", plan.RateMax)
	}
	return r, ""
}

// ReadRate reads an argument that is a rate.
func ReadRate(fn string, v starlark.Value) (IterationRate, error) {
	s, ok := starlark.AsString(v)
	if !ok {
		f := language.WrongType(fn, "rate", "a text such as \"500/s\"", v)
		if i, ok := v.(starlark.Int); ok {
			f.Do("write rate = \"%s/s\" for so many iterations a second", language.Clip(i.String(), 20))
		}
		return IterationRate{}, f
	}
	r, why := parseRate(s)
	if why != "" {
		return r, language.Faultf("%s: rate = %q %s", fn, language.Clip(s, 40), why).In("rate").Do("write a number of iterations and s, m or h: \"500/s\", \"30/m\", \"1000/h\"")
	}
	return r, nil
}

// Common converts rates to thousandths in the shortest unit in which all of them are whole,
// without rounding.
func Common(rates []IterationRate) (thousandths []uint64, per time.Duration) {
	per = time.Second
	for _, r := range rates {
		for r.Thousandths*uint64(per/time.Second)%uint64(r.Per/time.Second) != 0 {
			per *= 60
		}
	}
	for _, r := range rates {
		thousandths = append(thousandths, r.Thousandths*uint64(per/time.Second)/uint64(r.Per/time.Second))
	}
	return thousandths, per
}

// Stage is the result of stage().
type Stage struct {
	language.Opaque
	Plan message.StagePlan // Rate is not set yet
	Rate *IterationRate    // nil: of virtual users
}

// StagesMax bounds the stages of a file: vus beside them adds one, for the start of the first.
const StagesMax = plan.StagesMax - 1

// NewStage is the function stage.
func NewStage(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := language.Bind("stage", []string{"duration", "vus", "rate"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("stage: its duration is missing").Do("write stage(\"30s\", vus = 100), or \"0s\" to jump there")
	}
	s := &Stage{Opaque: language.Opaque{Kind: "stage"}}
	if text, ok := in[0].(starlark.String); !ok || text != "0s" { // a jump
		var err error
		if s.Plan.Duration, err = language.Duration("stage", "duration", in[0]); err != nil {
			if f, ok := err.(*language.Fault); ok && len(args) > 0 {
				f.In("#1")
			}
			return nil, err
		}
	}
	switch {
	case in[1] != nil && in[2] != nil:
		return nil, language.Faultf("stage: it has vus and a rate").In("rate").Do("give it vus, or a rate where the others have one")
	case in[2] != nil:
		r, err := ReadRate("stage", in[2])
		s.Rate = &r
		return s, err
	case in[1] != nil:
		n, err := language.Integer("stage", "vus", in[1], 0, plan.VUsMax)
		s.Plan.VUs = uint64(n)
		return s, err
	}
	return nil, language.Faultf("stage: it says neither vus nor rate").Do("write stage(\"30s\", vus = 100) or stage(\"30s\", rate = \"100/s\")")
}

// Between is the result of between().
type Between struct {
	language.Opaque
	Low, High time.Duration
}

// NewBetween is the function between.
func NewBetween(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	names := []string{"low", "high"}
	var in [2]starlark.Value
	if err := language.Bind("between", names, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	var ends [2]time.Duration
	for i, v := range in {
		if v == nil {
			return nil, language.Faultf("between: %s is missing", names[i]).Do("write between(\"1s\", \"3s\")")
		}
		var err error
		if ends[i], err = language.Duration("between", names[i], v); err != nil {
			if f, ok := err.(*language.Fault); ok && i < len(args) {
				f.In(fmt.Sprintf("#%d", i+1))
			}
			return nil, err
		}
	}
	if ends[0] >= ends[1] {
		return nil, language.Faultf("between: %v is not below %v", ends[0], ends[1]).Do("write the shorter one first: between(\"1s\", \"3s\")")
	}
	return &Between{language.Opaque{Kind: "between"}, ends[0], ends[1]}, nil
}
