package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// What functions begin, commit and roll back is what the server counts, and what they leave open is rolled
// back. Another request of the same user has a connection of its own meanwhile.
func (s *sqlServer) transacts(t *testing.T) {
	s.ask("create table kept (id int)")
	s.ask("create table other (id int)")
	for _, vus := range []uint64{1, 64} {
		n := 8 * vus
		before := s.count()
		steps, logs := s.steps(t, context.Background(), vus, fmt.Sprintf(`
db = sql.client("TARGET")

def visit(vu):
    tx = vu.sql.begin(db)
    got = tx.query("insert into kept values (MARK)", args = [vu.iteration])
    if got.error or tx.error:
        fail(got.error)
    way = vu.iteration %% 4
    vu.sql.query(db, "select count(*) as n from other", name = "beside")
    if way == 0:
        return tx.commit()
    if way == 1:
        return tx.rollback()
    if way == 2:
        tx.batch(["select 1", "select 2"], name = "two")
        tx.query("selec 1", name = "wrong")
        return tx.commit(name = "behind")
    return got

workflow(name = "test", vus = %d, iterations = %d, duration = "60s", steps = [step("visit", visit)])`, vus, n))
		after := s.count()
		done := func(name string) uint64 { return steps["visit/"+name].OK }
		commits, undone, behind := done("COMMIT"), done("ROLLBACK"), steps["visit/behind"]
		left := n - commits - undone - behind.Started
		failed := behind.Started
		if s.mysql {
			commits, failed = commits+behind.Started, 0 // a statement that fails fails alone
		} else {
			before.begun, before.committed = before.begun+n, before.committed+n // each statement beside is one
		}
		if kinds(behind)["server ROLLBACK"] != failed || done("BEGIN") != n || done("INSERT") != n || done("beside") != n || done("two") != behind.Started || left == 0 || behind.Started == 0 || steps["visit"].OK != n-failed {
			t.Errorf("%d users: %+v", vus, steps)
		}
		if is := (transacted{after.begun - before.begun, after.committed - before.committed, after.rolledBack - before.rolledBack}); is != (transacted{n, commits, undone + failed + left}) {
			t.Errorf("%d users: the server counts %+v of %d, want %d and %d", vus, is, n, commits, undone+failed+left)
		}
		if line := fmt.Sprintf("%d transactions were still open", left); !strings.Contains(logs, line) {
			t.Errorf("%d users: %s, want %q", vus, logs, line)
		}
		want := map[string]uint64{"visit/COMMIT": done("COMMIT"), "visit/ROLLBACK": undone, "visit/behind": behind.Started}
		require.Equal(t, want, transactionTimes(steps), "%d users", vus)
		if rows := s.ask("select count(*) from kept"); rows != fmt.Sprint(commits) {
			t.Errorf("%d users: %s rows are kept, want %d", vus, rows, commits)
		}
		s.ask("delete from kept")
	}
}

// transactionTimes counts the transactions that each name has times of.
func transactionTimes(steps map[string]message.StepStats) map[string]uint64 {
	all := map[string]uint64{}
	for name, got := range steps {
		if m, has := measured(got)[plan.MeasureTransactionTime]; has {
			all[name] = m.Times.Count
		}
	}
	return all
}

// A transaction takes from its BEGIN to its end, whatever the function does between: what it sleeps counts, also
// before the run's clock starts, as users of a rate are prepared.
func (s *sqlServer) timesTransactions(t *testing.T) {
	const slept, before = 40 * time.Millisecond, 400 * time.Millisecond
	began := time.Now()
	w := loadFile(t, s.url("app"), fmt.Sprintf(`
db = sql.client("TARGET", connections = 2)
own = sql.client("TARGET")

def begin(vu):
    vu.vars["tx"] = vu.sql.begin(own)
    vu.sleep("%v")

def end(vu):
    return vu.vars["tx"].commit(name = "early")

def pay(vu):
    tx = vu.sql.begin(db)
    tx.query("select 1")
    vu.sleep("%v")
    return tx.commit()

workflow(name = "test", vus = 1, duration = "1s", vu_setup = begin, steps = [step("end", end), step("pay", pay)])`, before, slept))
	w.Plan.Rate = 2_000 // one iteration in half a second
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: 500 * time.Millisecond, Timeout: 30 * time.Second})
	took, steps := uint64(time.Since(began)), map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		steps[got.Name] = got
	}
	require.Equal(t, map[string]uint64{"end/early": 1, "pay/COMMIT": 1}, transactionTimes(steps))
	early, pay := measured(steps["end/early"])[plan.MeasureTransactionTime].Times, measured(steps["pay/COMMIT"])[plan.MeasureTransactionTime].Times
	require.GreaterOrEqual(t, early.Min, uint64(before))
	require.GreaterOrEqual(t, pay.Min, uint64(slept))
	require.Less(t, early.Max+pay.Max, took) // one follows the other
}

// A transaction that its server ends is over for its function: nothing of it is sent on another connection,
// and nothing counts that is not sent.
func (s *sqlServer) endsTransactions(t *testing.T) {
	s.ask("create table ends (id int primary key)")
	s.ask("insert into ends values (1), (2)")
	kill, sleep := "select pg_terminate_backend(MARK)", "select pg_sleep(2)"
	me := "select pg_backend_pid() as id, current_setting('transaction_isolation') as level"
	if s.mysql {
		kill, sleep = "kill connection ?", "select sleep(2)"
		me = "select connection_id() as id, 'serializable' as level"
	}
	before := s.count()
	steps, _ := s.steps(t, context.Background(), 1, fmt.Sprintf(`
db = sql.client("TARGET")

def same(vu):
    tx = vu.sql.begin(db, isolation = "serializable", timeout = "20s", name = "same")
    first = tx.query(%[1]q).json()[0]
    if first["level"] != "serializable":
        fail(first["level"])
    for _ in range(3):
        vu.sql.query(db, "select 1")
        if tx.query(%[1]q).json()[0] != first:
            fail("another connection")
    got = tx.commit()
    if vu.sql.query(db, %[1]q).json()[0]["id"] != first["id"]:
        fail("the connection is not the user's again")
    return got

def lost(vu):
    tx = vu.sql.begin(db, name = "begin lost")
    id = tx.query(%[1]q, name = "id").json()[0]["id"]
    tx.query("insert into ends values (3)", name = "insert lost")
    vu.sql.query(db, %[2]q, args = [id], name = "kill")
    vu.sleep("200ms")
    got = tx.query("select 1", name = "lost")
    if not got.error:
        fail("it goes on")
    again = tx.query("select 1", name = "never")
    if "the transaction is over" not in again.error or tx.commit(name = "never").error != again.error:
        fail(again.error)
    return got

def late(vu):
    tx = vu.sql.begin(db, name = "begin late")
    tx.query("delete from ends", name = "delete")
    got = tx.query(%[3]q, timeout = "100ms", name = "late")
    if "the transaction is over" not in tx.commit(name = "never").error:
        fail("it goes on")
    return got

def own(vu):
    tx = vu.sql.begin(db, name = "begin own")
    tx.query("commit", name = "own")
    return tx.commit(name = "never")

def twice(vu):
    tx = vu.sql.begin(db, name = "begin twice")
    tx.rollback(name = "back")
    return tx.query("select 1", name = "never")

workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [
	step("same", same), step("lost", lost), step("late", late), step("own", own), step("twice", twice),
])`, me, kill, sleep))
	for name, want := range map[string]string{"same": "", "same/same": "", "lost": "closed", "lost/lost": "closed", "late": "timeout", "late/late": "timeout", "own": "transaction is over", "twice": "transaction is over", "own/own": ""} {
		got := steps[name]
		if want == "" && got.OK == 0 || want != "" && (got.OK > 0 || !strings.Contains(fmt.Sprint(got.Errors), want)) {
			t.Errorf("%s: ok %d of %d: %v, want %q", name, got.OK, got.Started, got.Errors, want)
		}
	}
	for name, got := range steps {
		if strings.HasSuffix(name, "never") {
			t.Errorf("%s counts %d that are not sent", name, got.Started)
		}
	}
	require.Equal(t, map[string]uint64{"same/COMMIT": 2, "own/own": 2, "twice/back": 2}, transactionTimes(steps))
	after := s.count()
	if is := after.committed - before.committed; s.mysql && is != 4 { // of same and own
		t.Errorf("the server counts %d commits", is)
	}
	if rows := s.ask("select count(*) from ends"); rows != "2" {
		t.Errorf("%s rows are left", rows)
	}
}

// However a run ends, each transaction that was begun has ended, and those that count as committed are.
func (s *sqlServer) stopsTransactions(t *testing.T) {
	s.ask("create table stops (id int)")
	for _, vus := range []uint64{1, 64} {
		before := s.count()
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan uint64, 1)
		go func() {
			defer cancel()
			asks := uint64(1)
			for until := time.Now().Add(20 * time.Second); time.Now().Before(until) && s.ask("select case when count(*) > 20 then 'many' end from stops") != "many"; asks++ {
			}
			asked <- asks
		}()
		steps, logs := s.steps(t, ctx, vus, fmt.Sprintf(`
db = sql.client("TARGET")

def visit(vu):
    tx = vu.sql.begin(db)
    tx.query("insert into stops values (MARK)", args = [vu.iteration])
    vu.sleep("2ms")
    return tx.commit()

workflow(name = "test", vus = %d, iterations = 1000000, duration = "60s", steps = [step("visit", visit)])`, vus))
		asks := <-asked
		after := s.count()
		if !s.mysql {
			before.begun, before.committed = before.begun+asks, before.committed+asks
		}
		begin, commit := steps["visit/BEGIN"], steps["visit/COMMIT"]
		begun, committed := after.begun-before.begun, after.committed-before.committed
		rows := s.ask("select count(*) from stops")
		if begun != begin.Sent || committed < commit.OK || committed > commit.Sent || commit.Failed+begin.Failed > 0 || commit.OK == 0 || rows != fmt.Sprint(committed) {
			t.Errorf("%d users: begun %d of %d, committed %d of %d to %d, %s rows: %v; %s", vus, begun, begin.Sent, committed, commit.OK, commit.Sent, rows, commit.Errors, logs)
		}
		require.Equal(t, map[string]uint64{"visit/COMMIT": commit.OK}, transactionTimes(steps), "%d users", vus)
		s.ask("delete from stops")
	}
}

// An error that expect asks for by its code is a good answer, and any other one is not.
func (s *sqlServer) judgesCodes(t *testing.T) {
	s.ask("create table codes (id int primary key)")
	s.ask("insert into codes values (1)")
	duplicate, other := "23505", "42601"
	if s.mysql {
		duplicate, other = "1062", "1064"
	}
	steps, _ := s.steps(t, context.Background(), 1, fmt.Sprintf(`
db = sql.client("TARGET")
again = sql.query(db, "insert into codes values (MARK)", args = [1])

def visit(vu):
    got = vu.sql.query(db, "insert into codes values (1)", name = "function", expect = [code("%[1]s")])
    if got.code != "%[1]s" or got.error:
        fail("code %%s, %%s" %% (got.code, got.error))
    return vu.sql.query(db, "select 1", name = "fine", expect = [code("OK")])

workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [
	step("same", again, expect = [code("%[1]s", "%[2]s")]),
	step("other", again, expect = [code("%[2]s")]),
	step("none", again),
	step("good", sql.query(db, "select 1"), expect = [code("%[1]s")]),
	step("visit", visit),
])`, duplicate, other))
	for name, want := range map[string]string{"same": "", "other": "code " + duplicate + ", not " + other, "none": "server " + duplicate, "good": "code OK, not " + duplicate, "visit": "", "visit/function": "", "visit/fine": ""} {
		got := steps[name]
		if want == "" && got.OK != 2 || want != "" && (got.Failed != 2 || !strings.Contains(fmt.Sprint(got.Errors), want)) {
			t.Errorf("%s: ok %d of %d: %v, want %q", name, got.OK, got.Started, got.Errors, want)
		}
	}
}
