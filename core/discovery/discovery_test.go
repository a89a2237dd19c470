package discovery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// seeker is a role that opens a stream to each new candidate, and closes it with the candidate.
type seeker struct {
	names *discovery.Names
	open  map[node.Addr]node.StreamID
}

func (s *seeker) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		s.names.Start(env)
	case node.InputTimer:
		s.names.Fire(env, in.Timer)
	case node.InputNames:
		c := s.names.Take(env, in.Names)
		for _, a := range c.Added {
			s.open[a] = env.Open(a)
		}
		for _, a := range c.Removed {
			env.Close(s.open[a])
			delete(s.open, a)
		}
	}
}

func newSeeker(names ...node.Addr) *seeker {
	c := discovery.Default()
	c.Group, c.Names = 7, names
	return &seeker{names: discovery.New(c), open: map[node.Addr]node.StreamID{}}
}

func world(seed uint64, s *seeker) *nodetest.Env {
	return nodetest.New(nodetest.Config{Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"}, Seed: seed, New: func() node.Machine { return s }})
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		w := world(1, newSeeker("dns:m:7500", "srv:_m._tcp.x"))
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Run(t, d) })
	})
}

// twin computes the candidates of a history of answers from its start.
type twin map[node.Addr][]node.Addr

func (w twin) candidates(names []node.Addr) (all []node.Addr) {
	for _, n := range names {
		for _, a := range w[n] {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// For any outcomes of any names, the candidates are those of the model, each has one stream, a name
// never has more than its bound, and a failure takes none away. Each name is asked again within the
// bounds, for ever.
func TestCandidatesAreTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []node.Addr{"dns:a:1", "dns:b:1", "srv:c"}
		s := newSeeker(names...)
		w := world(rapid.Uint64().Draw(t, "seed"), s)
		asked := map[node.Addr]int{}
		w.Start()
		count := func() {
			for _, l := range strings.Split(w.Take(), "\n") {
				if n, ok := strings.CutPrefix(l, "resolve "); ok {
					asked[node.Addr(n)]++
				}
			}
		}
		model := twin{}
		t.Repeat(map[string]func(*rapid.T){
			"answer": func(t *rapid.T) {
				n := rapid.SampledFrom(names).Draw(t, "name")
				var addrs []node.Addr
				first, length := rapid.IntRange(0, 9).Draw(t, "first"), rapid.SampledFrom([]int{1, 2, 3, discovery.CandidatesMax, 2 * discovery.CandidatesMax}).Draw(t, "addrs")
				for i := range length {
					addrs = append(addrs, node.Addr(fmt.Sprintf("10.0.0.%d:1", first+i)), node.Addr(fmt.Sprintf("10.0.0.%d:1", first+i/2)))
				}
				w.Names(node.Names{Name: n, Addrs: addrs, TTL: time.Duration(rapid.IntRange(0, 1000).Draw(t, "ttl")) * time.Second})
				model[n] = nil
				for _, a := range addrs {
					if !slices.Contains(model[n], a) && len(model[n]) < discovery.CandidatesMax {
						model[n] = append(model[n], a)
					}
				}
			},
			"nothing": func(t *rapid.T) {
				n := rapid.SampledFrom(append(names, "dns:stranger:1")).Draw(t, "name")
				w.Names(node.Names{Name: n, Absent: rapid.Bool().Draw(t, "absent"), Err: "late"})
			},
			"wait": func(t *rapid.T) {
				count()
				before := fmt.Sprint(asked)
				w.Advance(discovery.Default().TTLMax)
				count()
				for _, n := range names {
					if asked[n] == 0 {
						t.Fatalf("%s was never asked", n)
					}
				}
				if before == fmt.Sprint(asked) {
					t.Fatalf("within the longest wait no name was asked again: %v", asked)
				}
			},
			"": func(t *rapid.T) {
				want := model.candidates(names)
				if got := s.names.Candidates(); !slices.Equal(got, want) {
					t.Fatalf("candidates %v, want %v", got, want)
				}
				if len(s.open) != len(want) || len(w.Opening()) != len(want) {
					t.Fatalf("%d streams to %d candidates", len(s.open), len(want))
				}
			},
		})
	})
}

// nextAsk returns how long after an outcome a node asks again.
func nextAsk(t *testing.T, seed uint64, outcomes ...node.Names) time.Duration {
	w := world(seed, newSeeker("dns:m:1"))
	w.Start()
	for _, n := range outcomes {
		w.Names(n)
	}
	w.Take()
	for waited := time.Duration(0); waited <= 10*time.Minute; waited += 50 * time.Millisecond {
		if strings.Contains(w.Take(), "resolve") {
			return waited
		}
		w.Advance(50 * time.Millisecond)
	}
	t.Fatalf("after %v no node asks again", outcomes)
	return 0
}

// The wait follows from the outcome, within its bounds; nodes draw it, so that they do not ask
// together.
func TestWhenANameIsAskedAgain(t *testing.T) {
	found := func(ttl time.Duration) node.Names {
		return node.Names{Name: "dns:m:1", Addrs: []node.Addr{"a:1"}, TTL: ttl}
	}
	absent, late := node.Names{Name: "dns:m:1", Absent: true}, node.Names{Name: "dns:m:1", Err: "late"}
	for _, c := range []struct {
		what     string
		outcomes []node.Names
		bound    time.Duration
	}{
		{"a TTL within the bounds", []node.Names{found(time.Minute)}, time.Minute},
		{"a TTL that is too short", []node.Names{found(time.Nanosecond)}, 5 * time.Second},
		{"a TTL that is too long", []node.Names{found(24 * time.Hour)}, 5 * time.Minute},
		{"no TTL", []node.Names{found(0)}, 30 * time.Second},
		{"no such name", []node.Names{absent}, 30 * time.Second},
		{"no such name any more", []node.Names{found(time.Minute), absent}, 30 * time.Second},
		{"the first failure", []node.Names{late}, time.Second},
		{"the third failure", []node.Names{late, late, late}, 4 * time.Second},
		{"the ninth failure", []node.Names{late, late, late, late, late, late, late, late, late}, 15 * time.Second},
		{"a failure after an answer", []node.Names{late, late, late, found(time.Minute), late}, time.Second},
		{"no outcome", nil, 10 * time.Second},
	} {
		drawn := map[time.Duration]bool{}
		for seed := range uint64(20) {
			got := nextAsk(t, seed, c.outcomes...)
			drawn[got] = true
			if least := c.bound / 2; got < least || got > c.bound+100*time.Millisecond {
				t.Errorf("%s: asks again after %v, want %v to %v", c.what, got, least, c.bound)
			}
		}
		if len(drawn) < 3 && len(c.outcomes) > 0 {
			t.Errorf("%s: 20 nodes ask again after %d waits", c.what, len(drawn))
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"dns:managers.example.org:7500", "dns:managers.example.org:7500"},
		{"dns:managers", "dns:managers:7400"},
		{"dns:managers.example.org.", "dns:managers.example.org.:7400"},
		{"srv:_manager._tcp.example.org", "srv:_manager._tcp.example.org"},
		{"dns:", "must be dns:HOST"}, {"dns::7500", "must be dns:HOST"}, {"dns:a b", "must be dns:HOST"}, {"dns:a..b", "must be dns:HOST"},
		{"dns:m:0", "port from 1 to 65535"}, {"dns:m:70000", "port from 1 to 65535"}, {"dns:m:", "port from 1 to 65535"}, {"dns:m:1:2", "port from 1 to 65535"},
		{"srv:", "must be srv:NAME"}, {"srv:a:7500", "must be srv:NAME"}, {"srv:" + strings.Repeat("a", 254), "must be srv:NAME"},
		{"managers:7500", "must be dns:HOST"},
	} {
		n, err := discovery.Parse(c.in, "7400")
		got := string(n.Addr())
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
		if again, err := discovery.Parse(got, "1"); strings.HasPrefix(c.want, "dns:") && (err != nil || again != n) {
			t.Errorf("%q, read again: %v %v", got, again, err)
		}
	}
}
