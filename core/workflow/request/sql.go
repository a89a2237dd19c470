package request

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"hyperscale/core/workflow/session"
	"hyperscale/core/workflow/statement"
)

// SQL says what a request asks of a database: statements, of which several are a batch.
type SQL struct {
	Target         *Target
	User, Password string // Password: empty for none
	Database       string
	Secure         SQLSecure
	Mode           SQLMode
	Statements     []SQLStatement
	Batch          bool
	Transaction    bool   // they are one
	Copy           bool   // the statement copies
	Data           []byte // in its place File, if there is one; nil: the server sends the data
	File           *File
	Part           session.Part // of a transaction that a function holds
	Late           SQLLate
	PublicKey      string // of the server, as PEM; empty: it has none
}

// SQLMode says how statements go out.
type SQLMode uint8

// The modes.
const (
	SQLPrepared SQLMode = iota // prepared once a connection
	SQLUnnamed                 // parsed at each use
	SQLSimple                  // as text
)

// SQLLate says what the server does with a statement that is given up.
type SQLLate uint8

// The ways.
const (
	SQLCancelled SQLLate = iota // it is asked to cancel it
	SQLWorksOn
)

// SQLStatement is a statement with its arguments.
type SQLStatement struct {
	Text string
	Args []SQLArgument
}

// SQLArgument is a text, which may have placeholders, or NULL.
type SQLArgument struct {
	Text string
	Null bool
	Kind SQLKind
}

const (
	sqlStatementsMax = 1000    // of one batch
	sqlArgumentsMax  = 1000    // of one statement
	sqlTextMax       = 1 << 20 // bytes of a statement
	sqlBytesMax      = 16 << 20
	sqlModes         = "\"prepared\", \"unnamed\" or \"simple\""
)

// SQLSchemes are those of sql.client.
func SQLSchemes() Schemes { return Schemes{Plain: "postgres", Port: 5432, User: true, Path: true} }

// SQLClientArguments are those of sql.client.
func SQLClientArguments() []string {
	return []string{"url", "user", "password", "database", "statements", "tls", "sslmode", "cancel", "public_key", "connections"}
}

// SQLArguments are those of sql.query, and those of sql.batch.
func SQLArguments(batch bool) []string {
	if batch {
		return []string{"target", "statements", "transaction", "timeout", "retry"}
	}
	return []string{"target", "statement", "args", "timeout", "retry"}
}

// SQLCopyArguments are those of sql.copy.
func SQLCopyArguments() []string { return []string{"target", "statement", "data", "timeout", "retry"} }

// sqlValue is the result of sql.client.
type sqlValue struct {
	language.Opaque
	of     SQL
	proves [2]starlark.Value // user and password: a text or a secret; nil: it is in of
	key    *secret.Text      // of tls; nil: it is in of
}

// Shared implements Sharer.
func (c *sqlValue) Shared() *Target { return c.of.Target.IfShared() }

// newSQLClient is sql.client.
func newSQLClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "sql.client"
	var in [10]starlark.Value
	if err := language.Bind(fn, SQLClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c, err := sqlURL(fn, in[0], in[6], in[5])
	if err != nil {
		return nil, err
	}
	out := &sqlValue{Opaque: language.Opaque{Kind: fn}, proves: [2]starlark.Value{in[1], in[2]}}
	if t, ok := in[5].(*tlsValue); ok {
		out.key = t.key
	}
	for i, known := range []string{c.User, c.Password, c.Database} {
		name, v := SQLClientArguments()[i+1], in[i+1]
		if v == nil {
			continue
		}
		if known != "" {
			return nil, language.Faultf("%s has a %s in its URL and in %s", fn, name, name).In(name).Do("keep one of them")
		}
		text, ok, err := sentText(v)
		if _, hidden := v.(*secret.Text); hidden && name == "database" {
			ok = false
		}
		switch {
		case err != nil:
			return nil, err
		case !ok && name == "database":
			return nil, language.WrongType(fn, name, "a text", v)
		case !ok:
			return nil, language.WrongType(fn, name, "a text or a secret", v)
		case text == "" || strings.Contains(text, "\x00"):
			return nil, language.Faultf("%s: %s is empty, or has a NUL in it", fn, name).In(name).Do("leave it out, or write %s = \"app\"", name)
		case strings.Contains(text, "${"):
			return nil, language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a param or a secret")
		}
		if name == "database" {
			c.Database = text
		}
	}
	if c.User == "" && in[1] == nil {
		return nil, language.Faultf("%s has no user", fn).In("url").Do("write sql.client(\"postgres://app@host/shop\"), or user = \"app\"")
	}
	if in[4] != nil {
		mode, _ := starlark.AsString(in[4])
		at := slices.Index([]string{"prepared", "unnamed", "simple"}, mode)
		if at < 0 {
			return nil, language.WrongType(fn, "statements", sqlModes, in[4])
		}
		c.Mode = SQLMode(at)
	}
	if in[7] != nil && c.MySQL() {
		return nil, language.Faultf("%s: cancel is of PostgreSQL", fn).In("cancel").Do("take it out: MySQL works on at a statement whose time is over")
	}
	cancels, err := builtin.Flag(fn, "cancel", in[7], true)
	if !cancels {
		c.Late = SQLWorksOn
	}
	out.of = c
	if err == nil && in[8] != nil {
		out.of.PublicKey, err = sqlPublicKey(fn, c.MySQL(), in[8])
	}
	if err != nil {
		return nil, err
	}
	return out, c.Target.Shares(fn, in[9])
}

// SQLAddress takes what the URL of a database says.
func SQLAddress(fn, url string) (SQL, error) { return sqlURL(fn, starlark.String(url), nil, nil) }

// sqlURL takes what a URL says, and how its connections are secured.
func sqlURL(fn string, url, mode, options starlark.Value) (c SQL, err error) {
	words, err := sqlWordsOf(fn, url, mode)
	if err != nil {
		return c, err
	}
	url = words.rest
	t, err := sqlSchemesOf(url).Read(fn, url)
	if err != nil {
		return c, err
	}
	c = SQL{Target: t, User: t.User, Password: t.Password, Database: t.Path}
	t.User, t.Password = "", ""
	if err = c.Secure.secures(fn, words.mode, options); err == nil && words.direct {
		err = c.Secure.begins(fn, c.MySQL())
	}
	return c, err
}

// sqlTarget reads a URL, or the result of sql.client.
func sqlTarget(fn string, v starlark.Value) (s SQL, err error) {
	if c, ok := v.(*sqlValue); ok {
		s = c.of
		for i, to := range []*string{&s.User, &s.Password} {
			if c.proves[i] != nil && err == nil {
				*to, _, err = sentText(c.proves[i]) // a function's secrets have values
			}
		}
		if err == nil {
			err = s.Secure.SentKey(c.key)
		}
		return s, err
	}
	if _, ok := v.(starlark.String); !ok && v != nil {
		return s, language.WrongType(fn, "target", "a URL or the result of sql.client", v).Do("write %s(\"postgres://app@host/shop\", ...)", fn)
	}
	if s, err = sqlURL(fn, v, nil, nil); err != nil {
		return s, err
	}
	if s.User == "" {
		return s, language.Faultf("%s: the URL has no user", fn).In("target").Do("write %s(\"postgres://app@host/shop\", ...)", fn)
	}
	return s, nil
}

// SQLNamespace is sql and vu.sql: query asks one statement, batch several at once, and copy moves rows.
func SQLNamespace(under string, own []string, use Use) *language.Namespace {
	members := starlark.StringDict{}
	for _, verb := range []string{"batch", "copy", "query"} {
		members[verb] = (&sqlVerb{under: under, own: own, use: use}).named(verb)
	}
	if under == "sql" {
		members["client"] = &guard.Func{Word: "client", Call: newSQLClient}
	}
	return language.NewNamespace(under, members)
}

// sqlVerb makes the functions that ask a database.
type sqlVerb struct {
	under  string
	own    []string
	use    Use
	within *SQL // of a transaction: where it is; nil: the first argument says where
}

// named is query, batch or copy.
func (v *sqlVerb) named(verb string) *guard.Func {
	needs := 2
	names := SQLArguments(verb == "batch")
	if verb == "copy" {
		names, needs = SQLCopyArguments(), 3
	}
	if v.within != nil {
		needs--
		names = slices.DeleteFunc(names, func(name string) bool { return name == "target" || name == "retry" || name == "transaction" })
	}
	names, fn := append(names, v.own...), v.under+"."+verb
	return &guard.Func{Word: verb, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, needs, args, kwargs, in); err != nil {
			return nil, err
		}
		of := func(name string) starlark.Value {
			if at := slices.Index(names, name); at >= 0 {
				return in[at]
			}
			return nil
		}
		q := sqlRequest{thread: thread, fn: fn}
		if v.within != nil {
			q.of, q.of.Part = *v.within, session.PartWithin
		} else if err := q.begin(of("target")); err != nil {
			return nil, err
		}
		if err := q.asks(verb, of); err != nil {
			return nil, q.b.Explain(err)
		}
		var err error
		if q.of.Transaction, err = builtin.Flag(fn, "transaction", of("transaction"), false); err != nil {
			return nil, err
		}
		return q.end(of("timeout"), of("retry"), in[len(names)-len(v.own):], v.use)
	}}
}

// sqlRequest makes a request of statements.
type sqlRequest struct {
	thread *starlark.Thread
	fn     string
	of     SQL
	b      *Placeholders
	size   int
}

func (q *sqlRequest) begin(target starlark.Value) (err error) {
	if q.of, err = sqlTarget(q.fn, target); err != nil {
		return err
	}
	if w := wordsOf(q.thread); w != nil {
		q.b = &Placeholders{words: w, thread: q.thread}
	}
	return nil
}

// asks reads what a verb asks.
func (q *sqlRequest) asks(verb string, of func(name string) starlark.Value) error {
	switch verb {
	case "batch":
		return q.batch(of("statements"))
	case "copy":
		return q.copy(of("statement"), of("data"))
	}
	if of("statement") == nil {
		return language.Faultf("%s: the statement is missing", q.fn).Do("write %s(%s\"select 1\")", q.fn, q.to())
	}
	return q.add("statement", "args", of("statement"), of("args"))
}

// to is what stands before a statement in an example.
func (q *sqlRequest) to() string {
	if q.of.Part != session.PartNone {
		return ""
	}
	return "db, "
}

// batch reads the statements of a batch: texts, or pairs of a text and its arguments.
func (q *sqlRequest) batch(given starlark.Value) error {
	example := "write " + q.fn + "(" + q.to() + "[(\"insert into t values ($1)\", [1]), \"select 1\"])"
	q.of.Batch = true
	if given == nil {
		return language.Faultf("%s: the statements are missing", q.fn).Do("%s", example)
	}
	list, err := language.List(q.fn, "statements", "texts, or of pairs of a text and its arguments", given)
	if err != nil {
		return err
	}
	if len(list) == 0 || len(list) > sqlStatementsMax {
		return language.Faultf("%s has %d statements, one batch has 1 to %d", q.fn, len(list), sqlStatementsMax).In("statements").Do("%s", example)
	}
	for i, one := range list {
		name := "statements[" + strconv.Itoa(i) + "]"
		var args starlark.Value
		if _, ok := one.(starlark.String); !ok {
			pair, err := language.List(q.fn, name, "a text and its arguments", one)
			if err != nil {
				return err
			}
			if len(pair) != 2 {
				return language.Faultf("%s: %s has %d parts", q.fn, name, len(pair)).In("statements").At(i).Do("%s", example)
			}
			one, args = pair[0], pair[1]
		}
		if err := q.add(name, name, one, args); err != nil {
			return err
		}
	}
	return nil
}

// copy reads a statement that copies, and the rows that it copies into a table.
func (q *sqlRequest) copy(statement, data starlark.Value) error {
	if statement == nil {
		return language.Faultf("%s: the statement is missing", q.fn).Do("write %s(db, \"copy t from stdin csv\", file(\"rows.csv\"))", q.fn)
	}
	if q.of.MySQL() {
		return language.Faultf("%s copies rows of PostgreSQL alone: MySQL's LOAD DATA LOCAL is not there", q.fn).In("target").Do("insert them: sql.batch(db, [(\"insert into t values (?)\", [1])])")
	}
	q.of.Copy, q.of.Mode = true, SQLSimple // COPY takes no parameter
	if err := q.add("statement", "statement", statement, nil); err != nil {
		return err
	}
	text := strings.Join(strings.Fields(strings.ToLower(q.of.Statements[0].Text)), " ")
	takes, gives := strings.Contains(text, "from stdin"), strings.Contains(text, "to stdout")
	switch {
	case !strings.HasPrefix(text, "copy ") || takes == gives:
		return language.Faultf("%s: the statement copies neither from stdin nor to stdout", q.fn).In("statement").Do("write \"copy t from stdin csv\" or \"copy t to stdout csv\"; other statements go into sql.query")
	case takes && data == nil:
		return language.Faultf("%s copies from stdin and has no data", q.fn).In("statement").Do("write %s(db, \"copy t from stdin csv\", file(\"rows.csv\"))", q.fn)
	case gives && data != nil:
		return language.Faultf("%s copies to stdout and has data", q.fn).In("data").Do("take data out")
	case gives:
		return nil
	}
	if f, ok := data.(*File); ok {
		if q.of.File = f; f.Size > sqlBytesMax {
			return language.Faultf("%s: data has %s, at most %d MiB fit", q.fn, guard.Size(f.Size), sqlBytesMax>>20).In("data").Do("cut the file, and make a step of each part")
		}
		q.size += int(f.Size)
		return nil
	}
	rows, err := builtin.Content(q.fn, "data", data, sqlBytesMax)
	if err != nil {
		return err
	}
	if q.b != nil && strings.Contains(rows, "${") {
		return language.Faultf("%s: data has ${ in it, and is sent as it is", q.fn).In("data").Do("take it out, or insert rows by sql.query with args")
	}
	q.of.Data = []byte(rows)
	q.size += len(rows)
	return nil
}

// add reads a statement and its arguments.
func (q *sqlRequest) add(name, argument string, statement, given starlark.Value) error {
	text, ok := statement.(starlark.String)
	if !ok {
		return language.WrongType(q.fn, name, "a text", statement).Do("values go into args, for $1 and so on")
	}
	s := SQLStatement{Text: string(text)}
	switch {
	case strings.TrimSpace(s.Text) == "":
		return language.Faultf("%s: %s is empty", q.fn, name).In(name).Do("write \"select 1\"")
	case len(s.Text) > sqlTextMax:
		return language.Faultf("%s: %s has %d bytes, at most %d fit", q.fn, name, len(s.Text), sqlTextMax).In(name)
	case strings.Contains(s.Text, "\x00"):
		return language.Faultf("%s: %s has a NUL in it", q.fn, name).In(name).Do("take it out: no statement has one")
	case q.b != nil && strings.Contains(s.Text, "${"):
		return language.Faultf("%s: %s has ${ in it, and values do not stand in SQL", q.fn, name).In(name).Do("write %s in the statement, and args = [\"${name}\"]", q.of.mark())
	}
	if given != nil {
		list, err := language.List(q.fn, argument, "values", given)
		if err != nil {
			return err
		}
		if len(list) > sqlArgumentsMax {
			return language.Faultf("%s: %s has %d values, at most %d fit", q.fn, argument, len(list), sqlArgumentsMax).In(argument)
		}
		for _, v := range list {
			a, err := q.argument(argument, v)
			if err != nil {
				return err
			}
			s.Args = append(s.Args, a)
		}
	}
	switch wants := q.of.parameters(s.Text); {
	case q.of.Copy && wants > 0:
		return language.Faultf("%s: the statement names $%d, and COPY takes no arguments", q.fn, wants).In(name).Do("write the value out")
	case q.of.Mode == SQLSimple && (wants > 0 || len(s.Args) > 0):
		return language.Faultf("%s: %s has arguments, and simple statements take none", q.fn, name).In(name).Do("write statements = \"unnamed\" in sql.client: it prepares nothing either")
	case wants != len(s.Args) && q.of.MySQL():
		return language.Faultf("%s: %s has %d question marks, and %d arguments", q.fn, name, wants, len(s.Args)).In(argument).Do("give each of them one value")
	case wants != len(s.Args):
		return language.Faultf("%s: %s names $1 to $%d, and has %d arguments", q.fn, name, wants, len(s.Args)).In(argument).Do("give each of them one value")
	}
	if q.size += len(s.Text) + 32*len(s.Args); q.size > sqlBytesMax {
		return language.Faultf("%s sends more than %d MiB", q.fn, sqlBytesMax>>20).In(name)
	}
	q.of.Statements = append(q.of.Statements, s)
	return nil
}

// argument reads a value that stands for $1 or its like.
func (q *sqlRequest) argument(name string, v starlark.Value) (a SQLArgument, err error) {
	switch v := v.(type) {
	case starlark.NoneType:
		a.Null = true
	case starlark.String, *secret.Text:
		if a.Text, _, err = sentText(v); err == nil {
			a.Text, err = q.b.put(q.fn, name, a.Text)
		}
	case starlark.Bytes:
		if a.Text, a.Kind = `\x`+hex.EncodeToString([]byte(v)), SQLBytes; q.of.MySQL() {
			a.Text = string(v)
		}
	case starlark.Bool:
		if a.Text = strconv.FormatBool(bool(v)); q.of.MySQL() {
			a.Text, a.Kind = map[bool]string{true: "1", false: "0"}[bool(v)], SQLInteger
		}
	case starlark.Int:
		a.Text, a.Kind = v.String(), SQLInteger
	case starlark.Float:
		a.Text, a.Kind = strconv.FormatFloat(float64(v), 'g', -1, 64), SQLFloat
	default:
		return a, language.WrongType(q.fn, name, "texts, numbers, bytes, True, False or None", v).Do("for a dict or a list write json.encode(...)")
	}
	if strings.Contains(a.Text, "\x00") && !q.of.MySQL() {
		return a, language.Faultf("%s: %s has a NUL in it", q.fn, name).In(name).Do("take it out: no text of PostgreSQL has one; bytes become a bytea")
	}
	q.size += len(a.Text)
	return a, err
}

// end makes the request, which has so much time. Own are the values of the arguments of its user.
func (q *sqlRequest) end(timeout, again starlark.Value, own []starlark.Value, use Use) (starlark.Value, error) {
	of := q.of
	r := &Request{Method: of.name(), URL: of.Target.URL(), Exchange: Exchange{SQL: &of}}
	var fields [argCount]starlark.Value
	fields[argTimeout], fields[argRetry] = timeout, again
	if err := r.fields(q.fn, q.b, &fields); err != nil {
		return nil, err
	}
	if err := guard.MeterOf(q.thread).Charge(q.thread, q.size+64*len(of.Statements)+128*q.b.count()); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(own, func(v starlark.Value) bool { return v != nil }) {
		own = nil
	}
	return use(q.thread, r, q.b, own)
}

// name is what results call the request: the statement's first word, or BATCH.
func (s *SQL) name() string {
	switch {
	case s.Batch:
		return "BATCH"
	case s.Part == session.PartBegin:
		return "BEGIN"
	}
	text := strings.TrimSpace(s.Statements[0].Text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(text)
	}
	if end == 0 || end > 20 {
		return "QUERY"
	}
	return strings.ToUpper(text[:end])
}

// rewritten returns the statements with others in place of their arguments.
func (s *SQL) rewritten(fill func(string) string) *SQL {
	if s == nil {
		return nil
	}
	out := *s
	out.Statements = slices.Clone(s.Statements)
	for i := range out.Statements {
		args := slices.Clone(out.Statements[i].Args)
		for k := range args {
			args[k].Text = fill(args[k].Text)
		}
		out.Statements[i].Args = args
	}
	return &out
}

// has reports whether look holds for a text of the request that may have words of secrets in it.
func (s *SQL) has(look func(string) bool) bool {
	if s == nil {
		return false
	}
	return look(s.User) || look(s.Password) || s.Secure.TLS != nil && look(string(s.Secure.TLS.Key)) || slices.ContainsFunc(s.Statements, func(one SQLStatement) bool {
		return slices.ContainsFunc(one.Args, func(a SQLArgument) bool { return look(a.Text) })
	})
}

// SQLKind says what a value in a file is: MySQL takes the types of arguments.
type SQLKind uint8

// The kinds.
const (
	SQLText SQLKind = iota
	SQLBytes
	SQLInteger
	SQLFloat
)

const mysqlScheme = "mysql"

// MySQLSchemes are those of sql.client for MySQL and MariaDB.
func MySQLSchemes() Schemes { return Schemes{Plain: mysqlScheme, Port: 3306, User: true, Path: true} }

// sqlSchemesOf returns the schemes that a URL may have.
func sqlSchemesOf(url starlark.Value) Schemes {
	if text, ok := url.(starlark.String); ok && strings.HasPrefix(string(text), mysqlScheme+"://") {
		return MySQLSchemes()
	}
	return SQLSchemes()
}

// MySQL reports that a request goes to MySQL or MariaDB.
func (s *SQL) MySQL() bool { return s.Target != nil && s.Target.Scheme == mysqlScheme }

// Server names the server of a request.
func (s *SQL) Server() string {
	if s.MySQL() {
		return "MySQL"
	}
	return "PostgreSQL"
}

// mark is what stands for a value in a statement.
func (s *SQL) mark() string {
	if s.MySQL() {
		return "?"
	}
	return "$1"
}

// parameters counts the values that a statement wants.
func (s *SQL) parameters(text string) int {
	if s.MySQL() {
		return statement.Marks(text)
	}
	return statement.Parameters(text)
}
