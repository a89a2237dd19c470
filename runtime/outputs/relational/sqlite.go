package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"modernc.org/sqlite" // the driver
	sqlite3 "modernc.org/sqlite/lib"

	"hyperscale/runtime/outputs"
)

// createOption is of all databases.
func createOption() outputs.Option {
	return outputs.Option{Name: "create", Type: outputs.OptionBool, Default: "true", Help: "make the tables if they are not there"}
}

// SQLite is the row of the table of kinds.
func SQLite() outputs.Kind {
	d := sqliteDialect()
	return outputs.Kind{
		Name: "sqlite", Engine: "sql", About: "tables in a file of SQLite", Place: "FILE", Example: "runs.db",
		Options: []outputs.Option{createOption()}, Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 2000},
		Tested: "its own reader and integrity_check, with writers beside it", Schema: d.printed(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			return newSink(sqliteDialect(), func(ctx context.Context) (database, *failure) { return openSQLite(ctx, s.Place) }, s.Bool("create")), nil
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) {
			db, err := readSQLite(s.Place)
			if err != nil {
				return nil, err
			}
			defer db.close()
			d := sqliteDialect()
			return readBack(context.Background(), &d, db, job)
		},
	}
}

func sqliteDialect() dialect {
	return dialect{
		argument: func(int) string { return "?" }, forms: map[kindOf]func(string) string{ofSum: cut}, types: map[kindOf]string{
			ofText: "TEXT", ofWhole: "INTEGER", ofSum: "INTEGER", ofFloat: "REAL", ofTruth: "INTEGER", ofTime: "TEXT", ofVersion: "TEXT", ofJSON: "TEXT", ofList: "TEXT",
		},
		former: "SELECT m.name AS name FROM sqlite_master m WHERE m.type = 'table' AND m.name IN (" + kindKeyed + ")" +
			" AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) i WHERE i.name = 'step_kind' AND i.pk > 0) ORDER BY name",
		rekey: copies,
	}
}

// copies moves rows to a table with the new key, as SQLite changes no key.
func copies(d *dialect, t *table) []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	all := strings.Join(names, ", ")
	return []string{
		"BEGIN IMMEDIATE", fmt.Sprintf("ALTER TABLE %[1]s RENAME TO %[1]s_former", t.name), d.creates(t),
		fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM %[1]s_former", t.name, all), "DROP TABLE " + t.name + "_former", "COMMIT",
	}
}

// cut ends a sum at 2^63-1: SQLite has no greater whole number.
func cut(sum string) string {
	n, _ := strconv.ParseUint(sum, 10, 64) // total has written it
	return *whole(n)
}

// historyID marks a file of runtime/history, which has other tables under these names.
const historyID = 0x68797363

// lite is a file of SQLite.
type lite struct{ db *sql.DB }

func openSQLite(ctx context.Context, file string) (database, *failure) {
	fail := func(err error) (database, *failure) {
		return nil, &failure{outputs.VerdictAgain, fmt.Sprintf("%v: name a file on a disk of this machine", err)}
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stat(filepath.Dir(whole)); errors.Is(err, fs.ErrNotExist) {
		return nil, &failure{outputs.VerdictAgain, fmt.Sprintf("folder %s does not exist: create it first", filepath.Dir(file))}
	}
	if onNetwork(filepath.Dir(whole)) {
		return nil, &failure{outputs.VerdictAgain, "it is on a file system of another machine, where locks do not hold: name a file on a disk of this one"}
	}
	f, err := os.OpenFile(whole, os.O_RDWR|os.O_CREATE, 0o600) // its owner alone reads a new one
	if err != nil {
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	at := url.URL{Scheme: "file", Path: whole, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return fail(err)
	}
	db.SetMaxOpenConns(1)
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		_ = db.Close() // it was not used
		return nil, judgeSQLite(err)
	}
	if id == historyID {
		_ = db.Close()
		return nil, &failure{outputs.VerdictDenied, "it is a history of runs, whose tables have the same names: name another file"}
	}
	return &lite{db}, nil
}

// readSQLite opens a file to read it alone: it makes none, and changes nothing.
func readSQLite(file string) (database, error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(whole); err != nil {
		return nil, err
	}
	at := url.URL{Scheme: "file", Path: whole, RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &lite{db}, nil
}

func (l *lite) close() { _ = l.db.Close() } // each transaction is on disk

func (l *lite) exec(ctx context.Context, all []statement) *failure {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return judgeSQLite(err)
	}
	for _, s := range all {
		args := make([]any, len(s.args))
		for i, v := range s.args {
			if v != nil {
				args[i] = *v
			}
		}
		if _, err := tx.ExecContext(ctx, s.text, args...); err != nil {
			_ = tx.Rollback() // it ends with the connection, too
			return judgeSQLite(err)
		}
	}
	if err := tx.Commit(); err != nil {
		return judgeSQLite(err)
	}
	return nil
}

// judgeSQLite says what an error means for a batch. Nothing of a transaction that fails is there.
func judgeSQLite(err error) *failure {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return &failure{outputs.VerdictAgain, err.Error()}
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return &failure{outputs.VerdictRejected, err.Error()}
	case sqlite3.SQLITE_NOTADB:
		return &failure{outputs.VerdictAgain, "it is no file of SQLite: name another file"}
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return &failure{outputs.VerdictAgain, "another process has held it for 5s"}
	}
	return &failure{outputs.VerdictAgain, err.Error()}
}

func (l *lite) query(ctx context.Context, s statement) (all []map[string]string, err error) {
	args := make([]any, len(s.args))
	for i, v := range s.args {
		args[i] = *v
	}
	rows, err := l.db.QueryContext(ctx, s.text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		cells, to := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, c := range cells {
			if c.Valid {
				row[names[i]] = c.String
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
