package engine

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/hostile"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// Many virtual users meet one behaviour after the other on the connections that the last ones
// left. The count of each kind is exactly what the server did.
func TestMixOfHostileServers(t *testing.T) {
	t.Parallel()
	var entries []hostile.Entry
	for _, e := range hostile.All() {
		if e.Mixable() {
			entries = append(entries, e)
		}
	}
	t.Logf("%d entries", len(entries))
	for _, tt := range []struct {
		name   string
		kept   bool
		secure bool
	}{{"counted", false, false}, {"kept", true, false}, {"counted under TLS", false, true}, {"kept under TLS", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := hostile.StartMix(entries, tt.secure)
			if err != nil {
				t.Fatal(err)
			}
			// Each virtual user runs at least once, so that the test is not vacuous even on a
			// stalled machine.
			w := flow(get("a", s.URL()+"/"))
			if tt.kept {
				w.Steps = append(w.Steps, other("look", message.StepCheck, 0))
			}
			cfg := Config{Workflow: w, VUs: 32, Duration: 400 * time.Millisecond, Timeout: cataloguePatience}
			result := mixed(t, cfg)
			s.Close()
			a := &result.Stats.Steps[0]
			want, requests := map[string]uint64{}, uint64(0)
			for w, n := range s.Wants() {
				requests += uint64(n)
				switch w.Kind {
				case http1.KindNone:
					want["ok"] += uint64(n)
				case http1.KindStatus:
					want[measure.StatusKind(w.Status)] += uint64(n)
				default:
					want[string(w.Kind)] += uint64(n)
				}
			}
			got := kinds(*a)
			got["ok"] = a.OK
			if diff := cmp.Diff(want, got); diff != "" || requests == 0 || a.Started != requests || a.Started != a.OK+a.Failed {
				t.Errorf("started %d, ok %d, failed %d, the server saw %d (-want +got):\n%s%v", a.Started, a.OK, a.Failed, requests, diff, a.Errors)
			}
			t.Logf("%d requests", requests)
		})
	}
}

func mixed(t *testing.T, cfg Config) *message.ExecResult {
	t.Helper()
	g, err := newGraph(cfg)
	if err == nil {
		err = g.resolve(context.Background(), time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLoop(cfg, g)
	if err != nil {
		t.Fatal(err)
	}
	l.Handshakes.Tls.RootCAs = authority.Roots()
	look := func(*play) workflow.Outcome { return workflow.Outcome{OK: true} }
	l.functions.scripts = func(id uint64, c workflow.Client) script {
		return &play{id: id, client: c, calls: map[int]func(*play) workflow.Outcome{1: look}}
	}
	result, err := l.play(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return result
}
