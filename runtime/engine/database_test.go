package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/hostile/mysql/mysqltest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// sqlServer is a database server, of which tests ask alike.
type sqlServer struct {
	url   func(user string) string
	mark  string // what stands for a value
	count func() transacted
	ask   func(statement string) string
	mysql bool
}

// transacted is how transactions ended, as the server counts.
type transacted struct{ begun, committed, rolledBack uint64 }

func ofPostgres(s *postgrestest.Server) *sqlServer {
	return &sqlServer{url: s.URL, mark: "$1", ask: func(text string) string { return s.Ask("shop", text) }, count: func() transacted {
		c := s.Count()
		return transacted{c.Transactions, c.Committed, c.RolledBack}
	}}
}

func ofMySQL(s *mysqltest.Server) *sqlServer {
	return &sqlServer{url: s.URL, mark: "?", mysql: true, ask: func(text string) string { return s.Ask("use shop", text) }, count: func() transacted {
		c := s.Count()
		return transacted{c.Begun, c.Committed, c.RolledBack}
	}}
}

// steps runs a workflow whose mark stands for a value of a statement.
func (s *sqlServer) steps(t *testing.T, ctx context.Context, vus uint64, text string) (map[string]message.StepStats, string) {
	t.Helper()
	w := loadFile(t, s.url("app"), strings.ReplaceAll(text, "MARK", s.mark))
	r := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second})
	steps := map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		if got.Started != got.OK+got.Failed+got.TimedOut+got.Cancelled {
			t.Errorf("%s: %d of %d ended", got.Name, got.OK+got.Failed+got.TimedOut+got.Cancelled, got.Started)
		}
		steps[got.Name] = got
	}
	return steps, fmt.Sprint(r.Stats.Logs)
}

// user is one that a server admits by a password, or fails with a kind.
type sqlUser struct{ name, password, kind string }

// admits begins connections of users. Passwords are proved as the server asks, and stand in no result.
func (s *sqlServer) admits(t *testing.T, all []sqlUser) {
	for _, u := range all {
		client := ""
		if u.password != "" {
			client = `, password = secret("of_user")`
		}
		text := fmt.Sprintf(`db = sql.client("%s"%s)
workflow(name = "test", vus = 2, iterations = 4, duration = "60s", steps = [step("ask", sql.query(db, "select 1"))])`, s.url(u.name), client)
		p, err := workflow.Load(message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Reveal([]message.Secret{{Name: "of_user", Value: message.Sealed(u.password)}}); err != nil && u.password != "" {
			t.Fatal(err)
		}
		got := run(t, context.Background(), Config{Workflow: p.Workflow("test"), VUs: 2, Duration: time.Minute}).Stats.Steps[0]
		want := map[string]uint64{}
		if u.kind != "" {
			want[u.kind] = 4
		}
		if fmt.Sprint(kinds(got)) != fmt.Sprint(want) || got.OK != 4-want[u.kind] {
			t.Errorf("%s with %q: ok %d, %v, want %v", u.name, u.password, got.OK, got.Errors, want)
		}
		if u.password != "" && strings.Contains(fmt.Sprint(got), u.password) {
			t.Errorf("the result has the password in it: %v", got.Errors)
		}
	}
}

// example runs a file of the examples as it is.
func (s *sqlServer) example(t *testing.T, name string) {
	text, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := workflow.Load(message.Program{Main: name, Files: []message.File{{Name: name, Data: text}}, Params: []message.Param{{Name: "target", Value: s.url("app")}}})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, context.Background(), Config{Workflow: p.Workflow("shop"), VUs: 5, Duration: 300 * time.Millisecond})
	for _, got := range r.Stats.Steps {
		if got.OK == 0 || got.Failed+got.TimedOut > 0 {
			t.Errorf("%s: ok %d of %d: %v", got.Name, got.OK, got.Started, got.Errors)
		}
	}
}

// loadSQL loads a workflow of one step.
func loadSQL(t *testing.T, url string, vus, iterations uint64, client, ask string) *workflow.Workflow {
	return loadFile(t, url, fmt.Sprintf("db = sql.client(\"TARGET\"%s)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", sql.%s)])", client, iterations, vus, ask))
}

// hostileSQL is an entry of a catalogue of database servers. The first step meets the behaviour, the second one
// gets a right answer, and then the first step's next operation proves that: it stays without an answer until
// the run is cancelled.
type hostileSQL struct {
	client      string // what sql.client takes
	ask         [2]string
	size        int // of the text that key is
	pause       time.Duration
	once, late  bool
	kind        string // of the first step's failure; empty: it is well
	body, next  string // of the answers
	password    string
	proved      <-chan struct{}
	first, then message.StepStats // as they ended
	deadline    time.Duration
	by          askedBy
}

// step is one of the two.
func (h *hostileSQL) step(name string, ask string, timeout time.Duration, body string) string {
	of := fmt.Sprintf(`db, %s, timeout = "%dms"`, ask, timeout.Milliseconds())
	switch {
	case h.by == askedFunction:
		return fmt.Sprintf("step(%q, lambda vu: vu.sql.query(%s)),", name, of)
	case h.by == askedKept && body != "":
		return fmt.Sprintf("step(%q, sql.query(%s), expect = [body_contains(%q)]),", name, of, clipped(strings.ToValidUTF8(body, "")))
	}
	return fmt.Sprintf("step(%q, sql.query(%s)),", name, of)
}

// play returns what went wrong.
func (h *hostileSQL) play(t *testing.T) error {
	timeout, iterations := 30*time.Second, ""
	if h.late {
		timeout = h.deadline
	}
	if h.once {
		iterations = "iterations = 1, "
	}
	w := loadFile(t, "", fmt.Sprintf(`
db = sql.client(%s)
key = "k" * %d
workflow(name = "test", vus = 1, %sduration = "60s", steps = [
	%s
	step("pause", lambda vu: vu.sleep("%dms")),
	%s
])`, h.client, max(h.size, 1), iterations, h.step("a", h.ask[0], timeout, h.body), max(1, h.pause.Milliseconds()), h.step("b", h.ask[1], 30*time.Second, h.next)))
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	proved := make(chan bool, 1)
	go func() {
		select {
		case <-h.proved:
			proved <- true
		case <-ctx.Done():
			proved <- false
		}
		cancel()
	}()
	r := run(t, ctx, Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: timeout})
	cancel()
	h.first, h.then = r.Stats.Steps[0], r.Stats.Steps[2]
	got, b, bad := h.first, h.then, h.first.Failed+h.first.TimedOut
	switch {
	case got.Started != got.OK+bad+got.Cancelled:
		return fmt.Errorf("ok %d, failed %d, timed out %d, cancelled %d of %d", got.OK, got.Failed, got.TimedOut, got.Cancelled, got.Started)
	case h.kind == "" && (got.OK != 1 || bad > 0), h.kind != "" && (got.OK > 0 || kinds(got)[h.kind] < 1 || bad > 1 && !h.late || (got.TimedOut > 0) != h.late):
		return fmt.Errorf("ok %d, failed %d, timed out %d: %v, want %q", got.OK, got.Failed, got.TimedOut, got.Errors, h.kind)
	case strings.Contains(fmt.Sprint(r.Stats), h.password):
		return errors.New("the result has the password in it")
	case h.once:
		return nil
	case !<-proved:
		return errors.New("no next operation was right")
	case b.OK < 1 || b.OK > 1 && !h.late || b.Failed+b.TimedOut > 0:
		return fmt.Errorf("the next operation: ok %d of %d: %v", b.OK, b.Started, b.Errors)
	}
	return nil
}

// playEach plays entries by all ways at once. A busy machine needs longer for those that are late or pause: one
// right outcome is enough.
func playEach(t *testing.T, entries int, named func(int) (name string, again bool), play func(at int, by askedBy, deadline time.Duration) error) {
	faults := make([]error, int(askedWays)*entries)
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range faults {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			at, by := i/int(askedWays), askedBy(i%int(askedWays))
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				faults[i] = play(at, by, deadline)
				if _, again := named(at); faults[i] == nil || !again {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			name, _ := named(i / int(askedWays))
			t.Errorf("%s, path %d: %v", name, i%int(askedWays), err)
		}
	}
}
