package request

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/session"
)

// SQLBegin is vu.sql.begin. Use sends what a transaction asks.
func SQLBegin(own []string, use func(*session.Transaction) Use) *guard.Func {
	const fn = "vu.sql.begin"
	return &guard.Func{Word: "begin", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		names := append([]string{"target", "isolation", "timeout"}, own...)
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 1, args, kwargs, in); err != nil {
			return nil, err
		}
		q := sqlRequest{thread: thread, fn: fn}
		if err := q.begin(in[0]); err != nil {
			return nil, err
		}
		if err := q.isolate(in[1]); err != nil {
			return nil, err
		}
		of, t := q.of, new(session.Transaction)
		if _, err := q.end(in[2], nil, in[3:], use(t)); err != nil {
			return nil, err
		}
		return SQLTransaction(of, t, guard.MeterOf(thread).Owner, own, use(t)), nil
	}}
}

// SQLTransaction is a transaction for functions of its owner, where a request went.
func SQLTransaction(of SQL, t *session.Transaction, owner any, own []string, use Use) *session.Transacting {
	of.Statements = nil
	v := &sqlVerb{under: "transaction", own: own, use: use, within: &of}
	members := map[string]*guard.Func{"commit": v.ends(session.PartCommit), "rollback": v.ends(session.PartRollback)}
	for _, verb := range []string{"batch", "copy", "query"} {
		members[verb] = v.named(verb)
	}
	return session.NewTransaction(t, owner, members)
}

// isolate reads the isolation of a transaction, and says how it begins.
func (q *sqlRequest) isolate(given starlark.Value) error {
	levels := []string{"serializable", "repeatable read", "read committed", "read uncommitted"}
	level, _ := starlark.AsString(given)
	if given != nil && !slices.Contains(levels, level) {
		return language.WrongType(q.fn, "isolation", "one of "+strings.Join(levels, ", "), given).Do("write isolation = \"serializable\"")
	}
	q.of.Part = session.PartBegin
	switch level = strings.ToUpper(level); {
	case level == "" && q.of.MySQL():
		q.of.Statements = []SQLStatement{{Text: "START TRANSACTION"}}
	case level == "":
		q.of.Statements = []SQLStatement{{Text: "BEGIN"}}
	case q.of.MySQL():
		q.of.Statements = []SQLStatement{{Text: "SET TRANSACTION ISOLATION LEVEL " + level}, {Text: "START TRANSACTION"}}
	default:
		q.of.Statements = []SQLStatement{{Text: "BEGIN ISOLATION LEVEL " + level}}
	}
	return nil
}

// ends is commit or rollback.
func (v *sqlVerb) ends(part session.Part) *guard.Func {
	word := map[session.Part]string{session.PartCommit: "commit", session.PartRollback: "rollback"}[part]
	names := append([]string{"timeout"}, v.own...)
	return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := language.Bind("transaction."+word, names, 0, args, kwargs, in); err != nil {
			return nil, err
		}
		q := sqlRequest{thread: thread, fn: "transaction." + word, of: *v.within}
		q.of.Part, q.of.Statements = part, []SQLStatement{{Text: strings.ToUpper(word)}}
		return q.end(in[0], nil, in[1:], v.use)
	}}
}
