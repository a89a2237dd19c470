package gate

import "hyperscale/core/node"

// Sizes tells what this gate keeps, against its bounds. It may own the jobs of all
// gates, when the others are gone.
func (m *Machine) Sizes(tell node.Tell) {
	c := &m.config
	tell("gate/jobs", len(m.jobs), c.JobsMax)
	tell("gate/queue", m.queue.Len(), c.JobsMax)
	tell("gate/active", len(m.active), c.JobsMax)
	m.history.Sizes(tell, c.JobsMax)
	tell("gate/accepting", m.accepting, c.QueueMax)
	tell("gate/programs", m.specBytes, max(1, len(c.Gates))*c.SpecBytesMax)
	m.lookups.Sizes(tell)
	tell("gate/forwarded", len(m.forwarded), passedMax)
	m.places.Sizes(tell)
	m.audience.Sizes(tell)
	tell("gate/moved", len(m.moved), c.JobsMax)
	if m.group == nil {
		return // it was refused at its start
	}
	tell("gate/files on their way", len(m.kept)+len(m.unkept), c.FilesMax)
	tell("gate/files that are missed", len(m.fetches)+len(m.unread), c.FilesMax)
	m.group.Sizes(tell)
}
