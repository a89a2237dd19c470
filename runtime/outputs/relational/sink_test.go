package relational

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// scarce is a database that rejects some rows, and commits few transactions before each try ends.
type scarce struct {
	bad  []string // steps
	left int      // transactions until the try ends
	has  []string
	n    int
}

func (s *scarce) exec(_ context.Context, all []statement) *failure {
	if s.left--; s.left < 0 {
		return &failure{outputs.VerdictUnclear, "no answer in time"}
	}
	s.n++
	if len(all[0].args) == 0 {
		return nil // the tables
	}
	for _, one := range all {
		if slices.Contains(s.bad, *one.args[3]) {
			return &failure{outputs.VerdictRejected, "too long"}
		}
	}
	for _, one := range all {
		s.has = append(s.has, *one.args[3])
	}
	return nil
}

func (s *scarce) query(context.Context, statement) ([]map[string]string, error) { return nil, nil }
func (s *scarce) close()                                                        {}

// A batch with bad rows ends, however few transactions a try has time for, and one bad row costs few of them.
func TestABadRowAmongMany(t *testing.T) {
	for _, c := range []struct {
		what    string
		bad     []string
		each    int // transactions of a try
		most    int // transactions in all
		rejects []int
	}{
		{"one of 64", []string{"s37"}, 100, 13, []int{37}},
		{"one of 64, three transactions a try", []string{"s37"}, 3, 13, []int{37}},
		{"the first and the last", []string{"s0", "s63"}, 1, 25, []int{0, 63}},
	} {
		t.Run(c.what, func(t *testing.T) {
			db := &scarce{bad: c.bad}
			s := newSink(sqliteDialect(), func(context.Context) (database, *failure) { return db, nil }, true)
			s.made = true
			b := outputs.Batch{Number: 1}
			for i := range 64 {
				r := outputstest.Rows("j")[0]
				r.Step = "s" + string(rune('0'+i/10)) + string(rune('0'+i%10))
				if i < 10 {
					r.Step = "s" + string(rune('0'+i))
				}
				b.Rows = append(b.Rows, r)
			}
			var out outputs.Outcome
			for b.Try = 1; b.Try < 100; b.Try++ {
				db.left = c.each
				if out = s.Deliver(context.Background(), b); out.Verdict != outputs.VerdictUnclear {
					break
				}
			}
			if out.Verdict != outputs.VerdictRejected || !slices.Equal(out.Rows, c.rejects) || db.n > c.most || len(db.has) != 64-len(c.bad) {
				t.Errorf("%d tries, %d transactions, %d rows are there: %+v", b.Try, db.n, len(db.has), out)
			}
		})
	}
}

// A place that was down at the check has no tables: the first connection makes them.
func TestTablesOfALatePlace(t *testing.T) {
	up, made := false, 0
	db := &scarce{left: 100}
	s := newSink(sqliteDialect(), func(context.Context) (database, *failure) {
		if !up {
			return nil, &failure{outputs.VerdictAgain, "it is down"}
		}
		return db, nil
	}, true)
	s.adapt = func(context.Context, *dialect, database) error {
		if made++; made == 1 {
			return errors.New("it begins")
		}
		return nil
	}
	if err := s.Check(context.Background()); err == nil {
		t.Fatal("the check of a place that is down")
	}
	up = true
	rows := outputstest.Rows("j")[:1]
	if out := s.Deliver(context.Background(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictAgain || out.Why != "it begins" {
		t.Errorf("%+v", out)
	}
	for range 2 {
		deliver(t, s, rows...)
	}
	if made != 2 {
		t.Errorf("it prepared %d times", made)
	}
}

// Sums exceed 2^63, where a database has such numbers.
func TestGreatSums(t *testing.T) {
	r := outputstest.Rows("j")[0]
	r.Figures.Latency.Sum = 1 << 63
	for name, c := range map[string]struct {
		d    dialect
		want string
	}{"postgres": {postgresDialect(), "9223372036854775808"}, "mysql": {mysqlDialect(), "9223372036854775808"}, "sqlite": {sqliteDialect(), "9223372036854775807"}} {
		for _, tab := range tables() {
			for i, col := range tab.columns {
				if tab.kind == outputs.RowWindow && col.of == ofSum {
					if d := cmp.Diff(c.want, *c.d.arguments(&tab, &r)[i]); d != "" {
						t.Errorf("%s: %s", name, d)
					}
				}
			}
		}
	}
}

// An authority is of use only where certificates are verified.
func TestAuthorities(t *testing.T) {
	for query, want := range map[string]string{
		"?sslmode=require&sslrootcert=ca.pem": "use sslmode=verify-full",
		"?sslmode=disable&sslrootcert=ca.pem": "use sslmode=verify-full",
		"?sslrootcert=none.pem":               "none.pem",
	} {
		k := Postgres()
		s, err := outputs.Parse(&k, "postgres://load@127.0.0.1/shop"+query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Open(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}
