package relational

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"hyperscale/runtime/outputs"
)

// statement is one of SQL with its arguments.
type statement struct {
	text string
	args []value
}

// failure is why a transaction did not commit.
type failure struct {
	verdict outputs.Verdict // Again, Denied, Rejected: for its data; Unclear: it may have committed
	why     string
}

// database is one connection.
type database interface {
	// exec runs statements as one transaction; nil: they have committed.
	exec(ctx context.Context, all []statement) *failure
	// query returns rows as texts by column; NULL is left out.
	query(ctx context.Context, s statement) ([]map[string]string, error)
	close()
}

// sink keeps rows in a database.
type sink struct {
	dialect
	open   func(ctx context.Context) (database, *failure)
	lock   []string // statements that begin the transaction which makes the tables
	create bool
	adapt  func(ctx context.Context, d *dialect, db database) error // to the server's version, before the tables are made; nil: there is one
	made   bool                                                     // the tables are there
	db     database                                                 // nil: there is no connection
	rest   rest
	texts  map[outputs.RowKind]string
	known  map[outputs.RowKind]table
}

func newSink(d dialect, open func(context.Context) (database, *failure), create bool, lock ...string) *sink {
	s := &sink{dialect: d, open: open, create: create, lock: lock, texts: map[outputs.RowKind]string{}, known: map[outputs.RowKind]table{}}
	for _, t := range tables() {
		s.known[t.kind], s.texts[t.kind] = t, d.upsert(&t)
	}
	return s
}

// connect connects, and until that has succeeded once it makes the tables, or looks whether they are there.
func (s *sink) connect(ctx context.Context) *failure {
	if s.db == nil {
		db, fail := s.open(ctx)
		if fail != nil {
			return fail
		}
		s.db = db
	}
	if s.made {
		return nil
	}
	if err := s.prepare(ctx); err != nil {
		s.drop()
		return &failure{outputs.VerdictAgain, err.Error()}
	}
	s.made = true
	return nil
}

func (s *sink) prepare(ctx context.Context) error {
	if !s.create {
		if _, err := s.db.query(ctx, statement{text: "SELECT version FROM hyperscale_schema"}); err != nil {
			return errors.Join(errors.New("the tables are not there: run what `outputs schema` prints, or let the user create tables and leave out create=false"), err)
		}
	}
	if s.adapt != nil {
		if err := s.adapt(ctx, &s.dialect, s.db); err != nil {
			return err
		}
	}
	if s.create {
		var all []statement
		for _, text := range append(s.lock[:len(s.lock):len(s.lock)], s.schema()...) {
			all = append(all, statement{text: text})
		}
		if fail := s.db.exec(ctx, all); fail != nil {
			return errors.New("make the tables: " + fail.why + ": let the user create tables, or run what `outputs schema` prints, and add create=false")
		}
	}
	return s.suits(ctx)
}

// suits rejects tables in which a step and a request of a function that share a name would be one row.
func (s *sink) suits(ctx context.Context) error {
	rows, err := s.db.query(ctx, statement{text: s.former})
	if err != nil || len(rows) == 0 {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, r["name"])
	}
	return fmt.Errorf("an earlier version made %s, whose keys lack step_kind: a step and a request of its name would replace each other: run the last lines that `outputs schema` prints, which keep the rows, or name another database", strings.Join(names, ", "))
}

// Check connects, and makes the tables, or looks whether they are there.
func (s *sink) Check(ctx context.Context) error {
	if fail := s.connect(ctx); fail != nil {
		return errors.New(fail.why)
	}
	return nil
}

func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if fail := s.connect(ctx); fail != nil {
		return outcome(fail)
	}
	all := make([]statement, 0, len(b.Rows))
	for i := range b.Rows {
		r := &b.Rows[i]
		t, ok := s.known[r.Kind]
		if !ok {
			return outputs.Rejected(nil, "there is no table for rows of kind "+r.Kind.String())
		}
		all = append(all, statement{s.texts[r.Kind], s.arguments(&t, r)})
	}
	if b.Try <= 1 || s.rest.batch != b.Number {
		s.rest = rest{batch: b.Number, parts: []span{{0, len(all)}}}
	}
	return s.settle(ctx, all)
}

// rest is what a repeated try still has to do, so that a batch with bad rows ends however short a try is.
type rest struct {
	batch uint64
	parts []span // in order: their rows are neither there nor rejected
	bad   []int
	why   string // of the first bad row
}

// span is a part of a batch, a transaction.
type span struct{ from, to int }

// settle delivers the rest of a batch. It halves a part that has a bad row, until that row stands alone.
func (s *sink) settle(ctx context.Context, all []statement) outputs.Outcome {
	r := &s.rest
	for len(r.parts) > 0 {
		p := r.parts[0]
		fail := s.db.exec(ctx, all[p.from:p.to])
		switch {
		case fail == nil:
			r.parts = r.parts[1:]
		case fail.verdict != outputs.VerdictRejected:
			s.drop()
			return outcome(fail) // rows of that part which are there change nothing when they come again
		case p.to-p.from > 1:
			half := p.from + (p.to-p.from)/2
			r.parts = append([]span{{p.from, half}, {half, p.to}}, r.parts[1:]...)
		default:
			r.parts, r.bad, r.why = r.parts[1:], append(r.bad, p.from), cmp.Or(r.why, fail.why)
		}
	}
	if r.bad == nil {
		return outputs.Delivered()
	}
	return outputs.Rejected(r.bad, r.why)
}

func outcome(f *failure) outputs.Outcome { return outputs.Outcome{Verdict: f.verdict, Why: f.why} }

func (s *sink) drop() {
	if s.db != nil {
		s.db.close()
		s.db = nil
	}
}

func (s *sink) Close() { s.drop() }
