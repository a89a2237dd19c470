package session

import (
	"slices"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Part is what a request is of a transaction that a function holds.
type Part uint8

// The parts.
const (
	PartNone Part = iota // of none
	PartBegin
	PartWithin
	PartCommit
	PartRollback
)

// IsText reports that the part goes out as text, however statements do.
func (p Part) IsText() bool { return p == PartBegin || p == PartCommit || p == PartRollback }

// Hold is a connection as its engine keeps it for a transaction.
type Hold interface {
	Held() bool // it is there, with the transaction open
}

// Failure is how a request failed; the zero value is of one that did not.
type Failure struct{ Kind, Text string }

// Transaction is one that a function holds between requests.
type Transaction struct {
	Hold  Hold // the engine's; nil: there is no network
	asks  bool // a request of it is under way
	over  bool
	fails Failure // why it is over; the zero value: it ended in order
}

// Starts says why a request of the transaction cannot begin: as the transaction has failed, or, as an
// error, because the function is wrong.
func (t *Transaction) Starts() (*Failure, error) {
	switch {
	case t.asks:
		return &Failure{}, language.Faultf("another function of this virtual user waits for an answer in this transaction").Do("begin one for each of them")
	case t.over && t.fails.Kind == "":
		return &Failure{}, language.Faultf("this transaction is over").Do("begin the next one by vu.sql.begin(db)")
	case t.over:
		return &Failure{Kind: t.fails.Kind, Text: "the transaction is over: " + t.fails.Text}, nil
	}
	t.asks = true
	return nil, nil
}

// Ends takes the end of a request of the transaction.
func (t *Transaction) Ends(p Part, f Failure) {
	t.asks = false
	t.over = p == PartCommit || p == PartRollback || p == PartBegin && f.Kind != "" || t.Hold != nil && !t.Hold.Held()
	if t.over {
		t.fails = f
	}
}

// Transacting is a Transaction for functions.
type Transacting struct {
	language.Opaque
	of      *Transaction
	owner   any                    // the virtual user
	members map[string]*guard.Func // what it asks
}

var _ starlark.HasAttrs = (*Transacting)(nil)

// NewTransaction returns a transaction whose owner asks by members.
func NewTransaction(t *Transaction, owner any, members map[string]*guard.Func) *Transacting {
	return &Transacting{Opaque: language.Opaque{Kind: "transaction"}, of: t, owner: owner, members: members}
}

// AttrNames implements starlark.HasAttrs, as Attr does.
func (v *Transacting) AttrNames() []string {
	names := []string{"error"}
	//lint:orderfree they are sorted
	for name := range v.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Attr implements starlark.HasAttrs.
func (v *Transacting) Attr(name string) (starlark.Value, error) {
	if name == "error" {
		return starlark.String(v.of.fails.Text), nil
	}
	m := v.members[name]
	if m == nil {
		return nil, language.Missing("transaction", name, v.AttrNames())
	}
	return &guard.Func{Word: name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if guard.MeterOf(thread).Owner != v.owner {
			return nil, language.Faultf("this transaction belongs to another virtual user").Do("begin one for each of them")
		}
		return m.Call(thread, args, kwargs)
	}}, nil
}
