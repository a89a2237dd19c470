package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/mysql/mysqltest"
)

// All tests of MySQL share one server.
func TestMySQL(t *testing.T) {
	t.Parallel()
	s := mysqltest.Start(t)
	s.Ask("create table shop.t (id int primary key, name varchar(20), hits int not null default 0)", "insert into shop.t (id, name) select seq, concat('n', seq) from shop.seq_1_to_100", "create table shop.log (id int)")
	for _, one := range []struct {
		name string
		test func(*testing.T, *mysqltest.Server)
	}{
		{"what a run counts is what the server counted", agreesWithMySQL},
		{"a run that breaks counts what the server counted", agreesWhenMySQLBreaks},
		{"users", mysqlUsers},
		{"values", mysqlValues},
		{"functions", mysqlFunctions},
		{"codes", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).judgesCodes(t) }},
		{"transactions", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).transacts(t) }},
		{"times of transactions", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).timesTransactions(t) }},
		{"transactions that end", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).endsTransactions(t) }},
		{"transactions of a run that stops", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).stopsTransactions(t) }},
		{"transactions on shared connections", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).sharesTransactions(t) }},
		{"the example", func(t *testing.T, s *mysqltest.Server) { ofMySQL(s).example(t, "mysql.star") }},
		{"TLS", mysqlTLS},
	} {
		t.Run(one.name, func(t *testing.T) { one.test(t, s) })
	}
}

func agreesWithMySQL(t *testing.T, s *mysqltest.Server) {
	for _, vus := range []uint64{1, 64, 300} {
		for _, tt := range []struct {
			name, client, ask                      string
			questions, executed, rows, affected    uint64 // of an operation
			begun, committed, rolledBack, prepares uint64 // prepares: of a connection, or of an operation where it is unnamed
			bad                                    uint64
			kind                                   string
		}{
			{name: "prepared", ask: `query(db, "select name from t where id = ?", args = [7])`, questions: 1, executed: 1, rows: 1, prepares: 1},
			{name: "unnamed", client: `, statements = "unnamed"`, ask: `query(db, "select * from t where id <= ?", args = [3])`, questions: 1, executed: 1, rows: 3, prepares: 1},
			{name: "simple", client: `, statements = "simple"`, ask: `query(db, "select 1")`, questions: 1, rows: 1},
			{name: "several", client: `, statements = "simple"`, ask: `query(db, "select 1; select 2 union select 3")`, questions: 2, rows: 3},
			{name: "batch", ask: `batch(db, ["select 1", ("update t set hits = hits + 1 where id = ?", [1]), "select 1"])`, questions: 3, executed: 3, rows: 2, affected: 1, prepares: 2},
			{name: "transaction", ask: `batch(db, [("insert into log values (?)", [1]), "select 1"], transaction = True)`, questions: 4, executed: 2, rows: 1, affected: 1, begun: 1, committed: 1, prepares: 2},
			{name: "simple transaction", client: `, statements = "simple"`, ask: `batch(db, ["insert into log values (1)", "select 1"], transaction = True)`, questions: 4, rows: 1, affected: 1, begun: 1, committed: 1},
			{name: "failure", ask: `batch(db, ["insert into log values (2)", ("insert into t (id, name) values (?, ?)", [1, None]), "select 1"], transaction = True)`, questions: 4, executed: 2, affected: 1, begun: 1, rolledBack: 1, prepares: 2, bad: 1, kind: "server 1062"},
			{name: "one of three fails", ask: `batch(db, ["select 1", ("insert into t (id, name) values (?, ?)", [1, None]), "select 2"])`, questions: 3, executed: 3, rows: 2, prepares: 3, bad: 1, kind: "server 1062"},
		} {
			if vus == 300 && tt.name != "prepared" && tt.name != "transaction" {
				continue // connections of 300 users take time
			}
			t.Run(fmt.Sprint(tt.name, "/", vus), func(t *testing.T) {
				before, n := s.Count(), 3*vus
				w := loadSQL(t, s.URL("app"), vus, n, tt.client, tt.ask)
				got := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 30 * time.Second}).Stats.Steps[0]
				if got.OK != n*(1-tt.bad) || got.Started != n || got.Sent != n || kinds(got)[tt.kind] != n*tt.bad {
					t.Fatalf("ok %d of %d, sent %d: %v", got.OK, got.Started, got.Sent, got.Errors)
				}
				after, all := s.Count(), measured(got)
				if is := after.Sessions - before.Sessions; is > vus+1 { // the next count is a session, too
					t.Errorf("%d connections of %d users", is-1, vus)
				}
				prepares := after.Prepared - before.Prepared
				if tt.name == "unnamed" {
					if prepares != n {
						t.Errorf("%d preparations of %d operations", prepares, n)
					}
				} else if prepares > vus*tt.prepares || prepares < tt.prepares {
					t.Errorf("%d preparations of %d users, each %d", prepares, vus, tt.prepares)
				}
				for what, of := range map[string][2]uint64{
					"questions": {after.Questions - before.Questions, n * tt.questions}, "executions": {after.Executed - before.Executed, n * tt.executed},
					"begun": {after.Begun - before.Begun, n * tt.begun}, "committed": {after.Committed - before.Committed, n * tt.committed}, "rolled back": {after.RolledBack - before.RolledBack, n * tt.rolledBack},
					"rows": {all[plan.MeasureRows].Count, n * tt.rows}, "affected": {all[plan.MeasureAffected].Count, n * tt.affected}, "kept": {after.Kept, 0},
				} {
					if of[0] != of[1] {
						t.Errorf("%s: %d, want %d", what, of[0], of[1])
					}
				}
			})
		}
	}
	if left := s.Ask("select count(*) from shop.log where id = 2"); left != "0" {
		t.Errorf("%s rows of transactions that failed", left)
	}
}

// However a run ends, no operation counts that the server did not get, and what it got counts.
func agreesWhenMySQLBreaks(t *testing.T, s *mysqltest.Server) {
	counted := func(got message.StepStats, before mysqltest.Counted) (sent, served uint64) {
		return got.Sent, s.Count().Executed - before.Executed
	}
	t.Run("cancelled", func(t *testing.T) {
		before := s.Count()
		w := loadSQL(t, s.URL("app"), 16, 1_000_000, "", `query(db, "select 1")`)
		ctx, cancel := context.WithCancel(context.Background())
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			defer cancel()
			for s.Ask("select count(*) > 0 from information_schema.global_status where variable_name = 'Com_stmt_execute' and variable_value > "+fmt.Sprint(before.Executed+1000)) == "0" {
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
		w := loadSQL(t, s.URL("app"), 4, 8, "", `query(db, "select sleep(0.2)", timeout = "20ms")`)
		got := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute}).Stats.Steps[0]
		if sent, served := counted(got, before); sent != served || got.TimedOut != 8 || got.OK > 0 {
			t.Errorf("sent %d, the server counts %d; %d timed out: %v", sent, served, got.TimedOut, got.Errors)
		}
	})
	t.Run("killed", func(t *testing.T) {
		before := s.Count()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		w := loadSQL(t, s.URL("app"), 8, 1_000_000, "", `query(db, "select 1")`)
		go func() {
			defer close(ended)
			defer cancel()
			for range 3 {
				for s.Ask("select count(*) from information_schema.processlist where user = 'app'") == "0" {
				}
				s.Ask("kill connection user app@'127.0.0.1'")
			}
		}()
		got := run(t, ctx, Config{Workflow: w, VUs: 8, Duration: time.Minute}).Stats.Steps[0]
		<-ended
		sent, served := counted(got, before) // the end of the run may cancel what has lost its connection
		if sent < served || sent-served > got.Failed+got.Cancelled || got.Failed == 0 || got.TimedOut > 0 || got.OK == 0 {
			t.Errorf("sent %d, the server counts %d; ok %d, %d failed: %v", sent, served, got.OK, got.Failed, got.Errors)
		}
		for kind := range kinds(got) {
			if kind != "closed" && kind != "reset" && kind != "truncated" && kind != "server 1927" && kind != "server 1317" {
				t.Errorf("%v", got.Errors)
			}
		}
	})
}

// Users are admitted as their passwords say.
func mysqlUsers(t *testing.T, s *mysqltest.Server) {
	ofMySQL(s).admits(t, []sqlUser{
		{"app", "", ""}, {"native", mysqltest.Password, ""}, {"native", "falsch", "auth"}, {"native", "", "auth"}, {"unknown", "", "auth"},
		{"ed25519", mysqltest.Password, ""}, {"ed25519", "falsch", "auth"}, {"ed25519", "", "auth"},
	})
}

// Rows become values of later steps, whatever carries them, and values stand in arguments as they are.
func mysqlValues(t *testing.T, s *mysqltest.Server) {
	s.Ask(`create table shop.kinds (a tinyint, b smallint unsigned, c mediumint, d int, e bigint unsigned, f float, g double, h decimal(20,3), i date, j datetime(3), k time(6), l year, m bit(9), n varbinary(4), o text, p enum('x','y'), q timestamp null, r time)`,
		`insert into shop.kinds values (-7, 65535, -8, -9, 18446744073709551615, 0.5, -1.25, '12345678901234567.125', '2024-02-29', '2024-02-29 01:02:03.004', '-800:59:58.000001', 2024, b'100000001', x'00ff', 'é"\\', 'y', null, '25:00:00')`,
		`insert into shop.kinds (o, j, i) values ('', '0000-00-00 00:00:00', '0000-00-00')`)
	const row = `{"a":-7,"b":65535,"c":-8,"d":-9,"e":18446744073709551615,"f":0.5,"g":-1.25,"h":12345678901234567.125,"i":"2024-02-29","j":"2024-02-29 01:02:03.004","k":"-800:59:58.000001","l":2024,"m":257,"n":"\\x00ff","o":"é\"\\","p":"y","q":null,"r":"25:00:00"}`
	const none = `{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null,"i":"0000-00-00","j":"0000-00-00 00:00:00.000","k":null,"l":null,"m":null,"n":null,"o":"","p":null,"q":null,"r":null}`
	w := loadFile(t, s.URL("app"), fmt.Sprintf(`
db = sql.client("TARGET")
texts = sql.client("TARGET", statements = "simple")
each = sql.client("TARGET", statements = "unnamed")
want = %q

def kinds(vu):
    for client in [db, texts, each]:
        got = vu.sql.query(client, "select * from kinds", name = "same")
        if got.text() != want:
            fail(got.text())
    return vu.sql.query(each, "select 1 as yes where ? = x'610062'", args = ["a\x00b"], expect = [json_is("$[0].yes", 1)])

def large(vu):
    got = vu.sql.query(db, "select repeat('x', 300000) as l, ? as m", args = ["y" * 70000])
    if got.json()[0] != {"l": "x" * 300000, "m": "y" * 70000}:
        fail("%%d bytes" %% len(got.body))
    return got

workflow(name = "test", vus = 1, iterations = 2, duration = "60s", steps = [
	step("next", sql.query(db, "select 'a''b\" é' as word, 7 as id"), extract = {"word": json_path("$[0].word"), "id": json_path("$[0].id")}),
	step("echo", sql.query(db, "select ? as w, ? + 1 as n, ? as none, '?' as q, ? as b, ? as t, ? as f, ? as big -- ?", args = ["<${word}>", 7, None, b"\x00\xff", True, 1.5, 18446744073709551615]),
		expect = [json_is("$[0].w", "<a'b\" é>"), json_is("$[0].n", 8), json_is("$[0].none", None), json_is("$[0].b", "\\x00ff"), json_is("$[0].t", 1), json_is("$[0].f", 1.5), body_contains("18446744073709551615"), status(200)]),
	step("limit", sql.query(db, "select id from t order by id limit ?", args = [2]), expect = [body_contains("[{\"id\":1},{\"id\":2}]")]),
	step("none", sql.query(db, "select name from t where id = -1"), expect = [body_contains("[]")]),
	step("batch", sql.batch(db, ["select 1 as a", ("select id from t where id = ?", ["${id}"])]), expect = [json_is("$[0].id", 7)]),
	step("kinds", kinds),
	step("call", sql.batch(texts, ["create or replace procedure p() begin select 1 as a; select 2 as b; end", "call p()"]), expect = [body_contains("[{\"b\":2}]")]),
	step("large", large),
])`, "["+row+","+none+"]"))
	r := run(t, context.Background(), Config{Workflow: w, VUs: 1, Duration: time.Minute})
	for _, got := range r.Stats.Steps {
		if got.OK != 2 && (got.Name != "kinds/same" || got.OK != 6) {
			t.Errorf("%s: ok %d: %v", got.Name, got.OK, got.Errors)
		}
	}
}

// Functions ask as steps do, on the same connection.
func mysqlFunctions(t *testing.T, s *mysqltest.Server) {
	before := s.Count()
	w := loadFile(t, s.URL("app"), `
db = sql.client("TARGET")

def visit(vu):
    got = vu.sql.query(db, "select ? * 2 as n", args = [vu.iteration])
    if got.json()[0]["n"] != 2 * vu.iteration or got.status != 200 or got.error:
        fail("got %s" % got.json())
    wrong = vu.sql.query(db, "insert into t (id, name) values (?, ?)", args = [1, "again"])
    if wrong.status != 500 or "Duplicate" not in wrong.error:
        fail("status %d, error %s" % (wrong.status, wrong.error))
    return vu.sql.batch(db, ["select 1 as a", "select 2 as a"], name = "two", expect = [json_is("$[0].a", 2)])

workflow(name = "test", vus = 4, iterations = 20, duration = "60s", steps = [step("visit", visit), step("ask", sql.query(db, "select 1"))])`)
	r := run(t, context.Background(), Config{Workflow: w, VUs: 4, Duration: time.Minute})
	rows := map[string]message.StepStats{}
	for _, got := range r.Stats.Steps {
		rows[got.Name] = got
	}
	if rows["visit"].OK != 20 || rows["ask"].OK != 20 || rows["visit/two"].OK != 20 || kinds(rows["visit/INSERT"])["server 1062"] != 20 || rows["visit/SELECT"].OK != 20 {
		for name, got := range rows {
			t.Errorf("%s: ok %d: %v", name, got.OK, got.Errors)
		}
	}
	after := s.Count()
	if n, sessions := after.Executed-before.Executed, after.Sessions-before.Sessions; n != 20*5 {
		t.Errorf("the server counts %d executions and %d connections", n, sessions)
	}
}

// Connections are as secure as the file says, or there is none, and a failure names what is wrong.
func mysqlTLS(t *testing.T, s *mysqltest.Server) {
	_, _, root := authority.Files()
	certificate, key := authority.Client("cert")
	own := fmt.Sprintf("certificate = %q, key = %q", certificate, key)
	ca := fmt.Sprintf("ca = %q", root)
	for _, tt := range []struct{ user, client, kind, detail string }{
		{"app", `sslmode = "require"`, "", ""},
		{"app", `sslmode = "verify-full", tls = tls(` + ca + `)`, "", ""},
		{"app", `tls = tls(` + ca + `, min_version = "1.3", resume = True)`, "", ""},
		{"app", `tls = tls(` + ca + `, max_version = "1.2")`, "", ""},
		{"app", `sslmode = "verify-ca", tls = tls(` + ca + `, server_name = "other")`, "", ""},
		{"app", `tls = tls(` + ca + `, server_name = "other")`, "tls_name", "server_name"},
		{"app", `sslmode = "verify-full"`, "tls_authority", "tls = tls(ca = file("},
		{"secure", `sslmode = "require"`, "", ""},
		{"secure", `sslmode = "disable"`, "auth", "1045"},
		{"native", `sslmode = "require", password = "` + mysqltest.Password + `"`, "", ""},
		{"native", `sslmode = "require", password = "falsch"`, "auth", "1045"},
		{"cert", `tls = tls(` + ca + `, ` + own + `)`, "", ""},
		{"cert", `tls = tls(` + ca + `)`, "auth", "1045"},
	} {
		before := s.Count()
		got := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(tt.user), `
db = sql.client("TARGET", `+tt.client+`)
workflow(name = "test", vus = 2, iterations = 6, duration = "60s", steps = [
	step("ask", sql.query(db, "select variable_value as v from information_schema.session_status where variable_name = 'Ssl_version'"), expect = [body_contains("TLS")])])`), VUs: 2, Duration: time.Minute}).Stats.Steps[0]
		if tt.kind != "" {
			if kinds(got)[tt.kind] != 6 || got.Sent > 0 || !strings.Contains(fmt.Sprint(got.Errors), tt.detail) {
				t.Errorf("%s, %.50s: %v, want %s with %q", tt.user, tt.client, got.Errors, tt.kind, tt.detail)
			}
			continue
		}
		if n := s.Count().Executed - before.Executed; got.OK != 6 || got.Sent != 6 || n != 6 {
			t.Errorf("%s, %.50s: ok %d, sent %d, the server counts %d: %v", tt.user, tt.client, got.OK, got.Sent, n, got.Errors)
		}
	}
}
