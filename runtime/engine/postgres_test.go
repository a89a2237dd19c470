package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// All tests of PostgreSQL share one server.
func TestPostgres(t *testing.T) {
	t.Parallel()
	s := postgrestest.Start(t)
	s.Ask("shop", "create table t (id int primary key, name text); insert into t select i, 'n' || i from generate_series(1, 100) i; create table log (id int); grant all on t, log to public")
	for _, one := range []struct {
		name string
		test func(*testing.T, *postgrestest.Server)
	}{
		{"what a run counts is what the server counted", agreesWithPostgres},
		{"a run that breaks counts what the server counted", agreesWhenItBreaks},
		{"users", postgresUsers},
		{"TLS", postgresTLS},
		{"direct TLS", postgresDirectly},
		{"values", postgresValues},
		{"copies", postgresCopies},
		{"functions", postgresFunctions},
		{"cancels", postgresCancels},
		{"codes", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).judgesCodes(t) }},
		{"transactions", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).transacts(t) }},
		{"times of transactions", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).timesTransactions(t) }},
		{"transactions that end", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).endsTransactions(t) }},
		{"transactions of a run that stops", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).stopsTransactions(t) }},
		{"shared connections", postgresShares},
		{"shared connections that transactions keep", postgresStuck},
		{"shared connections of two clients", postgresCrossed},
		{"a shared connection of a transaction that goes on", postgresBusy},
		{"transactions left open on shared connections", postgresOpened},
		{"debug", postgresDebug},
		{"pgbench's move", postgresFromPgbench},
		{"the example", func(t *testing.T, s *postgrestest.Server) { ofPostgres(s).example(t, "sql.star") }},
	} {
		t.Run(one.name, func(t *testing.T) { one.test(t, s) })
	}
}

func agreesWithPostgres(t *testing.T, s *postgrestest.Server) {
	for _, vus := range []uint64{1, 16, 100} {
		for _, tt := range []struct {
			name, client, ask                 string
			transactions, rows, affected, bad uint64 // of an operation
			kind                              string
		}{
			{"prepared", ``, `query(db, "select name from t where id = $1", args = [7])`, 1, 1, 0, 0, ""},
			{"unnamed", `, statements = "unnamed"`, `query(db, "select * from t where id <= $1", args = [3])`, 1, 3, 0, 0, ""},
			{"simple", `, statements = "simple"`, `query(db, "select 1")`, 1, 1, 0, 0, ""},
			{"batch", ``, `batch(db, ["select 1", ("update t set name = name where id = $1", [1]), "select 2"])`, 3, 2, 1, 0, ""},
			{"transaction", ``, `batch(db, [("insert into log values ($1)", [1]), "select 1"], transaction = True)`, 1, 1, 1, 0, ""},
			{"failure", ``, `batch(db, [("insert into t values ($1, $2)", [1, None]), "select 1"], transaction = True)`, 1, 0, 0, 1, "server 23505"},
			{"syntax", ``, `query(db, "selec 1")`, 1, 0, 0, 1, "server 42601"},
		} {
			if vus == 100 && tt.name != "prepared" {
				continue // each connection is a process of the server's, and takes time
			}
			t.Run(fmt.Sprint(tt.name, "/", vus), func(t *testing.T) {
				before, n := s.Count(), 3*vus
				w := loadSQL(t, s.URL("app"), vus, n, tt.client, tt.ask)
				got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
				if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad {
					t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
				}
				after, all := s.Count(), measured(got)
				if is := after.Transactions - before.Transactions; is != n*tt.transactions {
					t.Errorf("the server counts %d transactions, want %d", is, n*tt.transactions)
				}
				if is := after.Sessions - before.Sessions; is > vus {
					t.Errorf("%d connections of %d users", is, vus)
				}
				if rows, affected := all[plan.MeasureRows].Count, all[plan.MeasureAffected].Count; rows != n*tt.rows || affected != n*tt.affected {
					t.Errorf("%d rows, %d affected, want %d and %d", rows, affected, n*tt.rows, n*tt.affected)
				}
			})
		}
	}
}

// However a run ends, no operation counts that the server did not get, and what it got counts.
func agreesWhenItBreaks(t *testing.T, s *postgrestest.Server) {
	counted := func(got message.StepStats, before postgrestest.Counted) (sent, served uint64) {
		return got.Sent, s.Count().Transactions - before.Transactions
	}
	t.Run("cancelled", func(t *testing.T) {
		before := s.Count()
		w := loadSQL(t, s.URL("app"), 16, 1_000_000, "", `query(db, "select 1")`)
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			defer cancel()
			for s.Ask("postgres", "select count(*) from pg_stat_activity where datname = 'shop' and query = 'select 1'") == "0" {
			}
		}()
		got := run(t, ctx, Config{Workflow: w, VUs: 16, Duration: time.Minute}).Stats.Steps[0]
		<-asked
		if sent, served := counted(got, before); sent != served || got.Failed > 0 || sent == 0 {
			t.Errorf("sent %d, the server counts %d; ok %d, %d failed: %v", sent, served, got.OK, got.Failed, got.Errors)
		}
	})
	t.Run("timed out", func(t *testing.T) {
		before := s.Count()
		w := loadSQL(t, s.URL("app"), 4, 8, "", `query(db, "select pg_sleep(0.2)", timeout = "20ms")`)
		got := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute}).Stats.Steps[0]
		// The server works on, and counts what its clients have left. Connecting may take the time of some.
		if sent, served := counted(got, before); sent != served || got.TimedOut != 8 || got.OK > 0 {
			t.Errorf("sent %d, the server counts %d; %d timed out: %v", sent, served, got.TimedOut, got.Errors)
		}
	})
	t.Run("terminated", func(t *testing.T) {
		before := s.Count()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		w := loadSQL(t, s.URL("app"), 8, 1_000_000, "", `query(db, "select 1")`)
		go func() {
			defer close(ended)
			defer cancel()
			for range 3 {
				for s.Ask("postgres", "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = 'shop'") == "0" {
				}
			}
		}()
		got := run(t, ctx, Config{Workflow: w, VUs: 8, Duration: time.Minute}).Stats.Steps[0]
		<-ended
		sent, served := counted(got, before) // the end of the run may cancel what has lost its backend
		if sent < served || sent-served > got.Failed+got.Cancelled || got.Failed+got.Cancelled == 0 || got.TimedOut > 0 || got.OK == 0 {
			t.Errorf("sent %d, the server counts %d; ok %d, %d failed: %v", sent, served, got.OK, got.Failed, got.Errors)
		}
		for kind := range kinds(got) {
			if kind != "closed" && kind != "reset" && kind != "server 57P01" {
				t.Errorf("%v", got.Errors)
			}
		}
	})
}

// What a run gives up the server ends, in clear and in TLS, within a transaction too: its connections are gone
// long before the statement would be over. With cancel = False it works on.
func postgresCancels(t *testing.T, s *postgrestest.Server) {
	const long, begun = `query(db, "select pg_sleep(600)"`, `"select count(*) from pg_stat_activity where datname = 'shop' and query like '%pg_sleep%' and state = 'active'"`
	held := `
def hold(vu):
    tx = vu.sql.begin(db)
    return tx.query("select pg_sleep(600)", timeout = "200ms")
`
	for _, tt := range []struct {
		name, client, step string
		stops              bool
		sent, taken        uint64
	}{
		{"late", ``, `step("ask", sql.` + long + `, timeout = "200ms"))`, false, 4, 4},
		{"late in TLS", `, sslmode = "require"`, `step("ask", sql.` + long + `, timeout = "400ms"))`, false, 4, 4},
		{"late in a transaction", ``, `step("ask", hold)`, false, 8, 4},
		{"stopped", ``, `step("ask", sql.` + long + `))`, true, 2, 2},
		{"works on", `, cancel = False`, `step("ask", sql.query(db, "select pg_sleep(1)", timeout = "200ms"))`, false, 4, 0},
	} {
		before := s.Count()
		ctx, cancel := context.WithCancel(context.Background())
		if tt.stops {
			go func() {
				defer cancel()
				for s.Ask("postgres", strings.Trim(begun, `"`)) != "2" {
				}
			}()
		}
		w := loadFile(t, s.URL("app"), fmt.Sprintf("db = sql.client(\"TARGET\"%s)\n%s\nworkflow(name = \"test\", iterations = 4, vus = 2, duration = \"60s\", steps = [step(\"first\", sql.query(db, \"select 1\")), %s])", tt.client, held, tt.step))
		r := run(t, ctx, Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second})
		cancel()
		got, after, logs := r.Stats.Steps[1], s.Count(), fmt.Sprint(r.Stats.Logs)
		line := fmt.Sprintf("cancel requests: servers took %d of %d", tt.taken, tt.taken)
		if got.Sent != tt.sent || got.OK > 0 || strings.Contains(logs, line) != (tt.taken > 0) || strings.Contains(logs, "failed") || tt.taken == 0 && strings.Contains(logs, "cancel") {
			t.Errorf("%s: sent %d, %v; %s", tt.name, got.Sent, got.Errors, logs)
		}
		if n := after.RolledBack - before.RolledBack; n != tt.taken {
			t.Errorf("%s: the server rolled %d back, want %d", tt.name, n, tt.taken)
		}
	}
}

// Users are admitted as their passwords say.
func postgresUsers(t *testing.T, s *postgrestest.Server) {
	ofPostgres(s).admits(t, []sqlUser{
		{"app", "", ""}, {"scram", postgrestest.Password, ""}, {"scram", "falsch", "auth"}, {"scram", "", "auth"},
		{"md5", postgrestest.Password, ""}, {"md5", "falsch", "auth"}, {"clear", postgrestest.Password, "auth"}, {"unknown", "", "auth"},
	})
}

// Connections are as secure as the file says, or there is none, and a failure names what is wrong.
func postgresTLS(t *testing.T, s *postgrestest.Server) {
	_, _, root := authority.Files()
	certificate, key := authority.Client("cert")
	own := fmt.Sprintf("certificate = %q, key = %q", certificate, key)
	ca := fmt.Sprintf("ca = %q", root)
	for _, tt := range []struct{ user, client, kind, detail string }{
		{"app", `sslmode = "require"`, "", ""},
		{"app", `sslmode = "verify-full", tls = tls(` + ca + `)`, "", ""},
		{"app", `tls = tls(` + ca + `, min_version = "1.3", resume = True)`, "", ""},
		{"app", `tls = tls(` + ca + `, max_version = "1.2")`, "", ""},
		{"app", `tls = tls(verify = False)`, "", ""},
		{"app", `sslmode = "verify-ca", tls = tls(` + ca + `, server_name = "other")`, "", ""},
		{"app", `tls = tls(` + ca + `, server_name = "other")`, "tls_name", "server_name"},
		{"app", `sslmode = "verify-full"`, "tls_authority", "tls = tls(ca = file("},
		{"app", `sslmode = "verify-ca"`, "tls_authority", "tls = tls(ca = file("},
		{"plus", `sslmode = "require", password = "` + postgrestest.Password + `"`, "", ""},
		{"plus", `tls = tls(` + ca + `), password = "falsch"`, "auth", "28P01"},
		{"plus", `password = "` + postgrestest.Password + `"`, "auth", "no encryption"},
		{"clear", `sslmode = "require", password = "` + postgrestest.Password + `"`, "", ""},
		{"md5", `sslmode = "require", password = "` + postgrestest.Password + `"`, "", ""},
		{"cert", `tls = tls(` + ca + `, ` + own + `)`, "", ""},
		{"cert", `tls = tls(` + ca + `)`, "auth", "certificate"},
	} {
		before := s.Count()
		got := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(tt.user), `
db = sql.client("TARGET", `+tt.client+`)
workflow(name = "test", vus = 2, iterations = 6, duration = "60s", steps = [
	step("ask", sql.query(db, "select ssl, version from pg_stat_ssl where pid = pg_backend_pid()"), expect = [json_is("$[0].ssl", True)])])`), VUs: 2, Duration: time.Minute}).Stats.Steps[0]
		if tt.kind != "" {
			if kinds(got)[tt.kind] != 6 || got.Sent > 0 || !strings.Contains(fmt.Sprint(got.Errors), tt.detail) {
				t.Errorf("%s, %.50s: %v, want %s with %q", tt.user, tt.client, got.Errors, tt.kind, tt.detail)
			}
			continue
		}
		after := s.Count()
		if n, sessions := after.Transactions-before.Transactions, after.Sessions-before.Sessions; got.OK != 6 || got.Sent != 6 || n != 6 || sessions > 2 {
			t.Errorf("%s, %.50s: ok %d, sent %d, the server counts %d on %d connections: %v", tt.user, tt.client, got.OK, got.Sent, n, sessions, got.Errors)
		}
	}
	// The URL may say so, too, and each iteration makes a connection of its own.
	w := loadFile(t, strings.Replace(s.URL("app"), "/shop", "/shop?sslmode=require", 1), `workflow(name = "test", vus = 1, iterations = 3, duration = "60s", session = "none", steps = [step("ask", sql.query("TARGET", "select 1"))])`)
	if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; got.OK != 3 {
		t.Errorf("ok %d: %v", got.OK, got.Errors)
	}
}

// TLS begins without a question for it, and a server that does not choose the protocol gets nothing.
func postgresDirectly(t *testing.T, s *postgrestest.Server) {
	_, _, root := authority.Files()
	ca := fmt.Sprintf("tls = tls(ca = %q)", root)
	for _, tt := range []struct {
		name      string
		protocols []string // of the relay; nil: there is none
		query     string
		client    string
		kind      string
	}{
		{"require", []string{"postgresql"}, "sslmode=require&sslnegotiation=direct", "", ""},
		{"the other order", []string{"h2", "postgresql"}, "sslnegotiation=direct&sslmode=verify-full", ca, ""},
		{"tls alone", []string{"postgresql"}, "sslnegotiation=direct", strings.TrimSuffix(ca, ")") + ", resume = True)", ""},
		{"another authority", []string{"postgresql"}, "sslmode=verify-full&sslnegotiation=direct", "", "tls_authority"},
		{"no protocol", []string{}, "sslmode=require&sslnegotiation=direct", "", "tls"},
		{"another protocol", []string{"http/1.1"}, "sslmode=require&sslnegotiation=direct", "", "tls_alert"},
		{"a server that waits for a question", nil, "sslmode=require&sslnegotiation=direct", "", "closed"},
		{"asked", nil, "sslmode=require&sslnegotiation=postgres", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, came := s.URL("app")+"?"+tt.query, (*atomic.Int64)(nil)
			if tt.protocols != nil {
				var address string
				address, came = s.Relay(tt.protocols...)
				url = "postgres://app@" + address + "/shop?" + tt.query
			}
			before := s.Count()
			w := loadFile(t, url, `
db = sql.client("TARGET", `+tt.client+`)
workflow(name = "test", vus = 2, iterations = 6, duration = "60s", steps = [step("ask", sql.query(db, "select 1"))])`)
			got := run(t, context.Background(), Config{Workflow: w, VUs: 2, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
			if n := s.Count().Transactions - before.Transactions; tt.kind == "" && (got.OK != 6 || n != 6) || tt.kind != "" && (kinds(got)[tt.kind] != 6 || n != 0) {
				t.Errorf("ok %d, the server counts %d: %v", got.OK, n, got.Errors)
			}
			if tt.kind != "" && tt.kind != "tls_authority" && !strings.Contains(fmt.Sprint(got.Errors), "postgresql") {
				t.Errorf("no remedy: %v", got.Errors)
			}
			if came != nil && tt.kind == "" && came.Load() > 2 {
				t.Errorf("%d connections of 2 users", came.Load())
			}
		})
	}
	// A cancel request goes the same way.
	address, came := s.Relay("postgresql")
	w := loadFile(t, "postgres://app@"+address+"/shop?sslmode=require&sslnegotiation=direct", `workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [step("ask", sql.query("TARGET", "select pg_sleep(60)", timeout = "2s"))])`)
	if got := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute}).Stats.Steps[0]; got.TimedOut != 1 || came.Load() != 2 {
		t.Errorf("%d timed out, %d connections: %v", got.TimedOut, came.Load(), got.Errors)
	}
	s.Count() // the statement has ended long before its minute
}

// Rows become values of later steps, and values stand in arguments as they are.
func postgresValues(t *testing.T, s *postgrestest.Server) {
	w := loadFile(t, s.URL("app"), `
db = sql.client("TARGET")
workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [
	step("next", sql.query(db, "select 'a''b\" é' as word, 7 as id"), extract = {"word": json_path("$[0].word"), "id": json_path("$[0].id")}),
	step("echo", sql.query(db, "select $1::text as w, $2::int + 1 as n, $3::text as none, '$4' as q, $4::bytea as b, $5::bool as t", args = ["<${word}>", "${id}", None, b"\x00\xff", True]),
		expect = [json_is("$[0].w", "<a'b\" é>"), json_is("$[0].n", 8), json_is("$[0].none", None), json_is("$[0].b", "\\x00ff"), json_is("$[0].t", True), status(200)]),
	step("none", sql.query(db, "select name from t where id = -1"), expect = [body_contains("[]")]),
	step("batch", sql.batch(db, ["select 1 as a", ("select name from t where id = $1", ["${id}"])]), expect = [json_is("$[0].name", "n7")]),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute})
	for _, got := range r.Stats.Steps {
		if got.OK != 2 {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
	}
}

// Rows that are copied are in the table, whatever their size, and come back as they are. What a run counts
// is what the server counted.
func postgresCopies(t *testing.T, s *postgrestest.Server) {
	s.Ask("shop", "create table bulk (id int, name text); grant all on bulk to public")
	before := s.Count()
	w := loadFile(t, s.URL("app"), `
db = sql.client("TARGET")
rows = "".join(["%d,%s\n" % (i, "x" * 100) for i in range(20000)])

def dump(vu):
    got = vu.sql.copy(db, "copy (select id from bulk where id < 3 group by id order by id) to stdout csv", name = "out")
    if got.text() != "0\n1\n2\n" or got.status != 200:
        fail("got %s" % got.text())
    return vu.sql.copy(db, "copy bulk from stdin csv", "1,one\n", name = "in")

workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [
	step("load", sql.copy(db, "copy bulk from stdin csv", rows)),
	step("wrong", sql.copy(db, "COPY bulk FROM STDIN csv", "one,two\n")),
	step("missing", sql.copy(db, "copy nowhere from stdin", rows)),
	step("all", sql.copy(db, "copy bulk to stdout"), expect = [body_contains("19999")]),
	step("unread", sql.copy(db, "copy bulk (id) to stdout")),
	step("dump", dump),
])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Timeout: 30 * time.Second})
	steps := map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		steps[got.Name] = got
	}
	for _, tt := range []struct {
		step           string
		rows, affected uint64
		kind           string
	}{
		{"load", 0, 40000, ""}, {"wrong", 0, 0, "server 22P02"}, {"missing", 0, 0, "server 42P01"}, {"all", 60001, 0, ""}, {"unread", 60001, 0, ""}, {"dump/out", 6, 0, ""}, {"dump/in", 0, 2, ""},
	} {
		got := steps[tt.step]
		all := measured(got)
		if rows, affected := all[plan.MeasureRows].Count, all[plan.MeasureAffected].Count; rows != tt.rows || affected != tt.affected || got.Started != 2 || tt.kind == "" && got.OK != 2 || tt.kind != "" && kinds(got)[tt.kind] != 2 {
			t.Errorf("%s: ok %d, %d rows, %d affected: %v", tt.step, got.OK, rows, affected, got.Errors)
		}
	}
	if n := s.Count().Transactions - before.Transactions; n != 14 {
		t.Errorf("the server counts %d transactions", n)
	}
	if n := s.Ask("shop", "select count(*) from bulk"); n != "40002" {
		t.Errorf("%s rows are in the table", n)
	}
}

// Functions ask as steps do, on the same connection.
func postgresFunctions(t *testing.T, s *postgrestest.Server) {
	before := s.Count()
	w := loadFile(t, s.URL("app"), `
db = sql.client("TARGET")

def visit(vu):
    got = vu.sql.query(db, "select $1::int * 2 as n", args = [vu.iteration])
    if got.json()[0]["n"] != 2 * vu.iteration or got.status != 200 or got.error:
        fail("got %s" % got.json())
    wrong = vu.sql.query(db, "select 1 / $1::int", args = [0])
    if wrong.status != 500 or "division by zero" not in wrong.error:
        fail("status %d, error %s" % (wrong.status, wrong.error))
    return vu.sql.batch(db, ["select 1 as a", "select 2 as a"], name = "two", expect = [json_is("$[0].a", 2)])

workflow(name = "test", vus = 4, iterations = 20, duration = "60s", steps = [step("visit", visit), step("ask", sql.query(db, "select 1"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute})
	rows := map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		rows[got.Name] = got
	}
	if rows["visit"].OK != 20 || rows["ask"].OK != 20 || rows["visit/two"].OK != 20 || kinds(rows["visit/SELECT"])["server 22012"] != 20 || rows["visit/SELECT"].OK != 20 {
		for name, got := range rows {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
	after := s.Count()
	if n, sessions := after.Transactions-before.Transactions, after.Sessions-before.Sessions; n != 20*5 || sessions > 8 {
		t.Errorf("the server counts %d transactions and %d connections", n, sessions)
	}
}

// Debug output shows statements, rows and errors, and no password.
func postgresDebug(t *testing.T, s *postgrestest.Server) {
	var b bytes.Buffer
	w := loadFile(t, s.URL("scram"), `
db = sql.client("TARGET", password = "`+postgrestest.Password+`", sslmode = "require")
workflow(name = "test", vus = 1, iterations = 1, duration = "60s", steps = [
	step("rows", sql.batch(db, ["select 1 as a", ("select $1 as b", ["x"])])),
	step("wrong", sql.query(db, "select 1 / 0")),
	step("out", sql.copy(db, "copy (select 7) to stdout")),
])`)
	run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute, Debug: &b})
	for _, want := range []string{"> select 1 as a\n", "> select $1 as b\n", `< [{"b":"x"}]`, "> select 1 / 0", "step wrong: failed, server 22012: division by zero", "> copy (select 7) to stdout", "< 7"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), postgrestest.Password) {
		t.Error(b.String())
	}
}

// What docs/from-other-tools.md writes for pgbench runs on pgbench's tables, and a connection for each
// operation, as its -C, is what keep_alive = False makes.
func postgresFromPgbench(t *testing.T, s *postgrestest.Server) {
	s.Ask("shop", "create table pgbench_accounts (aid int primary key, abalance int); insert into pgbench_accounts select i, 0 from generate_series(1, 100000) i; grant all on pgbench_accounts to public")
	page, err := os.ReadFile("../../docs/from-other-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "that `pgbench -i` has filled:\n\n```python\n")
	text, _, ends := strings.Cut(text, "```")
	const url = "postgres://app@127.0.0.1:5432/shop"
	if !found || !ends || !strings.Contains(text, url) || !strings.Contains(text, "vus = 50,") {
		t.Fatal("the page has no such workflow")
	}
	text = strings.Replace(text, `name = "select-only"`, `name = "test"`, 1)
	text = strings.Replace(strings.Replace(text, url, s.URL("app"), 1), "vus = 50,", "vus = 4, iterations = 40,", 1)
	for _, more := range []string{"", "http = http.client(keep_alive = False), "} {
		before := s.Count()
		w := loadFile(t, "", strings.Replace(text, "vus = 4,", more+"vus = 4,", 1))
		got := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute}).Stats.Steps[0]
		after := s.Count()
		n, sessions := after.Transactions-before.Transactions, after.Sessions-before.Sessions
		if rows := measured(got)[plan.MeasureRows].Count; got.OK != 40 || rows != 40 || n != 40 || more == "" && sessions > 4 || more != "" && sessions != 40 {
			t.Errorf("%q: ok %d, %d rows, the server counts %d on %d connections: %v", more, got.OK, rows, n, sessions, got.Errors)
		}
	}
}
