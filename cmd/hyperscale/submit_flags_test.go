package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/core/message"
)

// The flags of a submission reach its request. The importances are listed from the highest.
func TestSubmissionsSayWhatTheirFlagsDo(t *testing.T) {
	for _, x := range []struct {
		args     []string
		rank     message.Rank
		deadline time.Duration
	}{
		{nil, message.RankMedium, 0},
		{[]string{"--importance", "critical", "--deadline", "10m"}, message.RankCritical, 10 * time.Minute},
		{[]string{"--importance", "background"}, message.RankBackground, 0},
	} {
		var f submission
		flags := pflag.NewFlagSet("submit", pflag.ContinueOnError)
		f.add(flags)
		if err := flags.Parse(x.args); err != nil {
			t.Fatal(err)
		}
		m, again := f.message(&message.Program{}, &message.Plan{}), f.message(&message.Program{}, &message.Plan{})
		if m.Rank != x.rank || m.Deadline != x.deadline || m.Key == "" || m.Key == again.Key {
			t.Errorf("%q submit importance %v, deadline %v and key %q, then %q", x.args, m.Rank, m.Deadline, m.Key, again.Key)
		}
		if got, want := flags.Lookup("importance").Value.Type(), "critical|high|medium|low|background"; got != want {
			t.Errorf("the importances are %s, want %s", got, want)
		}
	}
}

// A job says how many datacenters it wants, and which first; without flags it says nothing.
func TestSubmissionsSayWhereTheyRun(t *testing.T) {
	for _, x := range []struct {
		args   []string
		count  uint32
		prefer string
	}{
		{nil, 0, ""},
		{[]string{"--count", "3", "--prefer", "east,west"}, 3, "east,west"},
		{[]string{"--prefer", "east", "--prefer", "west"}, 0, "east,west"},
	} {
		var f submission
		flags := pflag.NewFlagSet("submit", pflag.ContinueOnError)
		f.add(flags)
		if err := flags.Parse(x.args); err != nil {
			t.Fatal(err)
		}
		if m := f.message(&message.Program{}, &message.Plan{}); m.Count != x.count || strings.Join(m.Preferred, ",") != x.prefer || len(m.Datacenters) > 0 {
			t.Errorf("%q asks for %d datacenters, %v first", x.args, m.Count, m.Preferred)
		}
	}
}

// A best effort names how many datacenters are enough, and after what time. A time alone reaches the
// gate, which rejects it.
func TestBestEffortFlags(t *testing.T) {
	for _, x := range []struct {
		args []string
		want message.BestEffort
	}{
		{nil, message.BestEffort{}},
		{[]string{"--best-effort", "2"}, message.BestEffort{Least: 2, After: 5 * time.Minute}},
		{[]string{"--best-effort", "2", "--best-effort-after", "90s"}, message.BestEffort{Least: 2, After: 90 * time.Second}},
		{[]string{"--best-effort-after", "90s"}, message.BestEffort{After: 90 * time.Second}},
	} {
		var f submission
		flags := pflag.NewFlagSet("submit", pflag.ContinueOnError)
		f.add(flags)
		if err := flags.Parse(x.args); err != nil {
			t.Errorf("%v: %v", x.args, err)
			continue
		}
		if got := f.message(&message.Program{}, &message.Plan{}).BestEffort; got != x.want {
			t.Errorf("%v: the submission says %+v, want %+v", x.args, got, x.want)
		}
	}
}
