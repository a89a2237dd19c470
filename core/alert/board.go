package alert

import (
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// Duty is a node's part in its group.
type Duty uint8

// The duties.
const (
	Follows Duty = iota // another member leads, or none
	Pauses              // it leads, and cannot tell whether a majority still follows it
	Leads
)

// Board holds the alerts of one node. The zero Board has none raised.
type Board struct {
	alarms [IDs]alarm
	leads  bool
	note   Note
	shown  Set // what this node has raised or taken over, of both kinds
}

// Change is what a node reports of an alert.
type Change struct {
	ID   ID
	Kind event.AlertChange
}

// See takes a reading of an alert.
func (b *Board) See(now node.Instant, id ID, r Reading) {
	rule := RuleOf(id)
	b.alarms[id].see(now, r, rule.For, rule.Clear)
}

// Hear takes the note of another member.
func (b *Board) Hear(n Note) {
	if n.later(b.note) {
		b.note = n
	}
}

// Note returns the latest note.
func (b *Board) Note() Note { return b.note }

// On returns the alerts that this node reports as raised.
func (b *Board) On() Set { return b.shown }

// Judge returns what has changed since the last call, in the order of the list. term is the one in
// which the node leads.
func (b *Board) Judge(d Duty, term uint64) []Change {
	var changes []Change
	list := rules()
	b.leads = d != Follows && b.note.Term <= term && (b.leads || d == Leads)
	for id := range IDs {
		var kind event.AlertChange
		if list[id].Group {
			kind = b.judgeGroup(id, d, term)
		} else {
			kind = b.judge(id)
		}
		if kind != "" {
			b.shown = b.shown.with(id, kind == event.AlertRaised || kind == event.AlertTaken)
			changes = append(changes, Change{id, kind})
		}
	}
	return changes
}

// judge compares what this node shows of an alert with the alert's state.
func (b *Board) judge(id ID) event.AlertChange {
	switch on := b.alarms[id].on; {
	case on == b.shown.Has(id):
		return ""
	case on:
		return event.AlertRaised
	}
	return event.AlertCleared
}

// judgeGroup does the same of an alert about the group. What it takes over counts as raised here
// too: it is cleared once its condition has been gone for long enough.
func (b *Board) judgeGroup(id ID, d Duty, term uint64) event.AlertChange {
	shown, noted := b.shown.Has(id), b.note.Set.Has(id)
	switch {
	case !b.leads && shown:
		return event.AlertPassed
	case !b.leads || d != Leads:
		return ""
	case noted && !shown:
		if !b.alarms[id].on {
			b.alarms[id] = alarm{on: true}
		}
		return event.AlertTaken
	}
	if on := b.alarms[id].on; on != noted {
		b.write(id, on, term)
	}
	return b.judge(id)
}

// write notes a change of the group's alerts.
func (b *Board) write(id ID, on bool, term uint64) {
	n := Note{Term: term, Count: 1, Set: b.note.Set.with(id, on)}
	if b.note.Term == term {
		n.Count = b.note.Count + 1
	}
	b.note = n
}

// Emit reports a change to observers. group is the node's.
func (c Change) Emit(env node.Env, group, why string) { env.Emit(c.Event(group, why)) }

// Event is a change as observers see it.
func (c Change) Event(group, why string) event.Alert {
	rule := RuleOf(c.ID)
	if !rule.Group {
		group = ""
	}
	remedy := ""
	if c.Kind == event.AlertRaised || c.Kind == event.AlertTaken {
		remedy = rule.Remedy
	}
	return event.Alert{Alert: rule.Name, Change: c.Kind, Severity: rule.Severity(), Group: group, Why: why, Remedy: remedy}
}
