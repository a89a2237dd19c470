package manager

import (
	"testing"
	"time"

	"hyperscale/core/lease"
	"hyperscale/core/manager/roster"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestToldBy: a manager believes a note about another workflow that runs alone as long as it is
// young, and longer if the one that dispatches wrote it.
func TestToldBy(t *testing.T) {
	c := Default()
	own := &subjob.Workflow{Subjob: &subjob.Subjob{Job: message.JobOf("own")}, Index: 1}
	other := roster.Held{Job: message.JobOf("other"), Workflow: 2}
	const now = node.Instant(time.Hour)
	for _, row := range []struct {
		name string
		held roster.Held
		how  byte
		age  time.Duration
		told bool
	}{
		{"just heard", other, noteHeard, 0, true},
		{"heard a while ago", other, noteHeard, heardFor - 1, true},
		{"heard too long ago", other, noteHeard, heardFor, false},
		{"by the one that dispatches", other, noteOwn, 2*c.RenewalTimeout - 1, true},
		{"by the one that dispatched", other, noteOwn, 2 * c.RenewalTimeout, false},
		{"about itself", roster.Held{Job: own.Subjob.Job, Workflow: own.Index}, noteOwn, 0, false},
		{"about another workflow of its job", roster.Held{Job: own.Subjob.Job, Workflow: own.Index + 1}, noteOwn, 0, true},
	} {
		notes := []lease.Note{{Text: []byte("no note")}, {Text: noteOf(row.held, row.how), At: now.Add(-row.age)}}
		held, told := c.toldBy(notes, now, own)
		if told != row.told || told && held != row.held {
			t.Errorf("%s: told %v of %+v, want %v", row.name, told, held, row.told)
		}
	}
}
