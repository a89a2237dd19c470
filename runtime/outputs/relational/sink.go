package relational

import (
	"context"
	"errors"

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
	db     database // nil: there is no connection
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

func (s *sink) connect(ctx context.Context) *failure {
	if s.db != nil {
		return nil
	}
	db, fail := s.open(ctx)
	s.db = db
	return fail
}

// Check connects, and makes the tables, or looks whether they are there.
func (s *sink) Check(ctx context.Context) error {
	if fail := s.connect(ctx); fail != nil {
		return errors.New(fail.why)
	}
	if !s.create {
		if _, err := s.db.query(ctx, statement{text: "SELECT version FROM hyperscale_schema"}); err != nil {
			s.drop()
			return errors.Join(errors.New("the tables are not there: run what `outputs schema` prints, or let the user create tables and leave out create=false"), err)
		}
		return nil
	}
	var all []statement
	for _, text := range append(s.lock[:len(s.lock):len(s.lock)], s.schema()...) {
		all = append(all, statement{text: text})
	}
	if fail := s.db.exec(ctx, all); fail != nil {
		s.drop()
		return errors.New("make the tables: " + fail.why + ": let the user create tables, or run what `outputs schema` prints, and add create=false")
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
			return outputs.Rejected([]int{i}, "there is no table for rows of kind "+r.Kind.String())
		}
		all = append(all, statement{s.texts[r.Kind], s.arguments(&t, r)})
	}
	fail := s.db.exec(ctx, all)
	if fail == nil {
		return outputs.Delivered()
	}
	if fail.verdict != outputs.VerdictRejected {
		s.drop()
		return outcome(fail)
	}
	return s.one(ctx, all)
}

// one delivers the rows of a batch that has a bad one each by itself.
func (s *sink) one(ctx context.Context, all []statement) outputs.Outcome {
	var bad []int
	why := ""
	for i := range all {
		fail := s.db.exec(ctx, all[i:i+1])
		if fail == nil {
			continue
		}
		if fail.verdict != outputs.VerdictRejected {
			s.drop()
			return outcome(fail) // rows that are there already change nothing when they come again
		}
		if bad = append(bad, i); why == "" {
			why = fail.why
		}
	}
	if bad == nil {
		return outputs.Delivered()
	}
	return outputs.Rejected(bad, why)
}

func outcome(f *failure) outputs.Outcome { return outputs.Outcome{Verdict: f.verdict, Why: f.why} }

func (s *sink) drop() {
	if s.db != nil {
		s.db.close()
		s.db = nil
	}
}

func (s *sink) Close() { s.drop() }
