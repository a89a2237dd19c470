package workflow_test

import (
	"strings"
	"testing"
)

// A transaction sends what it says, in the words of its database, and nothing once it is over.
func TestTransactions(t *testing.T) {
	const orders = `
db = sql.client("postgres://app@h/d", statements = "unnamed")
my = sql.client("mysql://app@h/d")
`
	for _, tt := range []struct{ body, sends, says string }{
		{`tx = vu.sql.begin(db); tx.query("select $1", args = [1]); return tx.commit()`, "BEGIN|select $1|COMMIT", ""},
		{`tx = vu.sql.begin(db, isolation = "serializable"); tx.batch(["a", "b"]); return tx.rollback(timeout = "1s")`, "BEGIN ISOLATION LEVEL SERIALIZABLE|a;b|ROLLBACK", ""},
		{`tx = vu.sql.begin(my, isolation = "repeatable read"); return tx.query("select ?", args = [1])`, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;START TRANSACTION|select ?", ""},
		{`return vu.sql.begin(db).copy("copy t to stdout")`, "BEGIN|copy t to stdout", ""},
		{`tx = vu.sql.begin(db); tx.commit(); return tx.query("select 1")`, "BEGIN|COMMIT", "this transaction is over"},
		{`return vu.sql.begin(db, isolation = "high")`, "", `isolation must be one of serializable`},
		{`return vu.sql.begin(db).query("select 1", retry = retry(times = 1))`, "BEGIN", "retry"},
		{`return vu.sql.begin(db).query("select $1")`, "BEGIN", "names $1 to $1, and has 0 arguments"},
		{`return vu.sql.begin(db).query()`, "BEGIN", `write transaction.query("select 1")`},
		{`return vu.sql.begin(my).copy("load data", "1")`, "START TRANSACTION", "PostgreSQL"},
		{`return vu.sql.begin(db).end()`, "BEGIN", "transaction has no"},
	} {
		f := &fake{}
		w := load(t, orders+"def f(vu):\n    "+strings.ReplaceAll(tt.body, "; ", "\n    ")+"\nworkflow(name = \"w\", steps = [step(f)])\n")
		v := w.NewVU(1, 1, f)
		v.Begin()
		out := v.Call(0)
		var sent []string
		for _, r := range f.requests {
			var texts []string
			for _, s := range r.SQL.Statements {
				texts = append(texts, s.Text)
			}
			sent = append(sent, strings.Join(texts, ";"))
		}
		got := strings.Join(sent, "|")
		if got != tt.sends || out.OK != (tt.says == "") || !strings.Contains(out.Detail, tt.says) {
			t.Errorf("%s: sends %q, %s, want %q and %q", tt.body, got, out.Detail, tt.sends, tt.says)
		}
	}
}
