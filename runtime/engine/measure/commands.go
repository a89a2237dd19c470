package measure

import (
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Commands counts what a step asks of a Redis server.
type Commands struct{ sent, replicas, hits, misses, redirects uint64 }

// Commands returns what counts the account's commands.
func (a *Account) Commands() *Commands {
	if a.commands == nil {
		a.commands = new(Commands)
	}
	return a.commands
}

// Sent returns the count of commands that the kernel took whole.
func (c *Commands) Sent() *uint64 { return &c.sent }

// ToReplicas returns the count of those that it took for replicas: Sent does not count them.
func (c *Commands) ToReplicas() *uint64 { return &c.replicas }

// Redirected counts a redirect that an operation follows.
func (c *Commands) Redirected() { c.redirects++ }

// Read counts values that commands read, and those that were missing.
func (c *Commands) Read(hits, misses uint64) {
	c.hits += hits
	c.misses += misses
}

// measures returns what the protocols measured, by name.
func (a *Account) measures() message.Measures {
	out := datagrams(a.packets, a.paths.wire(a.mails.wire(a.transfers.wire(a.deliveries.wire(a.customs.wire(a.results.wire(a.commands.wire(a.messages.wire(a.events.wire())))))))))
	slices.SortFunc(out.List, func(x, y message.Measure) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// wire appends the measures that happened, by name.
func (c *Commands) wire(out message.Measures) message.Measures {
	if c == nil {
		return out
	}
	for _, m := range []message.Measure{
		{Name: plan.MeasureCommands, Count: c.sent + c.replicas}, {Name: plan.MeasureHits, Count: c.hits}, {Name: plan.MeasureMisses, Count: c.misses},
		{Name: plan.MeasureRedirects, Count: c.redirects}, {Name: plan.MeasureReplicaCommands, Count: c.replicas},
	} {
		if m.Kind = message.MeasureCount; m.Count > 0 {
			out.List = append(out.List, m)
		}
	}
	return out
}
