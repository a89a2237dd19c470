package gate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/gate"
	"hyperscale/core/gate/restore"
	"hyperscale/core/lease/copies"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// page asks a gate for a page of its copy.
func (m *member) page(q message.BackupQuery) node.Message {
	m.request++
	q.Request = message.RequestID{Incarnation: 1, Counter: m.request}
	var answer node.Message
	was := m.world.WatchSend
	m.world.WatchSend = func(_ node.StreamID, sent node.Message) { answer = sent }
	m.deliver("c1", &q)
	m.world.WatchSend = was
	return answer
}

// copied reads all pages of a gate, and all files that the records name.
func (m *member) copied(t *rapid.T) (c copies.Copy, files map[message.FileDigest][]byte) {
	for q := (message.BackupQuery{}); ; {
		p, ok := m.page(q).(*message.BackupPage)
		if !ok || p.Size() > message.FrameMax {
			t.Fatalf("a page is %T", p)
		}
		c.Epoch, c.Floor = p.Epoch, p.Floor
		c.Registers = append(c.Registers, p.Registers...)
		if !p.More {
			break
		}
		q.After = p.Registers[len(p.Registers)-1].Job
	}
	marked := append([]message.LeaseRegister{}, c.Registers...)
	jobs, err := restore.Mark(marked, "nowhere")
	if err != nil {
		t.Fatal(err)
	}
	files = map[message.FileDigest][]byte{}
	for _, j := range jobs {
		for _, d := range j.Files {
			var b []byte
			for more := true; more; {
				p := m.page(message.BackupQuery{File: d, Offset: uint64(len(b))}).(*message.BackupPage)
				if len(p.Data) == 0 {
					t.Fatalf("file %v of job %v is not there from %d on", d, j.ID, len(b))
				}
				b, more = append(b, p.Data...), p.More
			}
			files[d] = b
		}
	}
	return c, files
}

// TestARestoredGateKnowsNoMore: a gate that starts on a restored disk ends what had not ended, with
// the reason, as a dead letter that can be replayed, above all old fences. It sends nothing of
// it to a manager again.
func TestARestoredGateKnowsNoMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := gate.Default()
		m := newListener(c, node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
		m.world.Accept(managerPeer("m1"))
		free := rapid.SampledFrom([]uint32{0, 4}).Draw(rt, "free cores") // without, the jobs wait
		m.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 4, CoresFree: free})
		jobs := rapid.IntRange(1, 4).Draw(rt, "jobs")
		for i := range jobs {
			m.deliver("c1", m.submission(fmt.Sprint("k", i), []string{"a"}, 1))
		}
		for range 3 {
			m.world.Advance(time.Second)
		}
		old, files := m.copied(rt)
		g := copies.Ground{Group: "gates", Members: []node.Addr{"g1:1"}, Merged: copies.Merge([]copies.Copy{old})}
		if _, err := restore.Mark(g.Merged.Registers, "a backup of May"); err != nil {
			rt.Fatal(err)
		}
		disk, err := g.Disk()
		if err != nil {
			rt.Fatal(err)
		}
		n := newMember(c)
		n.world.Discard = true
		n.listen(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient}, managerPeer("m1"))
		n.world.Write(disk...)
		//lint:orderfree each file has records of its own
		for _, b := range files {
			n.world.Write(archive.Records("gates", b)...)
		}
		n.world.Start()
		n.world.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient})
		n.world.Accept(managerPeer("m1"))
		n.deliver("m1", &message.ManagerHeartbeat{Datacenter: "a", Sequence: 1, CoresTotal: 4, CoresFree: 4})
		for range 60 {
			n.world.Advance(time.Second)
		}
		for _, sent := range n.heard["m1"] {
			if d, ok := sent.(*message.JobDispatch); ok {
				rt.Fatalf("job %v is dispatched again", d.Job)
			}
		}
		list, ok := n.listed(message.JobID{}).(*message.JobList)
		if !ok || len(list.Jobs) != jobs || len(list.Letters) != jobs {
			rt.Fatalf("%d jobs are %+v", jobs, list)
		}
		for _, j := range list.Jobs {
			if j.Counted {
				rt.Fatalf("the list says that job %v has started %d requests, and no gate knows", j.Job, j.Started)
			}
			n.deliver("c1", &message.JobWatch{Request: n.ask(), Job: j.Job})
			if r, _ := last[*message.JobResult](n, "c1"); r == nil || r.Result.Restored != "a backup of May" {
				rt.Fatalf("the result of job %v does not say that it is of a backup: %+v", j.Job, r)
			}
			if j.State != message.JobFailed || j.Token.Epoch <= g.Merged.Highest+copies.Stride {
				rt.Fatalf("a job is %+v after highest %d", j, g.Merged.Highest)
			}
		}
	})
}
