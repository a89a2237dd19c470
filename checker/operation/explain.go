package operation

import (
	"hyperscale/checker/history"
	"hyperscale/checker/linear"
)

// object is an object of any kind.
type object interface {
	Label() string
	Failure() *linear.Failure
	Explain() (string, []byte)
}

func violation(f *linear.Failure) history.Violation {
	invariant := "T4"
	if f.Undecided {
		invariant = history.Undecided
	}
	return history.Violation{Invariant: invariant, At: f.At.At, Node: f.At.Node, Detail: f.Detail}
}

// Failures returns what is not linearizable, or could not be decided, by object.
func (j *Judge) Failures() []history.Violation {
	var found []history.Violation
	for _, o := range j.failed() {
		found = append(found, violation(o.Failure()))
	}
	return found
}

// failed returns the objects that failed: registers, jobs, receivers, each in the
// order in which they were first used.
func (j *Judge) failed() []object {
	return failures(failures(failures(nil, j.leases.all), j.jobs.all), j.receivers.all)
}

func failures[S comparable, O any](found []object, all []*linear.Partition[S, O]) []object {
	for _, p := range all {
		if p.Failure() != nil {
			found = append(found, p)
		}
	}
	return found
}

// Explain says which operations could not be ordered: as text, and as a page with
// porcupine's picture of the window in which they are. The page is nil when all is
// well, or the window is too large to draw.
func (j *Judge) Explain() (text string, page []byte) {
	failed := j.failed()
	if len(failed) == 0 {
		return "every object's operations can be ordered: the history is linearizable\n", nil
	}
	text, page = failed[0].Explain()
	for _, o := range failed[1:] {
		text += "also: " + o.Label() + "\n"
	}
	return text, page
}
