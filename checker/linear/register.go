package linear

import (
	"fmt"

	"hyperscale/core/message"
)

// Register is the state of a lease register: the digest of the record, and the highest token
// granted.
type Register struct {
	Value    uint64
	Token    message.LeaseToken // zero: never granted, and Value means nothing
	Released bool
}

// RegisterOp is an operation on a register.
type RegisterOp struct {
	What  string             // "acquire", "update", "release", "read", "read-held"
	Token message.LeaseToken // as a read returned it
	Value uint64             // of an update; as an acquisition or a read returned it
	Seed  uint64             // of an acquisition: the record if the register has none
}

// LeaseRegister is the model of (group, job). An acquisition adopts the record, or brings the
// first one, under a token above all earlier ones. An update writes under the highest token and
// no other. Nothing follows a release under its token.
func LeaseRegister() *Model[Register, RegisterOp] {
	return &Model[Register, RegisterOp]{
		Name: "lease register", Step: stepRegister, Idle: idleRegister,
		Inert: func(o *RegisterOp) bool { return o.What == "read" || o.What == "read-held" },
		Operation: func(o *RegisterOp, returned bool) string {
			switch {
			case o.What == "update":
				return fmt.Sprintf("update(%x under %v)%s", o.Value, o.Token, openMark(returned))
			case o.What == "release":
				return fmt.Sprintf("release(%v)%s", o.Token, openMark(returned))
			case o.What == "acquire" && returned:
				return fmt.Sprintf("acquire(%v) -> %x", o.Token, o.Value)
			case o.What == "acquire":
				return fmt.Sprintf("acquire(%v)%s", o.Token, openMark(returned))
			case !returned:
				return o.What + "()" + openMark(returned)
			}
			return fmt.Sprintf("%s() -> %x under %v", o.What, o.Value, o.Token)
		},
		State: func(s Register) string {
			switch {
			case s.Token.Zero():
				return "never granted"
			case s.Released:
				return fmt.Sprintf("%x, %v released", s.Value, s.Token)
			}
			return fmt.Sprintf("%x under %v", s.Value, s.Token)
		},
	}
}

func openMark(returned bool) string {
	if returned {
		return ""
	}
	return " -> ?"
}

func stepRegister(s Register, o *RegisterOp, returned bool) (Register, bool) {
	switch o.What {
	case "acquire":
		return acquireRegister(s, o, returned)
	case "update":
		if s.Token != o.Token || s.Released || o.Token.Zero() {
			return s, !returned
		}
		return Register{Value: o.Value, Token: o.Token}, true
	case "release":
		if s.Token != o.Token || s.Released || o.Token.Zero() {
			return s, !returned
		}
		return Register{Value: s.Value, Token: s.Token, Released: true}, true
	}
	switch {
	case !returned:
		return s, true
	case o.Token.Zero():
		return s, s.Token.Zero() || s.Released // a forgotten job that had ended
	}
	return s, o.Token == s.Token && o.Value == s.Value
}

// acquireRegister: an acquisition that never returned may have got the grant without its
// holder's knowledge, and others may read that.
func acquireRegister(s Register, o *RegisterOp, returned bool) (Register, bool) {
	if !s.Token.Less(o.Token) {
		return s, !returned
	}
	next := Register{Value: s.Value, Token: o.Token}
	if s.Token.Zero() || s.Released && returned && o.Value == o.Seed { // or it is forgotten
		next.Value = o.Seed
	}
	return next, !returned || o.Value == next.Value
}

// idleRegister: tokens never fall, so an operation that waits under a lower one waits for ever.
func idleRegister(s Register, o *RegisterOp) bool {
	return o.Token.Less(s.Token) || o.Token == s.Token && (s.Released || o.What == "acquire")
}

// Fenced is the state of a receiver behind the register: the highest fence that it has acted
// on.
type Fenced struct{ Fence message.Fence }

// FencedOp is an order that it obeyed or rejected.
type FencedOp struct {
	What    string
	Fence   message.Fence
	Refused bool
	Current message.Fence // of a rejection: the fence that it reported to hold
}

// FencedRegister is the model of one receiver of orders for one shard or subjob. It obeys no
// fence lower than one it has obeyed. When it rejects an order, it reports a fence at least as
// high as all it has obeyed, and as the rejected one.
func FencedRegister() *Model[Fenced, FencedOp] {
	return &Model[Fenced, FencedOp]{
		Name: "fenced register",
		Step: func(s Fenced, o *FencedOp, returned bool) (Fenced, bool) {
			switch {
			case !returned:
				return s, true
			case o.Refused:
				return s, !o.Current.Less(s.Fence) && !o.Current.Less(o.Fence)
			}
			return Fenced{o.Fence}, !o.Fence.Less(s.Fence)
		},
		Idle:  func(Fenced, *FencedOp) bool { return true },
		Inert: func(*FencedOp) bool { return true },
		Operation: func(o *FencedOp, _ bool) string {
			if o.Refused {
				return fmt.Sprintf("%s(%v) -> refused, holds %v", o.What, o.Fence, o.Current)
			}
			return fmt.Sprintf("%s(%v) -> obeyed", o.What, o.Fence)
		},
		State: func(s Fenced) string { return s.Fence.String() },
	}
}
