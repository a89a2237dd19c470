package election

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// seat is this voter's place in its group.
type seat struct {
	config Config
	poster Poster
	others []node.Addr // sorted, without Self
	rank   int         // of Self among all
}

// majority counts all configured voters.
func (e *seat) majority() int { return (len(e.others)+1)/2 + 1 }

func (e *seat) tell(env node.Env, to node.Addr, m node.Message) { e.poster.Post(env, to, m) }

func (e *seat) tellAll(env node.Env, m node.Message) {
	for _, a := range e.others {
		e.tell(env, a, m)
	}
}

func (e *seat) key() string { return "election/" + e.config.Group }

func (e *seat) epochKey() string { return e.key() + "/epoch" }

func (e *seat) passKey() string { return e.key() + "/pass" }

func (e *seat) admissionKey(a node.Addr) string { return e.key() + "/admitted/" + string(a) }

func ignore(env node.Env, from node.Peer, m node.Message, why string) {
	env.Emit(event.Ignored{Peer: from.ID, Message: message.Name(m.Kind()), Why: why})
}
