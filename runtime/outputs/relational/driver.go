package relational

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/postgres"
)

// statementMax is how long a statement may take.
const statementMax = 30 * time.Second

// OpenPostgres opens a database for what keeps more than rows. The place is that of the kind: URL[,password_file=FILE]. Before a
// statement is sent, rewrite changes its text; a ? is its next argument. No connection is opened yet.
func OpenPostgres(place string, rewrite func(string) string) (*sql.DB, error) {
	kind := Postgres()
	kind.Options = kind.Options[:1] // the password
	for _, o := range outputs.CommonOptions() {
		if strings.Contains(place, ","+o.Name+"=") {
			return nil, fmt.Errorf("%s is an option of outputs: leave it out; password_file and password_env are the options here", o.Name)
		}
	}
	s, err := outputs.Parse(&kind, place)
	if err != nil {
		return nil, err
	}
	at, err := serverOf(s, postgresExample, "5432", "postgres", "postgresql")
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(&connector{at, rewrite}), nil
}

// Bytes reads a column of bytes, which arrives as text.
func Bytes(text []byte) ([]byte, error) {
	digits, ok := bytes.CutPrefix(text, []byte(`\x`))
	if !ok {
		return nil, errors.New("the column has no bytes in hexadecimal digits")
	}
	b := make([]byte, hex.DecodedLen(len(digits)))
	_, err := hex.Decode(b, digits)
	return b, err
}

// connector opens connections for database/sql.
type connector struct {
	at      *server
	rewrite func(string) string
}

func (c *connector) Driver() driver.Driver { return nil }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, statementMax)
	defer cancel()
	db, fail := c.at.openPostgres(ctx)
	if fail != nil {
		return nil, errors.New(fail.why)
	}
	return &session{connection: db.(*connection), rewrite: c.rewrite}, nil
}

// session is one connection, whose statements and transactions database/sql orders.
type session struct {
	*connection
	rewrite func(string) string
	broken  bool
}

func (s *session) Close() error {
	s.close()
	return nil
}

func (s *session) IsValid() bool { return !s.broken }

func (s *session) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("a statement is not prepared: a pooler of transactions would lose it")
}

func (s *session) Begin() (driver.Tx, error) {
	_, err := s.ExecContext(context.Background(), "BEGIN", nil)
	return s, err
}

func (s *session) Commit() error {
	_, err := s.ExecContext(context.Background(), "COMMIT", nil)
	return err
}

func (s *session) Rollback() error {
	_, err := s.ExecContext(context.Background(), "ROLLBACK", nil)
	return err
}

func (s *session) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	_, err := s.do(ctx, query, args, false)
	return driver.ResultNoRows, err
}

func (s *session) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	body, err := s.do(ctx, query, args, true)
	if err != nil {
		return nil, err
	}
	return decodeRows(body)
}

// do sends one statement and waits for its end.
func (s *session) do(ctx context.Context, query string, args []driver.NamedValue, keeps bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, statementMax)
	defer cancel()
	one := postgres.Statement{Text: numbered(s.rewrite(query))}
	for i := range args {
		one.Args = append(one.Args, textOf(args[i].Value))
	}
	operation := postgres.Compile(postgres.ModeUnnamed, []postgres.Statement{one}, false)
	s.operate = func([]statement, bool) error {
		return s.Talk.(*postgres.Conn).Operate(operation, postgres.Order{Keeps: keeps})
	}
	a, _, err := s.ask(ctx, nil, keeps)
	switch {
	case err != nil:
		s.broken = true
		return nil, errors.New(own(err.Error()))
	case a.err != nil:
		return nil, errors.New(judgePostgres(a.err).why)
	}
	return a.body, nil
}

// numbered gives each ? of a statement its number.
func numbered(query string) string {
	var out strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			out.WriteString("$" + strconv.Itoa(i))
		}
		out.WriteString(part)
	}
	return out.String()
}

// textOf is an argument; nil: NULL.
func textOf(v driver.Value) postgres.Argument {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		return postgres.Text(strconv.FormatInt(v, 10))
	case float64:
		return postgres.Text(strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		return postgres.Text(strconv.FormatBool(v))
	case []byte:
		return postgres.Text(`\x` + hex.EncodeToString(v))
	case time.Time:
		return postgres.Text(v.UTC().Format(time.RFC3339Nano))
	}
	text := v.(string)
	if utf8.ValidString(text) && !strings.Contains(text, "\x00") { // it may be one that was read back, and is escaped already
		return postgres.Text(text)
	}
	return postgres.Text(outputs.TextWithoutNUL(text)) // a file's name may be any bytes
}

// answered is an answer: rows in the order of the columns.
type answered struct {
	columns []string
	rows    [][]driver.Value
}

// decodeRows reads what the codec shows of an answer: objects whose members stand in the order of the columns, and of
// which two may have one name.
func decodeRows(body []byte) (*answered, error) {
	t := &answered{}
	if len(body) == 0 {
		return t, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		var row []driver.Value
		var columns []string
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			var v any
			if err := d.Decode(&v); err != nil {
				return nil, err
			}
			if n, ok := v.(json.Number); ok {
				v = n.String()
			}
			columns, row = append(columns, name.(string)), append(row, v)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		t.columns, t.rows = columns, append(t.rows, row)
	}
	return t, nil
}

func (t *answered) Columns() []string { return t.columns }

func (t *answered) Close() error { return nil }

func (t *answered) Next(dest []driver.Value) error {
	if len(t.rows) == 0 {
		return io.EOF
	}
	copy(dest, t.rows[0])
	t.rows = t.rows[1:]
	return nil
}
