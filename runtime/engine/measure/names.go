package measure

import (
	"fmt"
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
	"hyperscale/runtime/redact"
)

// Names hold the accounts of functions' requests: each under its own name, behind the name of its
// owner, the step or the hook whose function sends it.
type Names struct {
	plan    *message.WorkflowPlan
	mask    *redact.Mask // folding would tear a secret in a path apart
	owners  []owner
	scratch []byte
	total   int
}

// owner is a step, or a function beside the steps.
type owner struct {
	name     string
	kind     message.StepKind // of its accounts
	accounts map[string]*Account
	full     bool // further names count as stats.PartOther
}

// NewNames returns names without owners.
func NewNames(w *message.WorkflowPlan, mask *redact.Mask) Names { return Names{plan: w, mask: mask} }

// Own adds an owner, whose place is the number of those before it.
func (n *Names) Own(name string, kind message.StepKind) {
	n.owners = append(n.owners, owner{name: name, kind: kind})
}

// Account returns the account of a request of an owner. Without a name it is that of its method
// and path.
func (n *Names) Account(of int, group, name, method, url string) *Account {
	group, name, url = n.mask.Values(group), n.mask.Values(name), n.mask.Values(url)
	b := n.scratch[:0]
	if group != "" {
		b = append(append(b, group...), '/')
	}
	if n.scratch = append(b, name...); name == "" {
		n.scratch = stats.FoldRequest(b, method, url)
	}
	o := &n.owners[of]
	if a := o.accounts[string(n.scratch)]; a != nil {
		return a
	}
	return n.add(o, string(n.scratch), method+" "+url)
}

func (n *Names) add(o *owner, name, asks string) *Account {
	if len(o.accounts) >= stats.PartsMax || n.total >= stats.AllPartsMax {
		if o.full, name = true, stats.PartOther; o.accounts[name] != nil {
			return o.accounts[name]
		}
	}
	if o.accounts == nil {
		o.accounts = map[string]*Account{}
	}
	whole := o.name + "/" + name
	a := NewAccount(&message.StepPlan{Name: whole, Kind: o.kind}, nil, false, SpansOf(n.plan, whole))
	a.asks, a.mask = clip(asks), n.mask
	o.accounts[name] = &a
	n.total++
	return &a
}

// SpansOf returns the spans of a row that thresholds look at; nil: none does.
func SpansOf(w *message.WorkflowPlan, row string) *stats.Spans {
	if slices.ContainsFunc(w.Thresholds, func(t message.Threshold) bool { return t.Partial() && t.Looks(row) }) {
		return stats.NewSpans(plan.Cuts(w))
	}
	return nil
}

// Of returns the accounts of an owner, by name.
func (n *Names) Of(owner int) (all []*Account) {
	for _, name := range slices.Sorted(maps.Keys(n.owners[owner].accounts)) {
		all = append(all, n.owners[owner].accounts[name])
	}
	return all
}

// Owners counts the owners.
func (n *Names) Owners() int { return len(n.owners) }

// AllFull says which owners have more names than count apart.
func (n *Names) AllFull() (lines []string) {
	for i := range n.owners {
		if o := &n.owners[i]; o.full {
			lines = append(lines, fmt.Sprintf("%s sends requests of more than %d names: %s/%s counts the rest. Give them names: vu.http.get(url, name = \"...\")", o.name, stats.PartsMax, o.name, stats.PartOther))
		}
	}
	return lines
}
