package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
)

// sharedConnections is how many the users of these tests share.
const sharedConnections = 8

// acceptedBy counts the connections that a server of Redis has accepted since CONFIG RESETSTAT.
func acceptedBy(t *testing.T, s *redistest.Server) uint64 {
	t.Helper()
	_, rest, _ := strings.Cut(s.Ask("INFO", "stats"), "total_connections_received:")
	n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// longest returns how long the slowest request was in a phase.
func longest(got message.StepStats, of message.Phase) time.Duration {
	return time.Duration(phaseOf(got, of).Max)
}

// Users that share connections send what the server counts, over as many as their client says. A request
// that waits is blocked, and waits out no timeout.
func TestUsersShareConnectionsToRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Secure(t)
	s.Ask("SET", "there", "x")
	for _, vus := range []uint64{1, 64, 500} {
		for _, client := range []string{`"` + s.URL() + `"`, `"` + s.SecureURL() + `", protocol = 3`} {
			s.Ask("CONFIG", "RESETSTAT")
			n := 4 * vus
			w := loadFile(t, "", fmt.Sprintf("r = redis.client(%s, connections = %d)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", %s, steps = [step(\"ask\", redis.command(r, \"GET\", \"there\"))])", client, sharedConnections, n, vus, anyTLS))
			got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
			if sent, called := measured(got)[plan.MeasureCommands].Count, s.Settled(); got.OK != n || got.Sent != n || sent != n || called != n {
				t.Errorf("%d users, %s: ok %d of %d, sent %d, the server called %d: %v", vus, client, got.OK, got.Started, sent, called, got.Errors)
			}
			if is := acceptedBy(t, s); is > sharedConnections || is != min(vus, sharedConnections) {
				t.Errorf("%d users, %s: the server took %d connections", vus, client, is)
			}
			if vus > sharedConnections && longest(got, message.PhaseBlocked) == 0 {
				t.Errorf("%d users: nothing waited for a connection: %+v", vus, got.Phases)
			}
		}
	}
}

// However a run ends that shares connections, the server counts what was sent: a request that waits is not.
func TestSharedConnectionsBreak(t *testing.T) {
	t.Parallel()
	const users = 64
	load := func(s *redistest.Server, most int) Config {
		s.Ask("CONFIG", "RESETSTAT")
		w := loadFile(t, s.URL(), fmt.Sprintf("r = redis.client(\"TARGET\", connections = %d)\nworkflow(name = \"test\", vus = %d, duration = \"60s\", steps = [step(\"ask\", redis.command(r, \"INCR\", \"n\"))])", most, users))
		return Config{Workflow: w, VUs: users, Duration: time.Minute}
	}
	t.Run("cancelled", func(t *testing.T) {
		s := redistest.Start(t)
		c := load(s, sharedConnections)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			for s.Called() < 2000 {
				time.Sleep(time.Millisecond)
			}
		}()
		got := run(t, ctx, c).Stats.Steps[0]
		<-ctx.Done()
		if called := s.Settled(); got.Sent != called || got.Failed+got.TimedOut > 0 {
			t.Errorf("sent %d, the server called %d: %v", got.Sent, called, got.Errors)
		}
	})
	t.Run("timed out", func(t *testing.T) {
		s := redistest.Start(t)
		c := load(s, 2)
		c.Timeout = 50 * time.Millisecond
		s.Ask("CLIENT", "PAUSE", "400", "ALL")
		ctx, cancel := context.WithTimeout(context.Background(), 900*time.Millisecond)
		defer cancel()
		got := run(t, ctx, c).Stats.Steps[0]
		// Two at a time go out, and time out: the others wait longer than a timeout, and end well.
		if sent, called := got.Sent, s.Settled(); sent < called || got.TimedOut < 2 || got.TimedOut > 2*10 || got.OK == 0 || sent-called > got.TimedOut || longest(got, message.PhaseBlocked) < 100*time.Millisecond {
			t.Errorf("sent %d, the server called %d; %d ok, %d timed out: %+v", sent, called, got.OK, got.TimedOut, got.Phases)
		}
	})
	t.Run("killed", func(t *testing.T) {
		s := redistest.Start(t)
		c := load(s, sharedConnections)
		ctx, cancel := context.WithCancel(context.Background())
		killed := uint64(0)
		go func() {
			defer cancel()
			for range 20 {
				for s.Called() == 0 {
					time.Sleep(time.Millisecond)
				}
				n, _ := strconv.ParseUint(strings.TrimPrefix(s.Ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), ":"), 10, 64)
				killed += n
				time.Sleep(5 * time.Millisecond)
			}
		}()
		got := run(t, ctx, c).Stats.Steps[0]
		<-ctx.Done()
		if called := s.Settled(); got.Sent < called || got.Sent-called > got.Failed || got.Failed > killed || got.Failed == 0 || got.TimedOut > 0 || got.OK == 0 {
			t.Errorf("sent %d, the server called %d; %d failed of %d killed: %v", got.Sent, called, got.Failed, killed, got.Errors)
		}
	})
	t.Run("nothing listens", func(t *testing.T) {
		w := loadFile(t, "", fmt.Sprintf("r = redis.client(\"redis://127.0.0.1:1\", connections = 2)\nworkflow(name = \"test\", vus = %[1]d, iterations = %[1]d, duration = \"60s\", steps = [step(\"ask\", redis.command(r, \"PING\"))])", users))
		if got := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: time.Minute}).Stats.Steps[0]; got.Failed != users || kinds(got)["refused"] != users || got.Sent > 0 {
			t.Errorf("%d failed: %v", got.Failed, got.Errors)
		}
	})
}

// postgresShares: users share connections to PostgreSQL, and transactions keep theirs until they end.
func postgresShares(t *testing.T, s *postgrestest.Server) {
	for _, vus := range []uint64{1, 64, 500} {
		before, n := s.Count(), 4*vus
		w := loadSQL(t, s.URL("app"), vus, n, fmt.Sprintf(", connections = %d", sharedConnections), `query(db, "select name from t where id = $1", args = [7])`)
		got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
		after := s.Count()
		if is := after.Transactions - before.Transactions; got.OK != n || got.Sent != n || is != n {
			t.Errorf("%d users: ok %d of %d, sent %d, the server counts %d: %v", vus, got.OK, got.Started, got.Sent, is, got.Errors)
		}
		if is := after.Sessions - before.Sessions; is != min(vus, sharedConnections) {
			t.Errorf("%d users: the server took %d connections", vus, is)
		}
	}
	ofPostgres(s).sharesTransactions(t)
}

// sharesTransactions: transactions keep their connections out of those that users share, until they end.
func (s *sqlServer) sharesTransactions(t *testing.T) {
	s.ask("create table served (id bigint)")
	mine := "pg_backend_pid()"
	if s.mysql {
		mine = "connection_id()"
	}
	steps, logs := s.steps(t, context.Background(), 64, strings.ReplaceAll(`
db = sql.client("TARGET", connections = 8)

def pay(vu):
    tx = vu.sql.begin(db)
    id = tx.query("select MINE as id").json()[0]["id"]
    got = tx.query("insert into served values (MINE)")
    if tx.query("select MINE as id").json()[0]["id"] != id:
        fail("another connection")
    if vu.iteration % 4 == 3:
        return got
    return tx.rollback() if vu.iteration % 4 == 2 else tx.commit()

workflow(name = "test", vus = 64, iterations = 512, duration = "60s", steps = [step("pay", pay)])`, "MINE", mine))
	left := 512 - steps["pay/COMMIT"].OK - steps["pay/ROLLBACK"].OK
	if got := steps["pay"]; got.OK != 512 || left == 0 || !strings.Contains(logs, fmt.Sprintf("%d transactions were still open", left)) {
		t.Errorf("%s: %d visits, %d are left: %v", logs, got.OK, left, got.Errors)
	}
	require.Equal(t, map[string]uint64{"pay/COMMIT": steps["pay/COMMIT"].OK, "pay/ROLLBACK": steps["pay/ROLLBACK"].OK}, transactionTimes(steps))
	if rows := s.ask("select count(*) from served"); rows != fmt.Sprint(steps["pay/COMMIT"].OK) {
		t.Errorf("%s rows are kept, want %d", rows, steps["pay/COMMIT"].OK)
	}
}

// sharesMongoDB: users share connections to MongoDB, each of which says hello once.
func sharesMongoDB(t *testing.T, s *mongodbtest.Server) {
	const users = 64
	before := s.Commands()
	w := loadFile(t, s.URL(), fmt.Sprintf("m = mongodb.client(\"TARGET\", connections = %d)\nworkflow(name = \"test\", iterations = %d, vus = %d, duration = \"60s\", steps = [step(\"ask\", mongodb.command(m, {\"ping\": 1}))])", sharedConnections, 4*users, users))
	got := run(t, context.Background(), Config{Workflow: w, VUs: users, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
	all := s.Commands()
	if pings, hellos := all["ping"]-before["ping"], all["hello"]-before["hello"]; got.OK != 4*users || got.Sent != 4*users || pings != 4*users || hellos != sharedConnections {
		t.Errorf("ok %d, sent %d, the server counts %d on %d connections: %v", got.OK, got.Sent, pings, hellos, got.Errors)
	}
}

// postgresStuck: transactions that keep all connections, and wait for another one, do not wait for ever.
func postgresStuck(t *testing.T, s *postgrestest.Server) {
	steps, _ := ofPostgres(s).steps(t, context.Background(), 4, `
db = sql.client("TARGET", connections = 2)

def visit(vu):
    tx = vu.sql.begin(db)
    got = vu.sql.query(db, "select 1", name = "beside", timeout = "100ms")
    tx.commit()
    return got

workflow(name = "test", vus = 4, iterations = 8, duration = "60s", steps = [step("visit", visit)])`)
	beside := steps["visit/beside"]
	if beside.TimedOut == 0 || beside.OK+beside.TimedOut != 8 || steps["visit/COMMIT"].OK != 8 {
		t.Errorf("beside: %d ok, %d timed out: %v; %d commits", beside.OK, beside.TimedOut, beside.Errors, steps["visit/COMMIT"].OK)
	}
}

// postgresCrossed: users that keep a connection of one client and wait for one of another, in both orders, do not
// wait for each other for ever. A transaction that does nothing keeps others no longer than their time.
func postgresCrossed(t *testing.T, s *postgrestest.Server) {
	steps, _ := ofPostgres(s).steps(t, context.Background(), 3, `
a = sql.client("TARGET", connections = 1)
b = sql.client("TARGET", connections = 1, statements = "unnamed")

def visit(vu):
    if vu.id == 2:
        vu.sleep("50ms")
        return vu.sql.query(a, "select 1", name = "waits", timeout = "300ms")
    ours, theirs = (a, b) if vu.id == 0 else (b, a)
    tx = vu.sql.begin(ours)
    vu.sleep("300ms")
    got = vu.sql.query(theirs, "select 1", name = "crossed", timeout = "300ms")
    vu.sleep("500ms")
    tx.commit()
    return got

workflow(name = "test", vus = 3, iterations = 3, duration = "60s", steps = [step("visit", visit)])`)
	for name, most := range map[string]uint64{"visit/crossed": 2, "visit/waits": 1} {
		if got := steps[name]; got.OK+got.TimedOut != most || got.TimedOut == 0 {
			t.Errorf("%s: %d ok, %d timed out: %v", name, got.OK, got.TimedOut, got.Errors)
		}
	}
}

// postgresBusy: a request waits out no timeout while the transaction that keeps the only connection goes on.
func postgresBusy(t *testing.T, s *postgrestest.Server) {
	steps, _ := ofPostgres(s).steps(t, context.Background(), 2, `
db = sql.client("TARGET", connections = 1)

def visit(vu):
    if vu.id == 1:
        vu.sleep("50ms")
        return vu.sql.query(db, "select 1", name = "waits", timeout = "700ms")
    tx = vu.sql.begin(db)
    for i in range(30):
        tx.query("select 1")
        vu.sleep("50ms")
    return tx.commit()

workflow(name = "test", vus = 2, iterations = 2, duration = "60s", steps = [step("visit", visit)])`)
	if got := steps["visit/waits"]; got.OK != 1 {
		t.Errorf("%d ok, %d timed out: %v", got.OK, got.TimedOut, got.Errors)
	}
}

// postgresOpened: a statement that leaves a transaction open on a shared connection fails, and another user's row
// is kept.
func postgresOpened(t *testing.T, s *postgrestest.Server) {
	db := ofPostgres(s)
	db.ask("create table alone (id bigint)")
	steps, _ := db.steps(t, context.Background(), 1, `
db = sql.client("TARGET", connections = 1)

def visit(vu):
    vu.sql.query(db, "begin", name = "begin")
    return vu.sql.query(db, "insert into alone values (1)", name = "insert")

workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [step("visit", visit)])`)
	if rows := db.ask("select count(*) from alone"); steps["visit/begin"].Failed != 2 || steps["visit/insert"].OK != 2 || rows != "2" {
		t.Errorf("%d of 2 begins fail, %d rows are ok, %s kept: %v", steps["visit/begin"].Failed, steps["visit/insert"].OK, rows, steps["visit/begin"].Errors)
	}
}

// A request whose own time ends while it opens a connection says nothing of those that have more.
func TestAShortTimeoutFailsNoOther(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	w := loadFile(t, "", fmt.Sprintf(`r = redis.client(%q, protocol = 3, connections = 1)

def ask(vu):
    if vu.id > 0:
        vu.sleep("20ms")
    return vu.redis.command(r, "PING", name = "short" if vu.id == 0 else "long", timeout = "100ms" if vu.id == 0 else "20s")

workflow(name = "test", vus = 16, iterations = 16, duration = "60s", steps = [step("ask", ask)])`, s.URL()))
	s.Ask("CLIENT", "PAUSE", "400", "ALL")
	steps := byName(run(t, context.Background(), Config{Workflow: w, VUs: 16, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps)
	if short, long := steps["short"], steps["long"]; short.TimedOut != 1 || long.OK != 15 {
		t.Errorf("short: %d timed out; long: %d ok, %v", short.TimedOut, long.OK, long.Errors)
	}
}
