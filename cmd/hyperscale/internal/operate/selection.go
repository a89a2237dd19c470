package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
)

// selection says which jobs of a list are meant: those that fit all that is set.
type selection struct {
	states      states
	name        string        // part of the job's name
	youngerThan time.Duration // zero: of any age
	olderThan   time.Duration
	running     bool // only those that have not ended
}

// addTo adds the flags that every command with a selection has.
func (s *selection) addTo(flags *pflag.FlagSet) {
	flags.Var(&s.states, "state", "only jobs in one of these states, like RUNNING,QUEUED")
	flags.StringVar(&s.name, "name", "", "only jobs whose name contains `TEXT`")
}

// any says whether something is set.
func (s *selection) any() bool {
	return len(s.states) > 0 || s.name != "" || s.youngerThan > 0 || s.olderThan > 0
}

// of returns the jobs that are meant.
func (s *selection) of(jobs []message.JobInfo) (meant []message.JobInfo) {
	for i := range jobs {
		if s.means(&jobs[i]) {
			meant = append(meant, jobs[i])
		}
	}
	return meant
}

func (s *selection) means(j *message.JobInfo) bool {
	switch {
	case len(s.states) > 0 && !slices.Contains(s.states, j.State),
		!strings.Contains(j.Name, s.name),
		s.youngerThan > 0 && j.Age > s.youngerThan,
		s.olderThan > 0 && j.Age < s.olderThan,
		s.running && j.State.Terminal():
		return false
	}
	return true
}

// states is a flag: a list of states of jobs.
type states []message.JobState

// String implements pflag.Value.
func (s *states) String() string {
	var names []string
	for _, state := range *s {
		names = append(names, state.String())
	}
	return strings.Join(names, ",")
}

// Type implements pflag.Value.
func (*states) Type() string { return "STATE" }

// Set implements pflag.Value: it adds the states of a list.
func (s *states) Set(text string) error {
	var names []string
	for state := message.JobSubmitted; state <= message.JobTimedOut; state++ {
		names = append(names, state.String())
	}
	for name := range strings.SplitSeq(text, ",") {
		at := slices.Index(names, strings.ToUpper(strings.TrimSpace(name)))
		if at < 0 {
			return fmt.Errorf("choose of %s%s", strings.Join(names, ", "), command.DidYouMean(strings.ToUpper(name), names))
		}
		*s = append(*s, message.JobSubmitted+message.JobState(at))
	}
	return nil
}
