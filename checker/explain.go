package checker

import (
	"slices"

	"hyperscale/checker/linear"
)

// fails turns what linear found into a violation.
func (c *Checker) fails(f *linear.Failure) {
	if f != nil {
		c.violate(invariant(f), Record{At: f.At.At, Node: f.At.Node, Incarnation: f.At.Incarnation}, "%s", f.Detail)
	}
}

func invariant(f *linear.Failure) string {
	if f.Undecided {
		return Undecided
	}
	return "T4"
}

// partition is any of them.
type partition interface {
	Label() string
	Failure() *linear.Failure
	Explain() (string, []byte)
}

// Linear returns what is not linearizable, or could not be decided, by object.
func (c *Checker) Linear() []Violation {
	var found []Violation
	for _, p := range c.failed() {
		f := p.Failure()
		found = append(found, Violation{invariant(f), f.At.At, f.At.Node, f.Detail})
	}
	return found
}

// failed returns the partitions that failed: registers, jobs, receivers, each in the
// order in which they were first used.
func (c *Checker) failed() (all []partition) {
	for _, p := range c.leaseCalls {
		all = append(all, p)
	}
	for _, p := range c.clientCalls {
		all = append(all, p)
	}
	for _, p := range c.fencedCalls {
		all = append(all, p)
	}
	return slices.DeleteFunc(all, func(p partition) bool { return p.Failure() == nil })
}

// Explain judges a history again and says which operations could not be ordered: as
// text, and as a page with porcupine's picture of the window in which they are (nil
// when all is well, or the window is too large to draw).
func Explain(history []Record, a Assumptions) (text string, page []byte) {
	c := New()
	c.Assume(a)
	for _, r := range history {
		c.Observe(r)
	}
	c.Settle()
	failed := c.failed()
	if len(failed) == 0 {
		return "every object's operations can be ordered: the history is linearizable\n", nil
	}
	text, page = failed[0].Explain()
	for _, p := range failed[1:] {
		text += "also: " + p.Label() + "\n"
	}
	return text, page
}
