package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// alone is a role that is the only member of its group, on its own disk.
type alone struct {
	t      *rapid.T
	leases *lease.Registers
	files  *archive.Archive
	l      *Ledger[int]
	begun  int
	told   int
	large  bool
}

func (a *alone) Post(node.Env, node.Addr, node.Message) {}

// Step implements node.Machine.
func (a *alone) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		a.files.Start(env)
		a.leases.Start(env)
	case node.InputStored:
		if in.WriteID.Part() == node.PartLease {
			a.leases.Stored(env, in)
		} else {
			a.files.Stored(env, in)
		}
	case node.InputTimer:
		a.leases.Fire(env, in.Timer)
		a.files.Fire(env, in.Timer)
	}
	a.settle(env)
}

func only() message.JobID { return message.JobID{1} }

func (a *alone) settle(env node.Env) {
	for again := true; again; {
		again = false
		a.leases.Flush(env)
		for _, o := range a.leases.Take() {
			again = true
			switch o.Kind {
			case lease.Ready:
				a.leases.Acquire(env, only(), []byte("0 "))
			case lease.Granted:
				a.l.Open(only())
			default:
				a.l.OnLease(&o)
			}
		}
		for _, o := range a.files.Take() {
			again = true
			a.l.OnFile(env, &o)
		}
		for o, ok := a.l.Next(); ok; o, ok = a.l.Next() {
			a.judge(env, &o)
		}
		for _, job := range a.l.Changed() {
			again = true
			record := []byte(fmt.Sprint(a.begun, " ", strings.Repeat("x", 10)))
			if !a.large {
				a.l.Write(env, job, record)
				continue
			}
			d := archive.DigestOf(record)
			a.l.Write(env, job, append([]byte("="), d[:]...), record)
		}
	}
}

// judge checks that tags arrive in order, each after its record.
func (a *alone) judge(env node.Env, o *Outcome[int]) {
	if a.told++; o.Kind != Committed || o.Tag != a.told {
		a.t.Fatalf("%v %d follows %d", o.Kind, o.Tag, a.told-1)
	}
	seen, _ := a.leases.Seen(env.Now(), only())
	record := seen.Record
	if file, ok := strings.CutPrefix(string(record), "="); ok {
		record, _ = a.files.Have(message.FileDigest([]byte(file)))
	}
	first, _, _ := strings.Cut(string(record), " ")
	if n, err := strconv.Atoi(first); err != nil || n < o.Tag {
		a.t.Fatalf("change %d is taken for written, and the register has %q", o.Tag, record)
	}
}

// The registers and the archive run on a slow disk. The ledger commits each change once, in
// order, after the register has a record as new. When the disk writes, it commits all.
func TestChangesFollowTheDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const self = node.Addr("n1:1")
		a := &alone{t: t, l: New[int](time.Hour)}
		c := lease.Default()
		c.Group, c.Self, c.Members = "g", self, []node.Addr{self}
		f := archive.Default()
		f.Group, f.Self, f.Members = "g", self, c.Members
		a.leases, a.files = lease.New(c, a), archive.New(f, a)
		a.l.Start(a.leases, a.files)
		env := nodetest.New(nodetest.Config{Self: node.Peer{ID: "n1", Incarnation: 1, Role: node.RoleGate, Addr: self}, Seed: 1, New: func() node.Machine { return a }})
		env.Discard = true
		env.Start()
		env.Advance(5 * time.Second)
		for range 60 {
			switch rapid.SampledFrom([]string{"change", "change", "large", "complete", "hold", "release"}).Draw(t, "what") {
			case "change":
				a.begun++
				a.l.Await(only(), a.begun)
				a.settle(env)
			case "large":
				a.large = !a.large
			case "complete":
				env.Complete(1, nil)
			case "hold":
				env.Held = true
			case "release":
				env.Held = false
				env.Complete(env.Pending(), nil)
			}
		}
		env.Held = false
		for env.Pending() > 0 {
			env.Complete(1, nil)
		}
		if a.told != a.begun {
			t.Fatalf("of %d changes that are written the ledger commits %d", a.begun, a.told)
		}
	})
}
