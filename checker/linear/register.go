package linear

import (
	"fmt"

	"hyperscale/core/message"
)

// Register is the state of a lease register: the record, by its digest, and the
// highest token that was granted.
type Register struct {
	Value    uint64
	Token    message.LeaseToken // zero: never granted; Value then says nothing
	Released bool
}

// RegisterOp is an operation on it.
type RegisterOp struct {
	What  string             // "acquire", "update", "release", "read", "read-held"
	Token message.LeaseToken // of an update or a release; told by the others
	Value uint64             // of an update; told by the others
}

// LeaseRegister is the model of (group, job): an acquisition adopts the record under
// a token that is higher than any before; an update writes under the token that is
// highest, and under no other; nothing follows a release under its token.
func LeaseRegister() *Model[Register, RegisterOp] {
	return &Model[Register, RegisterOp]{
		Name: "lease register", Step: stepRegister, Idle: idleRegister,
		Inert: func(o *RegisterOp) bool { return o.What != "update" && o.What != "release" },
		Operation: func(o *RegisterOp, returned bool) string {
			switch {
			case o.What == "update":
				return fmt.Sprintf("update(%x under %v)%s", o.Value, o.Token, openMark(returned))
			case o.What == "release":
				return fmt.Sprintf("release(%v)%s", o.Token, openMark(returned))
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
		// Nobody has told what the first record was: it is the seed of one of those
		// who tried, perhaps of one that never knew that it had been granted.
		if !returned {
			return s, true
		}
		adopts := s.Token.Zero() || o.Value == s.Value
		return Register{Value: o.Value, Token: o.Token}, s.Token.Less(o.Token) && adopts
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
	return readRegister(s, o, returned)
}

// readRegister: a read may tell a token that nobody was granted: of an acquisition
// that a majority accepted too late for its holder. It has changed nothing but the
// token, under which all follows from then on.
func readRegister(s Register, o *RegisterOp, returned bool) (Register, bool) {
	switch {
	case !returned:
		return s, true
	case o.Token == s.Token:
		return s, o.Value == s.Value || s.Token.Zero()
	case s.Token.Less(o.Token):
		return Register{Value: o.Value, Token: o.Token}, s.Token.Zero() || o.Value == s.Value
	}
	return s, false
}

// idleRegister: tokens never fall, so what waits under a lower one waits for ever.
func idleRegister(s Register, o *RegisterOp) bool {
	return o.Token.Less(s.Token) || o.Token == s.Token && s.Released
}

// Fenced is the state of a receiver behind the register: the highest fence that it
// has acted on.
type Fenced struct{ Fence message.Fence }

// FencedOp is an order that it obeyed, or refused.
type FencedOp struct {
	What    string
	Fence   message.Fence
	Refused bool
	Current message.Fence // of a refusal: what it told to hold
}

// FencedRegister is the model of one receiver of orders for one slice or part: it
// obeys no fence lower than one it has obeyed, and when it refuses an order, it says
// that it holds at least what it has obeyed, and no less than what it refuses.
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
