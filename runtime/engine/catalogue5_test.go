package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	hostile "hyperscale/runtime/protocol/hostile/grpc"
)

// callHostile plays an entry of the catalogue of gRPC servers, and returns what went wrong: the first
// call meets the behaviour, and the next one gets its own answer.
func callHostile(t *testing.T, e *hostile.Entry, by askedBy, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	timeout := 30 * time.Second
	if e.Want.Late() {
		timeout = deadline
	}
	compression := ""
	if e.Gzip {
		compression = ", compression = True"
	}
	call := func(name string, size int, timeout time.Duration, want string) string {
		of := fmt.Sprintf(`any, %q, {"text": "x" * %d}, timeout = "%dms"`, hostile.Method, max(1, size), timeout.Milliseconds())
		switch by {
		case askedSession:
			return fmt.Sprintf("def %[1]s(vu):\n    s = vu.grpc.open(any, %[2]q, timeout = \"%[4]dms\")\n    s.send({\"text\": \"x\" * %[3]d})\n    s.close_send()\n    m = s.receive(timeout = \"40s\")\n    got = s.close()\n    if got.code == \"OK\":\n        vu.log(\"%[1]s \" + m.json().get(\"text\", \"\"))\n    return got\n", name, hostile.Method, max(1, size), timeout.Milliseconds())
		case askedFunction:
			return fmt.Sprintf("def %[1]s(vu):\n    got = vu.grpc.call(%[2]s)\n    if got.code == \"OK\":\n        vu.log(\"%[1]s \" + got.json().get(\"text\", \"\"))\n    return got\n", name, of)
		case askedKept:
			return fmt.Sprintf("%s = step(%q, grpc.call(%s), extract = {%q: json_path(\"$\")}%s)\n", name, name, of, name, want)
		}
		return fmt.Sprintf("%s = step(%q, grpc.call(%s))\n", name, name, of)
	}
	steps := "a, pause, b"
	if by >= askedFunction {
		steps = "step(a), pause, step(b)"
	}
	if e.Once {
		steps = steps[:strings.Index(steps, ", pause")]
	}
	text := fmt.Sprintf("any = grpc.client(%q, schema = grpc.proto(\"any.proto\")%s)\n", s.URL(), compression) +
		call("a", e.Size, timeout, "") + call("b", 0, 30*time.Second, fmt.Sprintf(", expect = [json_is(\"$.text\", %q)]", hostile.Next)) +
		"pause = step(\"pause\", lambda vu: vu.sleep(\"20ms\"))\n" +
		fmt.Sprintf("workflow(name = \"test\", vus = 1, iterations = 1, duration = \"60s\", steps = [%s])\n", steps)
	schema := hostile.Proto
	if by == askedSession { // its answer is one message, as that of a call
		schema = strings.Replace(schema, "Call(Text)", "Call(stream Text)", 1)
	}
	p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}, {Name: "any.proto", Data: []byte(schema)}}})
	if err != nil {
		return err
	}
	r := run(t, context.Background(), Config{Workflow: p.Workflow("test"), VUs: 1, Duration: time.Minute, Timeout: timeout})
	got, kind := r.Stats.Steps[0], string(e.Want.Of(by != askedCounted))
	bad := got.Failed + got.TimedOut
	switch {
	case got.Started != 1 || got.OK+bad != 1:
		return fmt.Errorf("ok %d, failed %d, timed out %d of %d", got.OK, got.Failed, got.TimedOut, got.Started)
	case kind == "" && bad > 0, kind != "" && kinds(got)[kind] != 1, (got.TimedOut > 0) != e.Want.Late():
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, kind)
	case e.Once:
		return nil
	}
	for _, b := range r.Stats.Steps[1:] {
		if b.Name == "b" && b.OK != 1 {
			return fmt.Errorf("the next call: ok %d: %v", b.OK, b.Errors)
		}
	}
	if by >= askedFunction && !strings.Contains(fmt.Sprint(r.Stats.Logs), "b "+hostile.Next) {
		return fmt.Errorf("the next call got %q", r.Stats.Logs)
	}
	return nil
}

// askedSession asks by a session of a function.
const askedSession = askedWays

// Every behaviour of the catalogue of gRPC servers, whether answers are counted, read by a step, read by a
// function, or received by a session.
func TestCatalogueOfGRPC(t *testing.T) {
	t.Parallel()
	all := hostile.All()
	const ways = int(askedSession) + 1
	faults := make([]error, ways*len(all))
	slots := make(chan struct{}, 16)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, by := &all[i/ways], askedBy(i%ways)
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = callHostile(t, e, by, deadline); faults[i] == nil || !e.Want.Late() {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s, path %d: %v", all[i/ways].Name, i%ways, err)
		}
	}
}
