package relational

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/mysql/mysqltest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// opened is a sink of a place that has passed its check.
func opened(t *testing.T, k outputs.Kind, place string) (outputs.Sink, *outputs.Settings) {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	if err := sink.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	return sink, s
}

func deliver(t *testing.T, sink outputs.Sink, rows ...outputs.Row) {
	t.Helper()
	if out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("%+v", out)
	}
}

// counting are the rows that are read back.
func counting(rows []outputs.Row) (all []outputs.Row) {
	for _, r := range rows {
		if r.Kind == outputs.RowWindow || r.Kind == outputs.RowResult || r.Kind == outputs.RowLost || r.Kind == outputs.RowRun {
			all = append(all, r)
		}
	}
	return all
}

// comesBack delivers rows in and out of order, and reads them back.
func comesBack(t *testing.T, k outputs.Kind, place string) {
	sink, s := opened(t, k, place)
	rows := outputstest.Rows("a")
	deliver(t, sink, rows...)
	deliver(t, sink, rows...) // a repeated row changes nothing
	want := counting(rows)
	older := want[0]
	older.Version = outputs.Version{}
	older.Figures = &outputs.Figures{Begun: 99_999}
	deliver(t, sink, older) // a smaller version neither
	newer := want[1]
	newer.Version.Set(0, 1000)
	newer.Figures = &outputs.Figures{Begun: 7, Blunt: true}
	deliver(t, sink, newer)
	want[1] = newer
	got, err := k.ReadBack(s, "a")
	if err != nil {
		t.Fatal(err)
	}
	ignored := cmpopts.IgnoreFields(outputs.Row{}, "Test", "Started")
	byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() })
	if d := cmp.Diff(want, got, ignored, byKey, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	if none, err := k.ReadBack(s, "' OR true --"); err != nil || len(none) > 0 {
		t.Fatalf("%d rows of a job that is none: %v", len(none), err)
	}
}

// keepsNamesApart delivers rows whose names no text of a database can have as they are: each is a row of its own, with all its kinds of
// errors.
func keepsNamesApart(t *testing.T, k outputs.Kind, place string) {
	sink, s := opened(t, k, place)
	rows := outputstest.Rows("names")[:5]
	for i, name := range []string{"caf\xe8", "caf\xe9", "caf\x00", "caf\uFFFD", "caf\uFFFDE9"} {
		r := &rows[i]
		r.Datacenter, r.Workflow, r.Step = "", "shop", name
		r.Figures.Errors = []message.ErrorCount{{Kind: name, Count: 1}, {Kind: "\x00", Count: 2}, {Kind: "\xff", Count: 3}, {Kind: `\u0000`, Count: 4}}
	}
	deliver(t, sink, rows...)
	got, err := k.ReadBack(s, "names")
	if err != nil {
		t.Fatal(err)
	}
	var want []outputs.Row
	for _, r := range counting(rows) {
		r.Step = outputs.TextWithoutNUL(r.Step)
		f := *r.Figures
		f.Errors = nil
		for _, e := range r.Figures.Errors {
			f.Errors = stats.AddError(f.Errors, message.ErrorCount{Kind: outputs.TextWithoutNUL(e.Kind), Count: e.Count})
		}
		r.Figures = &f
		want = append(want, r)
	}
	byKey := cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() })
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(outputs.Row{}, "Test", "Started"), byKey, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}

func TestSQLite(t *testing.T) {
	dir := t.TempDir()
	comesBack(t, SQLite(), filepath.Join(dir, "rows.db"))
	keepsNamesApart(t, SQLite(), filepath.Join(dir, "rows.db"))
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("notes ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{filepath.Join(dir, "none", "rows.db"): "create it first", text: "no file of SQLite", filepath.Join(dir, "empty.db") + ",create=false": "the tables are not there"} {
		if err := checked(SQLite(), place); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
}

// OUTLETS-1: reading back changes nothing in a file, and needs no right to.
func TestReadingSQLiteChangesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "theirs.db")
	db, err := sql.Open("sqlite", "file:"+name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE notes (n)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	k := SQLite()
	s, err := outputs.Parse(&k, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.ReadBack(s, "a"); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("a file without the tables: %v", err)
	}
	if after, _ := os.ReadFile(name); !bytes.Equal(before, after) {
		t.Error("reading has changed the file")
	}
}

func checked(k outputs.Kind, place string) error {
	s, err := outputs.Parse(&k, place)
	if err != nil {
		return err
	}
	sink, err := k.Open(s)
	if err != nil {
		return err
	}
	defer sink.Close()
	return sink.Check(context.Background())
}

// elder judges what becomes of tables that an earlier version made: they are rejected, and what the schema prints keeps their rows.
func elder(t *testing.T, k outputs.Kind, place string, d dialect, db database, run func(lines string)) {
	t.Helper()
	old := outputstest.Rows("old")[0]
	var all []statement
	for _, text := range d.schema() {
		text = strings.ReplaceAll(strings.ReplaceAll(text, ", step_kind", ""), "SELECT 2", "SELECT 1")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "step_kind text NOT NULL", "step_kind text"), "step_kind "+mysqlStepKind+" NOT NULL", "step_kind text")
		all = append(all, statement{text: text})
	}
	window := tables()[1]
	insert, _, _ := strings.Cut(d.upsert(&window), " ON ")
	if fail := db.exec(context.Background(), append(all, statement{insert, d.arguments(&window, &old)})); fail != nil {
		t.Fatal(fail.why)
	}
	db.close()
	for _, more := range []string{"", ",create=false"} {
		if err := checked(k, place+more); err == nil || !strings.Contains(err.Error(), "an earlier version made hyperscale_lost, hyperscale_result, hyperscale_window") {
			t.Fatalf("tables of version 1%s: %v", more, err)
		}
	}
	_, lines, has := strings.Cut(k.Schema, "without the dashes before them.\n")
	if !has {
		t.Fatalf("no way out of version 1: %s", k.Schema)
	}
	run(strings.ReplaceAll("\n"+lines, "\n-- ", "\n"))
	comesBack(t, k, place)
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := k.ReadBack(s, "old")
	if d := cmp.Diff([]outputs.Row{old}, rows, cmpopts.IgnoreFields(outputs.Row{}, "Test", "Started"), cmpopts.EquateEmpty()); d != "" || err != nil {
		t.Fatal(d, err)
	}
}

func TestElderSQLite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.db")
	db, fail := openSQLite(context.Background(), name)
	if fail != nil {
		t.Fatal(fail.why)
	}
	elder(t, SQLite(), name, sqliteDialect(), db, func(lines string) {
		db, err := sql.Open("sqlite", "file:"+name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(lines); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// serverAt is a server with its database, as a kind opens it.
func serverAt(t *testing.T, k outputs.Kind, place string, schemes ...string) *server {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	at, err := serverOf(s, "", "", schemes...)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// All tests of MariaDB share one server.
func TestMySQL(t *testing.T) {
	server := mysqltest.Start(t)
	t.Setenv("HYPERSCALE_PW", mysqltest.Password)
	t.Setenv("HYPERSCALE_BAD", "not-this-one-1f3a")
	server.Ask("create user loader@'127.0.0.1'", "grant all on shop.* to loader@'127.0.0.1'", "create user poor@'127.0.0.1'", "grant select on shop.* to poor@'127.0.0.1'", "grant all on shop.* to native@'127.0.0.1'")
	place := func(user string) string { return "mysql://" + user + "@" + server.Address() + "/shop" }
	t.Run("what is read is what was delivered", func(t *testing.T) { comesBack(t, MySQL(), place("loader")) })
	t.Run("names stay apart", func(t *testing.T) { keepsNamesApart(t, MySQL(), place("loader")) })
	t.Run("a bad row is rejected alone", func(t *testing.T) {
		sink, s := opened(t, MySQL(), place("loader"))
		rows := counting(outputstest.Rows("c"))[:4]
		rows[2].Step = strings.Repeat("x", 300)
		out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows})
		if out.Verdict != outputs.VerdictRejected || len(out.Rows) != 1 || out.Rows[0] != 2 || !strings.Contains(out.Why, "1406") {
			t.Errorf("%+v", out)
		}
		if got, err := s.Kind.ReadBack(s, "c"); err != nil || len(got) != 3 {
			t.Errorf("%d rows, %v", len(got), err)
		}
	})
	t.Run("tables of version 1", func(t *testing.T) {
		server.Ask("create database elder", "grant all on elder.* to loader@'127.0.0.1'")
		place := "mysql://loader@" + server.Address() + "/elder"
		db, fail := serverAt(t, MySQL(), place, "mysql").openMySQL(context.Background())
		if fail != nil {
			t.Fatal(fail.why)
		}
		d := mysqlDialect()
		if err := adaptMySQL(context.Background(), &d, db); err != nil {
			t.Fatal(err)
		}
		elder(t, MySQL(), place, d, db, func(lines string) { server.Ask("use elder", strings.TrimSpace(lines)) })
	})
	server.Ask("create database former", "grant all on former.* to loader@'127.0.0.1'", "create table former.hyperscale_window (step varchar(255) character set utf8mb4 collate utf8mb4_bin)")
	if err := checked(MySQL(), "mysql://loader@"+server.Address()+"/former"); err == nil || !strings.Contains(err.Error(), "ignore spaces at the end of names") {
		t.Errorf("tables that pad: %v", err)
	}
	opened(t, MySQL(), place("native")+",password_env=HYPERSCALE_PW")
	for place, want := range map[string]string{
		place("native") + ",password_env=HYPERSCALE_BAD": "1045",
		place("poor"):                   "let the user create tables",
		"mysql://load@127.0.0.1:1/shop": "start it, or correct the address",
	} {
		if err := checked(MySQL(), place); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "1f3a") {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
}

// All tests of PostgreSQL share one server.
func TestPostgres(t *testing.T) {
	server := postgrestest.Start(t)
	const secret = "not-this-one-1f3a"
	server.Ask("shop", "create role load login", "grant create on schema public to load", "create role poor login")
	t.Setenv("HYPERSCALE_PW", postgrestest.Password)
	t.Setenv("HYPERSCALE_BAD", secret)
	t.Run("what is read is what was delivered", func(t *testing.T) { comesBack(t, Postgres(), server.URL("load")) })
	t.Run("names stay apart", func(t *testing.T) { keepsNamesApart(t, Postgres(), server.URL("load")) })
	t.Run("a bad row is rejected alone", func(t *testing.T) { rejectsAlone(t, server) })
	t.Run("tables of version 1", func(t *testing.T) {
		server.Ask("shop", "create role elder login", "create schema elder authorization elder", "alter role elder set search_path = elder")
		db, fail := serverAt(t, Postgres(), server.URL("elder"), "postgres").openPostgres(context.Background())
		if fail != nil {
			t.Fatal(fail.why)
		}
		elder(t, Postgres(), server.URL("elder"), postgresDialect(), db, func(lines string) { server.Ask("shop", "set role elder; set search_path = elder;"+lines) })
	})
	t.Run("a connection that ends", func(t *testing.T) {
		sink, _ := opened(t, Postgres(), server.URL("load"))
		rows := outputstest.Rows("b")
		deliver(t, sink, rows[0])
		server.Ask("shop", "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'load'")
		if out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows}); out.Verdict != outputs.VerdictAgain && out.Verdict != outputs.VerdictUnclear {
			t.Errorf("%+v", out)
		}
		deliver(t, sink, rows...)
	})
	t.Run("a user who proves itself", func(t *testing.T) {
		server.Ask("shop", "grant create on schema public to scram", "grant all on all tables in schema public to scram")
		opened(t, Postgres(), server.URL("scram")+",password_env=HYPERSCALE_PW,create=false")
	})
	for place, want := range map[string]string{
		server.URL("scram") + ",password_env=HYPERSCALE_BAD": "28P01",
		server.URL("scram"):                             "add password_file=FILE or password_env=VARIABLE",
		server.URL("poor"):                              "let the user create tables",
		"postgres://load@127.0.0.1:1/shop":              "start it, or correct the address",
		"postgres://127.0.0.1/shop":                     "write postgres://",
		server.URL("load") + "?sslmode=maybe":           "use disable, require or verify-full",
		server.URL("load") + "?sslmode=verify-full":     "certificate",
		server.URL("load") + "?connect_timeout=3":       "use sslmode and sslrootcert",
		"postgres://load:" + secret + "@127.0.0.1/shop": "use password_file=FILE",
	} {
		if err := checked(Postgres(), place); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
}

func rejectsAlone(t *testing.T, server *postgrestest.Server) {
	sink, _ := opened(t, Postgres(), server.URL("load"))
	server.Ask("shop", "alter table hyperscale_window add constraint small check (begun < 50) not valid")
	defer server.Ask("shop", "alter table hyperscale_window drop constraint small")
	rows := counting(outputstest.Rows("c"))[:4]
	bad := *rows[2].Figures
	bad.Begun = 60
	rows[2].Figures = &bad
	out := sink.Deliver(context.Background(), outputs.Batch{Rows: rows})
	if out.Verdict != outputs.VerdictRejected || len(out.Rows) != 1 || out.Rows[0] != 2 || !strings.Contains(out.Why, "23514") {
		t.Errorf("%+v", out)
	}
	if n := server.Ask("shop", "select count(*) from hyperscale_window where job = 'c'"); n != "3" {
		t.Errorf("%s rows", n)
	}
}

// What a database holds may be anything.
func FuzzRowOf(f *testing.F) {
	f.Add("7", "[5,9]", "{1,2}", `{"200":7}`, strings.Repeat("0", 64))
	f.Add("", "x", "[", "{", `\\x00`)
	f.Fuzz(func(t *testing.T, number, bounds, counts, statuses, version string) {
		cells := map[string]string{"bucket_ns": bounds, "bucket_count": counts, "statuses": statuses, "errors": statuses, "version": version}
		for _, c := range figures() {
			if _, has := cells[c.name]; !has {
				cells[c.name] = number
			}
		}
		cells["from_ms"], cells["to_ms"] = number, number
		if r, err := rowOf(outputs.RowWindow, cells); err == nil && r.Figures == nil {
			t.Error("a window without figures")
		}
	})
}
