package history

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/runtime/history/change"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
	"hyperscale/runtime/report"
)

// A team's PostgreSQL answers what a file answers, whatever was kept, tagged and removed before.
func TestTeam(t *testing.T) {
	server := postgrestest.Start(t)
	server.Ask("shop", "create role load login", "grant create on database shop to load", "create role poor login")
	at := server.URL("load")
	// Tables of outputs have the same names, and stay as they are.
	server.Ask("shop", "create table hyperscale_run (job text)", "create table hyperscale_schema (version int)")
	team, file := openIn(t, at), openIn(t, filepath.Join(t.TempDir(), "h.db"))
	team.key = file.key // digests are keyed
	both := func(what string, ask func(s *Store) (any, error)) {
		t.Helper()
		want, wrong := ask(file)
		got, err := ask(team)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wrong == nil) {
			t.Errorf("%s: the database differs from the file (-file +database), errors %v and %v:\n%s", what, wrong, err, diff)
		}
	}
	keep := func(r *report.Result) {
		t.Helper()
		both("keep "+r.Job, func(s *Store) (any, error) { return s.Keep(r) })
	}
	for n := range 12 {
		keep(resultOf(n, uint64(1000+300*(n/6))))
	}
	keep(resultOf(12, 1000, saturated))
	keep(resultOf(13, 1000, ended("FAILED")))
	keep(resultOf(14, 1000, under("9 VUs, 1m0s"), given("--set", "key=marked-1")))
	keep(resultOf(15, 1<<62, func(r *report.Result) {
		r.Name, r.Run.Version = `o'brien "?".star`, "line\nbreak; $1 \\"
		r.Thresholds = append(r.Thresholds, r.Thresholds[0])
		r.Thresholds[0].OK = false
		r.Workflows[0].Steps = append(r.Workflows[0].Steps, r.Workflows[0].Steps[0])
		r.Workflows[0].Tags = map[string]string{"team": "€"}
	}))
	both("keep a job twice", func(s *Store) (any, error) { return s.Keep(resultOf(3, 5)) })
	for _, name := range []string{"", "checkout.star", "none.star"} {
		both("runs of "+name, func(s *Store) (any, error) { return s.Runs(name, 100) })
		both("the newest of "+name, func(s *Store) (any, error) { return s.Find(name, 0) })
	}
	both("places", func(s *Store) (any, error) { return s.Places("pay") })
	for _, m := range Metrics() {
		both("a series of "+m.Name, func(s *Store) (any, error) {
			all, err := s.Series(Query{Name: "checkout.star", Workflow: "w", Step: "pay", Metric: m.Name, Last: 50, Load: mustFind(t, s, 1).LoadDigest})
			if err != nil {
				return nil, err
			}
			return []any{all.Points, all.Others, all.Load, len(all.Shifts(change.Default()))}, nil
		})
	}
	for _, n := range []int{2, 12} {
		both("a result", func(s *Store) (any, error) { return s.Result(mustFind(t, s, n).Job) })
		both("the last good one", func(s *Store) (any, error) { return s.LastGood(mustFind(t, s, n)) })
		both("a tag", func(s *Store) (any, error) { return nil, s.Tag(mustFind(t, s, n), "v1") })
		both("a run with a tag", func(s *Store) (any, error) { return s.Tagged("checkout.star", "v1") })
	}
	for _, p := range []Pruning{
		{Keep: 3, DryRun: true}, {Before: begin.Add(2*time.Hour + time.Minute)}, {Name: "checkout.star", Keep: 4}, {Name: "none.star", Keep: 1},
	} {
		both(fmt.Sprintf("pruning %+v", p), func(s *Store) (any, error) { return s.Prune(p) })
		both("the rest", func(s *Store) (any, error) { return s.Runs("", 100) })
	}
	if left := strings.TrimSpace(server.Ask("shop", "select count(*) from hyperscale_history.result r left join hyperscale_history.run using (job) where name is null")); left != "0" {
		t.Errorf("%s steps of removed runs are left", left)
	}
	if got := strings.TrimSpace(server.Ask("shop", "select count(*) from hyperscale_run")); got != "0" {
		t.Errorf("the table of an output has %s rows of the history", got)
	}

	t.Run("commands at once", func(t *testing.T) { keepTogether(t, server) })
	t.Run("a name that is no UTF-8", func(t *testing.T) { keepAnyName(t, server) })
	t.Setenv("HISTORY_BAD", "not-this-one-1f3a")
	t.Setenv("HISTORY_GOOD", postgrestest.Password)
	if _, err := Open(server.URL("scram") + ",password_env=HISTORY_GOOD"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a user without rights: %v", err)
	}
	for place, want := range map[string]string{
		server.URL("scram") + ",password_env=HISTORY_BAD": "28P01",
		server.URL("scram"):                            "add password_file=FILE or password_env=VARIABLE",
		server.URL("poor"):                             "permission denied",
		server.URL("load") + ",window=5s":              "window is an option of outputs",
		"postgres://load@127.0.0.1:1/shop":             "refused",
		"postgres://127.0.0.1/shop":                    "write postgres://",
		"postgres://load:not-this-1f3a@127.0.0.1/s":    "use password_file=FILE",
		server.URL("load") + "?application_name=other": "use sslmode and sslrootcert",
	} {
		_, err := Open(place)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "1f3a") {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
	server.Ask("shop", "update hyperscale_history.schema set version = 99")
	if _, err := Open(at); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer schema: %v", err)
	}
}

// keepAnyName keeps and finds a run of a file whose name is any bytes.
func keepAnyName(t *testing.T, server *postgrestest.Server) {
	s := openIn(t, server.URL("load"))
	const name = "caf\xe9 \x00.star"
	if _, err := s.Keep(resultOf(900, 1000, func(r *report.Result) {
		r.Name, r.Workflows[0].Name, r.Workflows[0].Steps[0].Name, r.Thresholds[0].Expr = name, "w\xff", "p\xffy", "p\xffy.p99 < 1s"
	})); err != nil {
		t.Fatal(err)
	}
	const other = "caf\xe8 \x00.star"
	if _, err := s.Keep(resultOf(901, 1000, func(r *report.Result) { r.Name = other })); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{name: {"job-00900", "caf\ufffdE9 \ufffd00.star"}, other: {"job-00901", "caf\ufffdE8 \ufffd00.star"}} {
		run, err := s.Find(name, 0)
		if err != nil || run.Job != want[0] || run.Name != want[1] || run.Number != 1 {
			t.Errorf("found %+v, %v, want %q: names that differ are those of two files", run, err, want)
			continue
		}
		if again, err := s.Find(run.Name, 1); err != nil || again.Job != run.Job {
			t.Errorf("by the name that was read back %+v is found, %v", again, err)
		}
	}
	if gone, err := s.Prune(Pruning{Name: name}); err != nil || len(gone) != 1 {
		t.Errorf("pruned %d, %v", len(gone), err)
	}
}

// keepTogether keeps runs of one name by commands that open an empty database at once: none is lost, each has a number.
func keepTogether(t *testing.T, server *postgrestest.Server) {
	server.Ask("shop", "drop schema hyperscale_history cascade")
	const writers, each = 6, 4
	var all sync.WaitGroup
	faults := make(chan error, writers*each)
	for w := range writers {
		all.Go(func() {
			for n := range each {
				s, err := Open(server.URL("load"))
				if err == nil {
					_, err = s.Keep(resultOf(w*each+n, 1000))
					err = errors.Join(err, s.Close())
				}
				faults <- err
			}
		})
	}
	all.Wait()
	close(faults)
	for err := range faults {
		if err != nil {
			t.Error(err)
		}
	}
	runs, err := openIn(t, server.URL("load")).Runs("", 1000)
	seen := map[int]bool{}
	for _, r := range runs {
		seen[r.Number] = true
	}
	if err != nil || len(seen) != writers*each || len(runs) != writers*each {
		t.Errorf("%d numbers of %d runs: %v", len(seen), len(runs), err)
	}
}

func mustFind(t *testing.T, s *Store, n int) *Run {
	t.Helper()
	r, err := s.Find("checkout.star", n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
