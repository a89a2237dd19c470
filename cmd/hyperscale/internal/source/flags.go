package source

import (
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/demand"
)

// rate is how many iterations begin in a time.
type rate struct {
	text        *string
	thousandths *uint64
	per         *time.Duration
}

func (r rate) String() string { return *r.text }

func (rate) Type() string { return "N/s" }

func (r rate) Set(s string) error {
	n, per, err := demand.ParseRate(s)
	if err != nil {
		return err
	}
	*r.text, *r.thousandths, *r.per = s, n, per
	return nil
}

// stages are those of --stage, in their order.
type stages struct {
	all  *[]message.StagePlan
	text []string
}

func (s *stages) String() string { return strings.Join(s.text, ",") }

func (*stages) Type() string { return "duration:load" }

func (s *stages) Set(text string) error {
	stage, err := demand.ParseStage(text)
	if err != nil {
		return err
	}
	*s.all, s.text = append(*s.all, stage), append(s.text, text)
	return nil
}

// Flags are those of run, submit and validate that change a file's values.
type Flags struct {
	VUs      uint64
	Duration time.Duration
	rate     uint64 // thousandths of an iteration in ratePer
	ratePer  time.Duration
	rateText string

	iterations uint64
	stages     []message.StagePlan
	Params     []string
	files      []string // of --set-file
	seed       uint64
	Key        string // of the submission: without --seed the seed follows from it; empty: the seed is drawn

	Secrets []string // names that the loaded program declares
	secrets secretFlags
}

// SetRate is --rate N/s.
func (f *Flags) SetRate(perSecond uint64) { f.rate, f.ratePer = perSecond*1000, time.Second }

// Add gives a command the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	command.AddCount(flags, &f.VUs, "vus", 0, 1, 100_000_000, "virtual users, instead of what the file says")
	command.AddSpan(flags, &f.Duration, "duration", 0, time.Millisecond, "how long to send load, instead of what the file says")
	flags.Var(rate{&f.rateText, &f.rate, &f.ratePer}, "rate", "iterations that begin in a second, minute (/m) or hour (/h), instead of what the file says")
	command.AddCount(flags, &f.iterations, "iterations", 0, 1, plan.IterationsMax, "iterations of all virtual users together, instead of the file's load")
	flags.Var(&stages{all: &f.stages}, "stage", "`duration:load` of a stage, instead of the file's load: 30s:100 for virtual users, 30s:500/s for a rate (repeatable)")
	flags.StringArrayVar(&f.Params, "set", nil, "`name=value` of a param() of the file (repeatable)")
	flags.StringArrayVar(&f.files, "set-file", nil, "`name=file`: a param() of the file has the file's content (repeatable); HYPERSCALE_SET_NAME in the environment sets a param that no flag sets")
	command.AddCount(flags, &f.seed, "seed", 0, 1, math.MaxUint64, "of the virtual users' random numbers; drawn if not given")
}
