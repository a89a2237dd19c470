package engine

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/workflow/request"
)

// TestFunctionsGetWhatTheyRead requests heads and bodies over both protocols, in a program that
// reads them and in one that does not. In the latter the engine collects only redirects, and
// drops their bodies.
func TestFunctionsGetWhatTheyRead(t *testing.T) {
	s := serve(t, nil)
	for _, version := range []string{request.Version11, request.Version2} {
		for check, keeps := range map[string]bool{
			`len(get.text()) > 0 and get.headers.get("content-type") != None`: true,
			`get.status == 200`: false,
		} {
			w := loadFile(t, s.URL(), `
def get(vu):
    return vu.http.get("TARGET/", redirects = 2)

workflow(name = "test", vus = 2, duration = "1s", steps = [step(get), check("c", lambda vu, get: `+check+`, after = ["get"])])
`)
			w.HTTP.Version, w.Plan.Iterations = version, 10
			cfg := Config{Workflow: w, VUs: 2, Seed: 1, Timeout: cataloguePatience}
			g, err := newGraph(cfg)
			if err == nil {
				err = g.resolve(t.Context(), DurationMax)
			}
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLoop(cfg, g)
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.play(t.Context())
			if err != nil || r.State != message.WorkflowCompleted || r.Stats.Steps[1].OK != 10 {
				t.Fatalf("%s, %s: %v, %+v", version, check, err, r)
			}
			kept := 0
			for _, c := range l.requests.collectors {
				kept += cap(c.Body)
			}
			if len(l.requests.collectors) == 0 || (kept > 0) != keeps {
				t.Errorf("%s, %s: %d collectors with room for %d bytes of bodies", version, check, len(l.requests.collectors), kept)
			}
		}
	}
}
