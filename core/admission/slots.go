package admission

// Slots are how much of a bound is used that fills while peers do not take what a node has for
// them. A node with much of it takes no new work. Cores are no slots: to use all of them is their
// purpose.
type Slots struct {
	Used, Max uint64 // Max is zero if the node told none
}

// Of a bound these shares, in percent, refuse new work, are near to that, and are far again.
const (
	refusedPercent = 80
	nearPercent    = 70
	farPercent     = 60
)

// Refuse says that so much is used that the node takes no new work.
func (s Slots) Refuse() bool { return s.reach(refusedPercent) }

// Near says that an operator should look, given whether that was so before: use that rises and
// falls a little is reported once.
func (s Slots) Near(was bool) bool {
	if was {
		return s.reach(farPercent)
	}
	return s.reach(nearPercent)
}

// reach says that a share of the bound is used.
func (s Slots) reach(percent uint64) bool { return s.Max > 0 && 100*s.Used >= percent*s.Max }
