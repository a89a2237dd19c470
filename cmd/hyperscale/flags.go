package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/core/message"
	"hyperscale/core/setting"
	"hyperscale/core/workflow"
	"hyperscale/runtime/ui"
)

// choice is a flag with a closed set of values.
type choice struct {
	value   *string
	choices []string
}

func (c choice) String() string { return *c.value }
func (c choice) Type() string   { return strings.Join(c.choices, "|") }
func (c choice) Set(s string) error {
	for _, known := range c.choices {
		if s == known {
			*c.value = s
			return nil
		}
	}
	return fmt.Errorf("choose one of %s%s", strings.Join(c.choices, ", "), didYouMean(s, c.choices))
}

func addChoice(flags *pflag.FlagSet, p *string, name, value, help string, choices ...string) {
	*p = value
	flags.Var(choice{p, choices}, name, help)
}

// span is a duration of at least least.
type span struct {
	value *time.Duration
	least time.Duration
}

func (d span) String() string {
	if *d.value == 0 {
		return ""
	}
	return d.value.String()
}
func (span) Type() string { return "duration" }
func (d span) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("write a number with a unit, like 250ms, 10s or 1m30s")
	}
	if v < d.least {
		return fmt.Errorf("it must be at least %v", d.least)
	}
	*d.value = v
	return nil
}

func addSpan(flags *pflag.FlagSet, p *time.Duration, name string, value, least time.Duration, help string) {
	*p = value
	flags.Var(span{p, least}, name, help)
}

// count is a whole number within bounds.
type count struct {
	value       *uint64
	least, most uint64
}

func (c count) String() string {
	if *c.value == 0 {
		return ""
	}
	return strconv.FormatUint(*c.value, 10)
}
func (count) Type() string { return "N" }
func (c count) Set(s string) error {
	v, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || v < c.least || v > c.most {
		return fmt.Errorf("write a whole number from %d to %d", c.least, c.most)
	}
	*c.value = v
	return nil
}

func addCount(flags *pflag.FlagSet, p *uint64, name string, value, least, most uint64, help string) {
	*p = value
	flags.Var(count{p, least, most}, name, help)
}

// settingFlag is a flag for one setting, under a name of its own.
type settingFlag struct{ s setting.Setting }

func (f settingFlag) String() string {
	if f.s.Value == nil {
		return ""
	}
	return f.s.String()
}
func (settingFlag) Type() string { return "size" }
func (f settingFlag) Set(text string) error {
	return setting.Set([]setting.Setting{f.s}, f.s.Key, text)
}

// rate is how many iterations begin in a time.
type rate struct {
	text        *string
	thousandths *uint64
	per         *time.Duration
}

func (r rate) String() string { return *r.text }
func (rate) Type() string     { return "N/s" }
func (r rate) Set(s string) error {
	n, per, err := workflow.ParseRate(s)
	if err != nil {
		return err
	}
	*r.text, *r.thousandths, *r.per = s, n, per
	return nil
}

// logFlags are those of every command that may log.
type logFlags struct {
	level, format string
}

func (f *logFlags) add(flags *pflag.FlagSet, level string) {
	addChoice(flags, &f.level, "log-level", level, "what to log", "debug", "info", "warn", "error")
	addChoice(flags, &f.format, "log-format", "text", "how to log", "text", "json")
}

func (f *logFlags) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.level)) // the flag has let nothing else through
	options := &slog.HandlerOptions{Level: level}
	if f.format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// loadFlags are those of run, submit and validate that change what a file says.
type loadFlags struct {
	vus      uint64
	duration time.Duration
	rate     uint64 // thousandths of an iteration in ratePer
	ratePer  time.Duration
	rateText string
	params   []string
	seed     uint64
}

func (f *loadFlags) add(flags *pflag.FlagSet) {
	addCount(flags, &f.vus, "vus", 0, 1, 100_000_000, "virtual users, instead of what the file says")
	addSpan(flags, &f.duration, "duration", 0, time.Millisecond, "how long to send load, instead of what the file says")
	flags.Var(rate{&f.rateText, &f.rate, &f.ratePer}, "rate", "iterations that begin in a second, minute (/m) or hour (/h), instead of what the file says")
	flags.StringArrayVar(&f.params, "set", nil, "`name=value` of a param() of the file (repeatable)")
	addCount(flags, &f.seed, "seed", 0, 1, math.MaxUint64, "of the virtual users' random numbers; drawn if not given")
}

// parameters reads the values of --set; the last of a name wins.
func (f *loadFlags) parameters() ([]message.Param, error) {
	values := map[string]string{}
	for _, s := range f.params {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usage("--set %q: write name=value, as in --set target=http://127.0.0.1:8080", s)
		}
		values[name] = value
	}
	return sortedParams(values), nil
}

// outputFlags are those of commands that follow a job to its end.
type outputFlags struct {
	ui    string
	outs  []string
	told  bool // outs are the file's own
	quiet bool
	log   logFlags
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	addChoice(flags, &f.ui, "ui", string(ui.Auto), "progress: a live screen, a line every few seconds, or nothing", ui.Kinds()...)
	flags.StringArrayVar(&f.outs, "out", nil, "write the result to a file: `KIND=FILE`, "+outputNames()+" (repeatable)")
	flags.BoolVar(&f.quiet, "quiet", false, "nothing on stderr but errors")
	f.log.add(flags, "warn")
}

// report adds the outputs that the file asks for, unless a flag gives others.
func (f *outputFlags) report(plan *message.Plan) {
	if len(f.outs) > 0 {
		return
	}
	f.told = true
	for i := range plan.Workflows {
		for _, out := range plan.Workflows[i].Report {
			if !slices.Contains(f.outs, out) {
				f.outs = append(f.outs, out)
			}
		}
	}
}

// gateFlag is that of commands that talk to a cluster.
type gateFlag struct {
	addresses            []string
	cluster, environment string
	history              string
}

// add gives the command its flags. Where --cluster means something else, the name
// of the cluster is --cluster-name.
func (f *gateFlag) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.addresses, "gate", nil, "`address` of a gate, host:port (required; several are tried in turn)")
	name := "cluster"
	if flags.Lookup(name) != nil {
		name = "cluster-name"
	}
	flags.StringVar(&f.cluster, name, cmp.Or(os.Getenv("HYPERSCALE_CLUSTER"), "default"), "`name` of the cluster; HYPERSCALE_CLUSTER sets it too")
	flags.StringVar(&f.environment, "environment", cmp.Or(os.Getenv("HYPERSCALE_ENVIRONMENT"), "default"), "`name` of its environment; HYPERSCALE_ENVIRONMENT sets it too")
	flags.StringVar(&f.history, "history", "", "append each call and its answer to `FILE` as lines of JSON, for a checker")
}
