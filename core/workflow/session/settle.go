package session

import (
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Settlement is what the other side hears of a message.
type Settlement struct {
	Word  Settle
	Delay time.Duration // of a Nak, before the message comes again; 0: the other side's own
}

// Settle says what has become of a message.
type Settle uint8

// The words.
const (
	SettleAck      Settle = iota // it is done
	SettleNak                    // it comes again
	SettleTerm                   // it never comes again
	SettleProgress               // it takes longer
)

// settles returns the word of an attribute.
func settles(name string) (Settle, bool) {
	s, ok := map[string]Settle{"ack": SettleAck, "nak": SettleNak, "term": SettleTerm, "progress": SettleProgress}[name]
	return s, ok
}

// settle is ack, nak, term or progress of a session.
func (v *Value) settle(word string, as Settle) *guard.Func {
	return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		names := []string{"message"}
		if as == SettleNak {
			names = append(names, "delay")
		}
		var in [2]starlark.Value
		if err := language.Bind(word, names, 1, args, kwargs, in[:len(names)]); err != nil {
			return nil, err
		}
		s := Settlement{Word: as}
		if in[1] != nil {
			var err error
			if s.Delay, err = language.Duration(word, "delay", in[1]); err != nil {
				return nil, err
			}
		}
		return v.tell(thread, word, in[0], s)
	}}
}

// nack is what a queue's consumer says of a message that it does not take.
func (v *Value) nack(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("nack", []string{"message", "requeue"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	again, err := builtin.Flag("nack", "requeue", in[1], true)
	if err != nil {
		return nil, err
	}
	s := Settlement{Word: SettleTerm}
	if again {
		s.Word = SettleNak
	}
	return v.tell(thread, "nack", in[0], s)
}

// tell settles a message that the session received. A server closes a session that does so twice, or with
// another's message.
func (v *Value) tell(thread *starlark.Thread, word string, given starlark.Value, s Settlement) (starlark.Value, error) {
	m, ok := given.(*Received)
	if given != nil && !ok {
		return nil, language.WrongType(word, "message", "what receive() of this session returned", given)
	}
	if err := v.foreign(thread); err != nil {
		return nil, err
	}
	if err := v.settleable(word, m); err != nil {
		return nil, err
	}
	if err := guard.MeterOf(thread).Charge(thread, settleSize); err != nil {
		return nil, err
	}
	m.settled = s.Word != SettleProgress
	queued, err := v.link.Settle(&m.m, s)
	return starlark.Bool(queued), err
}

const settleSize = 32 // bytes of what says so

// settleable says why a message cannot be settled.
func (v *Value) settleable(word string, m *Received) error {
	switch {
	case m == nil:
		return language.Faultf("%s: the message is missing", word).Do("write m = s.receive(), and s.%s(m)", word)
	case m.m.Error != "":
		return language.Faultf("%s: there is no message: %s", word, m.m.Error).Do("look at .error first")
	case m.of != v.link:
		return language.Faultf("%s: another session has received this message", word).Do("write it on the session whose receive() returned the message")
	case m.settled:
		return language.Faultf("%s: this message is settled already", word).Do("settle each message once")
	}
	return nil
}
