package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// listed asks a gate for the page after a job.
func (m *member) listed(after message.JobID) node.Message {
	m.request++
	return m.asked(&message.JobListQuery{Request: message.RequestID{Incarnation: 1, Counter: m.request}, After: after})
}

// asked returns what client c1 gets for a request.
func (m *member) asked(q node.Message) (answer node.Message) {
	was := m.world.WatchSend
	m.world.WatchSend = func(_ node.StreamID, sent node.Message) { answer = sent }
	m.deliver("c1", q)
	m.world.WatchSend = was
	return answer
}

// TestPagesListEachJobOnce: whatever jobs a gate knows, and however long their names are, each
// page fits half a frame, the pages follow each other, and together they list each job once.
func TestPagesListEachJobOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := gate.Default()
		c.QueueMax = 2000
		m := newListener(c, node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
		in := []string{"a"}
		for i := range rapid.SampledFrom([]int{0, 0, 60}).Draw(rt, "more places") {
			in = append(in, fmt.Sprintf("%s%02d", strings.Repeat("d", 62), i))
		}
		for i, name := range in { // without a worker, so that jobs wait
			p := managerPeer(node.ID(fmt.Sprint("m", i)))
			m.world.Accept(p)
			m.deliver(string(p.ID), &message.ManagerHeartbeat{Datacenter: name, Sequence: 1, CoresTotal: 1})
		}
		want := map[message.JobID]string{}
		for i := range rapid.SampledFrom([]int{0, 1, 120, 511, 512, 513}).Draw(rt, "jobs") {
			s := m.submission(fmt.Sprint("k", i), in, 2)
			s.Name = strings.Repeat("n", rapid.SampledFrom([]int{0, 256}).Draw(rt, "name"))
			m.deliver("c1", s)
			if a, _ := last[*message.JobAck](m, "c1"); a == nil || a.Job != message.JobOf(s.Key) {
				rt.Fatalf("job %d was not accepted: %+v", i, m.heard["c1"])
			}
			want[message.JobOf(s.Key)] = s.Name
		}
		pages, after := 0, message.JobID{}
		for more := true; more; pages++ {
			page, ok := m.listed(after).(*message.JobList)
			if !ok || page.Request.Counter != m.request || page.Gate != "g1" || page.Addr != "g1:1" {
				rt.Fatalf("page %d is %+v", pages, page)
			}
			if n := page.Size(); n > message.FrameMax/2 {
				rt.Fatalf("a page of %d jobs has %d bytes", len(page.Jobs), n)
			}
			for _, j := range page.Jobs {
				name, ok := want[j.Job]
				if !ok || j.Job.Compare(after) <= 0 || j.Name != name || j.State != message.JobQueued || j.Source != message.SourceOwner {
					rt.Fatalf("page %d lists %+v after %v; not listed yet: %v", pages, j, after, ok)
				}
				delete(want, j.Job)
				after = j.Job
			}
			more = page.More
		}
		if len(want) > 0 {
			rt.Fatalf("%d jobs are on none of %d pages", len(want), pages)
		}
	})
}

// TestNoListWithoutMembership: a gate that has not joined its group may lack acknowledged jobs. It
// lists none.
func TestNoListWithoutMembership(t *testing.T) {
	c := gate.Default()
	c.Gates = []node.Addr{"g1:1", "g2:1", "g3:1"}
	m := newListener(c, node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	if r, ok := m.listed(message.JobID{}).(*message.Refused); !ok || r.Code != message.CodeNotMember {
		t.Fatalf("a gate that waits for its group answers %+v", r)
	}
}

// TestNoSeatChangesWithoutMembership: a new gate is configured with the set that is to come, and asked to give the seat
// away that it waits for. It does not say that it has happened.
func TestNoSeatChangesWithoutMembership(t *testing.T) {
	c := gate.Default()
	c.Gates = []node.Addr{"g1:1", "g2:1", "g4:1"}
	m := newListener(c, node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
	if r, ok := m.asked(&message.SeatReplace{Request: message.RequestID{Counter: 1}, Old: "g3:1", New: "g4:1"}).(*message.Refused); !ok || r.Code != message.CodeNotMember {
		t.Fatalf("a gate that waits for its group answers %+v", r)
	}
}
