package event

// NameResolved: a look-up of a name found addresses, and some of them are new or gone, or the last
// one had failed.
type NameResolved struct {
	Name    string
	Addrs   int // candidates of the name
	Added   int // that no name had
	Removed int // that no name has any more
}

// NameFailed: a look-up of a name found no address. The node keeps the candidates that it has,
// and asks again.
type NameFailed struct {
	Name string
	Why  string
	Kept int // candidates of the name
}

// EventName implements node.Event.
func (NameResolved) EventName() string { return "name-resolved" }

// EventName implements node.Event.
func (NameFailed) EventName() string { return "name-failed" }

// GatesKnown: a client learnt the set of gates. A later client may find them in its cache.
type GatesKnown struct{ Gates []string }

// GatesRecalled: names lead a client to no gate, and it asks those of its cache.
type GatesRecalled struct{ Gates int }

// EventName implements node.Event.
func (GatesKnown) EventName() string { return "gates-known" }

// EventName implements node.Event.
func (GatesRecalled) EventName() string { return "gates-recalled" }

// GatePreferred: a client asks another gate what any gate may answer, as it answers faster.
type GatePreferred struct{ Gate, Former string }

// EventName implements node.Event.
func (GatePreferred) EventName() string { return "gate-preferred" }
