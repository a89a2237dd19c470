package subjob

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// taken holds what was leased of a feed or a counter of a job, in all its datacenters.
type taken map[uint64]bool

func (all taken) add(t *rapid.T, what string, l *Leased) {
	for i := range l.Count {
		if all[l.First+i] {
			t.Fatalf("%s: %d is leased twice", what, l.First+i)
		}
		all[l.First+i] = true
	}
}

// In every datacenter, whatever attempts are lost and managers take over: no value
// of a counter and no row is leased twice, none lies beyond the last one, and none is left when
// every datacenter says that none is.
func TestNoValueIsLeasedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.Uint32Range(1, 3).Draw(t, "datacenters")
		counters := make([]message.CounterPlan, rapid.IntRange(1, 3).Draw(t, "counters"))
		all := make([]taken, len(counters)+2) // the feeds of both workflows, then the counters
		for i := range all {
			all[i] = taken{}
		}
		for i := range counters {
			counters[i] = message.CounterPlan{Most: rapid.Uint64Range(1, 200).Draw(t, "most")}
		}
		const rows = 100
		sites := make([]*Subjob, of)
		for i := range sites {
			p := &Subjob{Accepted: 1, Dispatch: &message.JobDispatch{Rows: message.RowShare{Index: uint32(i), Of: of}}}
			p.Dispatch.Plan.Counters = counters
			for w := range 2 {
				p.Dispatch.Plan.Workflows = append(p.Dispatch.Plan.Workflows, message.WorkflowPlan{Feed: message.FeedPlan{Rows: rows, Unique: true}})
				f := &Workflow{Subjob: p, Index: uint32(w), Cut: true}
				for range 2 {
					f.Shards = append(f.Shards, &Shard{Workflow: f, Extent: Extent{Cores: 2}})
				}
				p.Workflows = append(p.Workflows, f)
			}
			p.Bind()
			sites[i] = p
		}
		var asks uint64
		lease := func(p *Subjob, s *Shard, to Lessee, want uint64) *Leased {
			asks++
			l := s.Lease(to, asks, want)
			at := int(s.Workflow.Index)
			if to.Of > 0 {
				at = 1 + int(to.Of)
			}
			all[at].add(t, "shard", l)
			return l
		}
		site := func(t *rapid.T) int { return rapid.IntRange(0, len(sites)-1).Draw(t, "site") }
		shard := func(t *rapid.T, p *Subjob) *Shard {
			return p.Workflows[rapid.IntRange(0, 1).Draw(t, "workflow")].Shards[rapid.IntRange(0, 1).Draw(t, "shard")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"lease": func(t *rapid.T) {
				p := sites[site(t)]
				to := Lessee{Of: rapid.Uint32Range(0, uint32(len(counters))).Draw(t, "of"), Core: rapid.Uint32Range(0, 1).Draw(t, "core")}
				s := shard(t, p)
				if !s.Leases(to) {
					t.Fatalf("%v cannot be leased", to)
				}
				lease(p, s, to, rapid.Uint64Range(1, 50).Draw(t, "want"))
			},
			"lose": func(t *rapid.T) {
				s := shard(t, sites[site(t)])
				if s.Burn(0); len(s.Rows) > 0 {
					t.Fatal("the blocks of a lost attempt are kept")
				}
			},
			"take over": func(t *rapid.T) {
				i := site(t)
				old := sites[i]
				now := node.Instant(time.Hour)
				p, err := Decode(old.Job, old.Record(now), now)
				if err != nil {
					t.Fatal(err)
				}
				p.Dispatch = old.Dispatch
				p.Bind()
				sites[i] = p
			},
			"": func(t *rapid.T) {
				for i, c := range counters {
					if n := uint64(len(all[2+i])); n > c.Most {
						t.Fatalf("%d values of a counter of at most %d are leased", n, c.Most)
					}
				}
			},
		})
		for i, c := range counters { // to the end
			for _, p := range sites {
				for lease(p, p.Workflows[0].Shards[0], Lessee{Of: uint32(i + 1)}, 64).Count > 0 {
				}
			}
			for n := range c.Most {
				if !all[2+i][n] {
					t.Fatalf("value %d of %d was never leased", n, c.Most)
				}
			}
			if uint64(len(all[2+i])) != c.Most {
				t.Fatalf("%d values were leased of %d", len(all[2+i]), c.Most)
			}
		}
	})
}

// A counter that the plan does not have, rows that the workflow does not lease, and cores that no
// record could name are not leased.
func TestLeasesWhatThePlanHas(t *testing.T) {
	p := &Subjob{Dispatch: &message.JobDispatch{Plan: message.Plan{Counters: make([]message.CounterPlan, 2), Workflows: make([]message.WorkflowPlan, 1)}}}
	p.Unfold()
	s := &Shard{Workflow: p.Workflows[0]}
	for _, test := range []struct {
		to   Lessee
		want bool
	}{{Lessee{}, false}, {Lessee{Of: 1}, true}, {Lessee{Of: 2}, true}, {Lessee{Of: 3}, false}, {Lessee{Of: ^uint32(0)}, false}, {Lessee{Of: 1, Core: AsksMax - 1}, true}, {Lessee{Of: 1, Core: AsksMax}, false}} {
		if got := s.Leases(test.to); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.to, got, test.want)
		}
	}
}
