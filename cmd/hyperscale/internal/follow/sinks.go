package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/runtime/config"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/named"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

// sinkKind is that of `--out sink=NAME`, which names a sink of a configuration.
const sinkKind = "sink"

// teller prints messages for a person while a job runs.
type teller = func(format string, args ...any)

// sink is a place that takes rows.
type sink struct {
	shown    string // as --out names it, without secrets
	settings *outputs.Settings
	shell    *outputs.Shell
}

// sinkUse says what a command does with `--out sink=NAME`.
type sinkUse uint8

const (
	sinksNone   sinkUse = iota // it rejects it
	sinksOpened                // it delivers to the sinks of --config
	sinksNamed                 // the job names them, and its gate delivers
)

// AddConfig gives a command that delivers to configured sinks the flag of their file.
func (f *Flags) AddConfig(flags *pflag.FlagSet) {
	f.use = sinksOpened
	flags.StringVar(&f.config, "config", "", "YAML `FILE` whose section outputs configures sinks, as a gate's: --out sink=NAME")
}

// Sinks are the names of --out sink=NAME, each once.
func (f *Flags) Sinks() (names []string, err error) {
	for _, s := range f.Outs {
		kind, name, _ := strings.Cut(s, "=")
		if kind != sinkKind {
			continue
		}
		if name != named.None {
			if err := named.CheckName(name); err != nil {
				return nil, command.Usage("--out sink: %v", err)
			}
		}
		if slices.Contains(names, name) {
			return nil, command.Usage("--out sink=%s is given twice: leave one out", name)
		}
		names = append(names, name)
	}
	if len(names) > named.SinksMax {
		return nil, command.Usage("--out names %d sinks: name at most %d", len(names), named.SinksMax)
	}
	return names, nil
}

// Others says that --out names more than sinks of the cluster.
func (f *Flags) Others() bool {
	return slices.ContainsFunc(f.Outs, func(s string) bool { return !strings.HasPrefix(s, sinkKind+"=") })
}

// sinksOf reads the --out that name places for rows.
func (f *Flags) sinksOf() (sinks []*sink, err error) {
	counts := map[string]int{}
	for _, s := range f.Outs {
		name, text, _ := strings.Cut(s, "=")
		kind, ok := rowsKind(name)
		if !ok {
			continue
		}
		settings, err := outputs.Parse(&kind, text)
		if err != nil {
			return nil, command.Usage("--out %s: %v", name, err)
		}
		place, err := kind.Open(settings)
		if err != nil {
			return nil, command.Usage("--out %s: %v", named.Shown(settings), err)
		}
		if counts[name]++; counts[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, counts[name])
		}
		sinks = append(sinks, &sink{named.Shown(settings), settings, outputs.NewShell(name, settings, place, outputs.DefaultPace())})
	}
	configured, err := f.configured()
	if err != nil {
		return nil, err
	}
	for i := range configured {
		c := &configured[i]
		place, err := c.Open()
		if err != nil {
			return nil, command.Usage("--out sink=%s: %v", c.Name, err)
		}
		sinks = append(sinks, &sink{sinkKind + "=" + c.Name, c.Settings, outputs.NewShell(c.Name, c.Settings, place, outputs.DefaultPace())})
	}
	return sinks, nil
}

// configured are the sinks of --config that the run delivers to: its defaults, and those that --out names.
func (f *Flags) configured() ([]named.Sink, error) {
	names, err := f.Sinks()
	switch {
	case err != nil || f.use == sinksNamed:
		return nil, err
	case len(names) > 0 && f.use == sinksNone:
		return nil, command.Usage("--out sink=%s: this command delivers to no configured sink: submit names sinks of the cluster, and run those of --config", names[0])
	case f.config == "" && len(names) > 0:
		return nil, command.Usage("--out sink=%s: no file configures sinks: name one with --config", names[0])
	case f.config == "":
		return nil, nil
	}
	section, err := config.ReadOutputs(f.config)
	if err != nil {
		return nil, command.AsUsage(err)
	}
	all, err := named.Read(section)
	if err != nil {
		return nil, command.Usage("configuration %s: %w", f.config, err)
	}
	chosen, err := named.Choose(all, names)
	return chosen, command.AsUsage(err)
}

// sinksEvery is how often a command asks how far the sinks of a job are that has ended.
const sinksEvery = 500 * time.Millisecond

// awaitCluster waits until the sinks to which gates deliver a job that has ended have its rows, for --out-wait at most. An
// interrupt ends the wait. The gates go on then. It returns what they said last.
func (f *Follower) awaitCluster(ctx context.Context, s *session.Session, job message.JobID, told message.SinkReports) message.SinkReports {
	defer func() { f.cluster = f.late.Sinks(told.List) }()
	ctx, end := context.WithTimeout(ctx, f.out.wait)
	defer end()
	for !delivered(told.List) {
		select {
		case <-time.After(sinksEvery):
		case <-f.Signals.Asked:
			return told
		case <-ctx.Done():
			return told
		}
		answer, err := s.Ask(ctx, &message.JobQuery{Job: job})
		if status, ok := answer.(*message.JobStatus); err == nil && ok {
			told = status.Sinks
			f.late.See(status)
		}
	}
	return told
}

// delivered says that nothing follows to any sink.
func delivered(all []message.SinkReport) bool {
	return !slices.ContainsFunc(all, func(s message.SinkReport) bool { return !s.Done })
}

// lacking reports sinks that will never have all rows.
func lacking(all []report.Sink) error {
	var faults []error
	for i := range all {
		if !all[i].Whole() {
			faults = append(faults, errors.New(ui.SinkText(&all[i])))
		}
	}
	return errors.Join(faults...)
}

// check finds out before the run whether the place takes rows.
func (s *sink) check(note teller) error {
	err := s.shell.Check()
	if err == nil {
		return nil
	}
	err = fmt.Errorf("--out %s: %w", s.shown, err)
	if s.settings.Required() {
		return command.AsUsage(err)
	}
	note("%v; the run begins without it, and its rows wait for it", err)
	return nil
}
