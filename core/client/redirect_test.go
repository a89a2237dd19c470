package client_test

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A gate names another gate as the owner of the job: the client asks that one next, whatever
// its own order is.
func TestClientAsksTheNamedOwnerNext(t *testing.T) {
	gates := []node.Addr{"g1:1", "g2:1", "g3:1", "g4:1"}
	for _, owner := range gates {
		var asked []node.Addr
		w := world(gates...)
		w.Discard = true
		w.WatchOpen = func(_ node.StreamID, to node.Addr) { asked = append(asked, to) }
		w.Start()
		w.Command(&message.JobQuery{Request: message.RequestID{Counter: 1}, Job: message.JobID{1}})
		if len(asked) != 1 {
			t.Fatalf("it opens %v, want one gate", asked)
		}
		first := asked[0]
		if first == owner {
			continue
		}
		s := w.OpeningTo(first)[0]
		w.Opened(s, node.Peer{ID: node.ID(first[:2]), Incarnation: 1, Role: node.RoleGate, Addr: first})
		w.Receive(s, &message.Refused{Request: message.RequestID{Incarnation: 1, Counter: 1}, Code: message.CodeNotOwner, Holder: string(owner)})
		if len(asked) != 2 || asked[1] != owner {
			t.Errorf("%s names %s as the owner, and the client opens %v", first, owner, asked)
		}
	}
}
