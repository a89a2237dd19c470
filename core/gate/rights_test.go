package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// granted is a client with a certificate.
func granted(id node.ID, right node.Right, subject string) node.Peer {
	p := client(id)
	p.Grant = node.Grant{Subject: subject, Right: right}
	return p
}

// clientCase is a message that clients alone send, and the right that it needs.
type clientCase struct {
	m     node.Message
	needs node.Right
}

func clientCases() map[node.Kind]clientCase {
	job, r := message.JobOf("k"), message.RequestID{Incarnation: 1, Counter: 1}
	return map[node.Kind]clientCase{
		message.KindJobSubmit:       {newMember(gate.Default()).submission("k", nil, 1), node.RightSubmit},
		message.KindJobCancel:       {&message.JobCancel{Request: r, Job: job}, node.RightSubmit},
		message.KindJobReplay:       {&message.JobReplay{Request: r, Job: job}, node.RightSubmit},
		message.KindBackupQuery:     {&message.BackupQuery{Request: r}, node.RightOperate},
		message.KindDrainRequest:    {&message.DrainRequest{Request: r, Node: "g1"}, node.RightOperate},
		message.KindSeatReplace:     {&message.SeatReplace{Request: r, Old: "g1:1", New: "g9:1"}, node.RightOperate},
		message.KindJobWatch:        {&message.JobWatch{Request: r, Job: job}, node.RightView},
		message.KindJobQuery:        {&message.JobQuery{Request: r, Job: job}, node.RightView},
		message.KindJobListQuery:    {&message.JobListQuery{Request: r}, node.RightView},
		message.KindDatacenterQuery: {&message.DatacenterQuery{Request: r}, node.RightView},
		message.KindStatusQuery:     {&message.StatusQuery{Request: r}, node.RightView},
		message.KindClusterQuery:    {&message.ClusterQuery{Request: r}, node.RightView},
		message.KindUpgradeQuery:    {&message.UpgradeQuery{Request: r}, node.RightView},
		message.KindUpgradeFinalize: {&message.UpgradeFinalize{Request: r}, node.RightOperate},
		message.KindClientPing:      {&message.ClientPing{}, node.RightView},
	}
}

// TestEachRequestWithoutRoomIsRefused: a client hears that its request found no room, whatever kind it
// is, under the request's own name.
func TestEachRequestWithoutRoomIsRefused(t *testing.T) {
	//lint:orderfree each kind has a gate of its own
	for k, one := range clientCases() {
		stubbed, refusable := one.m.(node.Stubbed)
		if !refusable {
			continue // it may be lost, or always finds room
		}
		m := newListener(gate.Default(), client("c1"))
		m.world.Shed(m.world.StreamsOf("c1")[0], stubbed, node.Refusal{})
		if got, n := last[*message.Refused](m, "c1"); n != 1 || got.Code != message.CodeOverloaded || got.Request == (message.RequestID{}) {
			t.Errorf("%s without room: %d refusals, the last is %+v", message.Name(k), n, got)
		}
	}
}

// TestEachKindNeedsItsRight: a gate answers what a right allows, and forbids all else, whatever kind of
// message clients send. The answer names the right and where it stands.
func TestEachKindNeedsItsRight(t *testing.T) {
	cases := clientCases()
	for _, k := range message.Kinds() {
		if message.Senders(k) != 1<<node.RoleClient {
			continue
		}
		one, listed := cases[k]
		if !listed {
			t.Errorf("which right does a %s need?", message.Name(k))
			continue
		}
		need := one.needs
		for _, right := range []node.Right{node.RightOperate, node.RightSubmit, node.RightView} {
			c := granted("c1", right, "ann")
			m := newListener(gate.Default(), c)
			m.deliver("c1", one.m)
			var forbidden *message.Refused
			for _, got := range m.heard["c1"] {
				if r, ok := got.(*message.Refused); ok && r.Code == message.CodeForbidden {
					forbidden = r
				}
			}
			if (forbidden != nil) != (right > need) {
				t.Errorf("%s of a %v: forbidden %v", message.Name(k), right, forbidden)
			}
			if forbidden != nil && !(strings.Contains(forbidden.Detail, "(hyperscale://role/"+need.String()+")") && strings.Contains(forbidden.Detail, `"ann"`)) {
				t.Errorf("%s of a %v: %s", message.Name(k), right, forbidden.Detail)
			}
		}
	}
}

// TestWhoMayEndAJob: everyone without a certificate, operators, and the submitter whose subject stands
// in the record.
func TestWhoMayEndAJob(t *testing.T) {
	askers := []node.Peer{client("c2"), granted("c2", node.RightOperate, "ops"), granted("c2", node.RightSubmit, "ann"), granted("c2", node.RightSubmit, "bob"), granted("c2", node.RightSubmit, ""), granted("c2", node.RightView, "ann")}
	for _, owner := range []node.Peer{client("c1"), granted("c1", node.RightOperate, "ann"), granted("c1", node.RightSubmit, "ann")} {
		for i, asker := range askers {
			m := newListener(gate.Default(), owner, asker, managerPeer("m1"))
			m.says("m1")
			m.deliver("c1", m.submission("k", []string{"a"}, 2))
			m.deliver("c2", &message.JobCancel{Request: m.ask(), Job: message.JobOf("k")})
			want := i < 2 || asker.Grant == node.Grant{Subject: "ann", Right: node.RightSubmit} && owner.Grant.Subject == "ann"
			r, refused := last[*message.Refused](m, "c2")
			if want != (refused == 0) || !want && r.Code != message.CodeForbidden {
				t.Errorf("a job of %+v, cancelled by %+v: refused %v", owner.Grant, asker.Grant, r)
			}
			if got := fmt.Sprint(m.state(message.JobOf("k"))); (got == "CANCELLED" || got == "CANCELLING") != want {
				t.Errorf("a job of %+v, cancelled by %+v, is %s", owner.Grant, asker.Grant, got)
			}
		}
	}
}

// state asks a job's state as an operator does.
func (m *member) state(id message.JobID) message.JobState {
	c := client("c9")
	m.listen(c)
	m.world.Accept(c)
	m.deliver("c9", &message.JobQuery{Request: m.ask(), Job: id})
	s, n := last[*message.JobStatus](m, "c9")
	if n == 0 {
		return message.JobNone
	}
	return s.State
}
