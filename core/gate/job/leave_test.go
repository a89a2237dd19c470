package job

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/gate/places"
	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestSilentDatacentersAreLeftOnce: a job leaves a silent datacenter for one that is well,
// that it has not left before. While such a one is only ill the job waits, and the silent
// one stays open; without any it ends, and so does a job that names its datacenters.
func TestSilentDatacentersAreLeftOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := places.New(places.Bounds{Datacenters: 9, Managers: 9})
		names := []string{"a", "b", "c"}
		well := map[string]bool{}
		for i, name := range names {
			d := in.Add(name, 1, 0)
			if well[name] = rapid.Bool().Draw(t, name+" is well"); well[name] {
				h := &message.ManagerHeartbeat{Sequence: 1, CoresTotal: 8, CoresFree: 8, WorkerSum: 1}
				in.Register(d, node.Peer{ID: node.ID("m" + name)}, 1).Take(node.StreamID(i+1), h, 1)
			}
		}
		j := &Job{Closed: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"b", "c"}), 0, 2, rapid.ID).Draw(t, "closed")}
		if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
			j.Turn = queue.Turn{Named: []string{"a"}}
		}
		p := &Subjob{Datacenter: "a", Phase: Running, Ever: true}
		j.Subjobs = []*Subjob{p}
		before := slices.Clone(j.Closed)
		open := slices.DeleteFunc([]string{"b", "c"}, func(name string) bool { return slices.Contains(before, name) })
		fit := slices.DeleteFunc(slices.Clone(open), func(name string) bool { return !well[name] })
		to, ends := j.Leave(0, p, in)
		switch {
		case len(j.Turn.Named) > 0 || len(open) == 0:
			if !ends || to != nil {
				t.Fatalf("it has nowhere to go, and goes to %v", to)
			}
		case len(fit) == 0:
			if ends || to != nil || !slices.Equal(j.Closed, before) {
				t.Fatalf("all others are ill: it goes to %v, ends %v, closed are %v", to, ends, j.Closed)
			}
		case ends || to == nil || !slices.Contains(fit, to.Name) || !slices.Equal(j.Closed, append(before, "a")):
			t.Fatalf("of %v it goes to %v, ends %v, closed are %v", fit, to, ends, j.Closed)
		}
	})
}
