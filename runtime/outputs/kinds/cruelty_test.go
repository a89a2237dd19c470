package kinds_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/files"
	"hyperscale/runtime/outputs/kinds"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/mysql/mysqltest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// places has one for each kind: a kind without one fails TestCruelty.
var places = map[string]func(t *testing.T) outputstest.Place{
	"jsonl": func(t *testing.T) outputstest.Place {
		return &file{files.JSONL(), filepath.Join(t.TempDir(), "rows.jsonl")}
	},
	"csvrows": func(t *testing.T) outputstest.Place {
		return &file{files.CSV(), filepath.Join(t.TempDir(), "rows.csv")}
	},
	"exec":     newScript,
	"postgres": newPostgres,
	"mysql":    newMySQL,
	"sqlite":   func(t *testing.T) outputstest.Place { return &lite{file: filepath.Join(t.TempDir(), "rows.db")} },
}

func TestCruelty(t *testing.T) {
	for _, k := range kinds.All() {
		t.Run(k.Name, func(t *testing.T) {
			place := places[k.Name]
			if place == nil {
				t.Fatal("no place judges this kind: add one to the table of this test")
			}
			outputstest.Cruelty(t, k, place(t))
		})
	}
}

// file is a file on a disk that works: the package's own tests break it.
type file struct {
	kind outputs.Kind
	name string
}

func (f *file) Name() string                { return f.name }
func (f *file) Misbehave(outputstest.Fault) {}
func (f *file) Can(outputstest.Fault) bool  { return false }
func (f *file) Key(r *outputs.Row) string   { return r.Key() }

func (f *file) Stored(job string) (map[string]int, error) {
	settings, err := outputs.Parse(&f.kind, f.name)
	if err != nil {
		return nil, err
	}
	rows, err := f.kind.ReadBack(settings, job)
	all := map[string]int{}
	for i := range rows {
		all[rows[i].Key()]++
	}
	return all, err
}

// script is a program that keeps the lines that it reads, and misbehaves as a file says.
type script struct{ dir string }

const scriptText = `#!/bin/sh
cd "$1"
read -r fault <fault
if [ "$fault" = dead ]; then echo "cannot start" >&2; exit 1; fi
while IFS= read -r line; do
	n=${line#*:}; n=${n%%,*}
	read -r fault <fault
	if [ "$fault" = dead ]; then echo "it ends" >&2; exit 1; fi
	fault=none
	read -r count <count; count=$((count+1)); echo $count >count
	if [ $((count%20)) = 0 ]; then read -r fault <fault; fi
	case $fault in
	cut) exit 1;;
	half) echo '{"reject":'$n',"why":"no such column"}'; echo '{"ack":'$n'}'; continue;;
	esac
	printf '%s\n' "$line" >>store
	case $fault in
	hang) sleep 60;;
	late) sleep 1;;
	"lose its answer") echo "out of memory" >&2; exit 1;;
	esac
	echo '{"ack":'$n'}'
done
`

func newScript(t *testing.T) outputstest.Place {
	s := &script{dir: t.TempDir()}
	for name, text := range map[string]string{"run.sh": scriptText, "count": "0\n", "store": ""} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.Misbehave(outputstest.FaultNone)
	return s
}

func (s *script) Name() string { return filepath.Join(s.dir, "run.sh") + " " + s.dir }

func (s *script) Misbehave(f outputstest.Fault) {
	_ = os.WriteFile(filepath.Join(s.dir, "fault"), []byte(f.String()+"\n"), 0o600) // a test without it fails
}

// Can: a program refuses a row, and no batch.
func (s *script) Can(f outputstest.Fault) bool { return f != outputstest.FaultRefuse }
func (s *script) Key(r *outputs.Row) string    { return r.Key() }

func (s *script) Stored(job string) (map[string]int, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "store"))
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for line := range strings.Lines(string(b)) {
		_, row, _ := strings.Cut(line, `"row":`)
		r, err := outputs.ParseJSON([]byte(strings.TrimSuffix(strings.TrimSpace(row), "}")))
		if err != nil {
			return nil, err
		}
		if r.Job == job {
			all[r.Key()]++
		}
	}
	return all, nil
}

// lite is a file of SQLite that another connection may hold.
type lite struct {
	file  string
	other *sql.Tx
	db    *sql.DB
}

func (l *lite) Name() string { return l.file }

// Misbehave holds the file, as another writer does, until the next call.
func (l *lite) Misbehave(f outputstest.Fault) {
	if l.other != nil {
		_ = l.other.Rollback()
		_ = l.db.Close()
		l.other = nil
	}
	if f == outputstest.FaultDead {
		l.db, _ = sql.Open("sqlite", "file:"+l.file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
		l.other, _ = l.db.Begin()
	}
}

func (l *lite) Can(f outputstest.Fault) bool { return f == outputstest.FaultDead }
func (l *lite) Key(r *outputs.Row) string    { return tableKey(r) }

func (l *lite) Stored(job string) (map[string]int, error) {
	db, err := sql.Open("sqlite", "file:"+l.file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		return nil, fmt.Errorf("integrity_check: %s, %w", verdict, err)
	}
	return storedIn(job, func(query string) ([][]string, error) {
		rows, err := db.Query(query)
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		names, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		var all [][]string
		for rows.Next() {
			row, to := make([]string, len(names)), make([]any, len(names))
			for i := range row {
				to[i] = &row[i]
			}
			if err := rows.Scan(to...); err != nil {
				return nil, err
			}
			all = append(all, row)
		}
		return all, rows.Err()
	})
}

// tableQueries read the keys, the begun requests and the version of each table.
var tableQueries = map[outputs.RowKind]string{
	outputs.RowRun:       "SELECT job FROM hyperscale_run",
	outputs.RowWindow:    "SELECT job, datacenter, workflow, step, from_ms, to_ms, begun FROM hyperscale_window",
	outputs.RowLost:      "SELECT job, datacenter, workflow, step, from_ms, to_ms, begun FROM hyperscale_lost",
	outputs.RowResult:    "SELECT job, datacenter, workflow, step, begun FROM hyperscale_result",
	outputs.RowThreshold: "SELECT job, workflow, expression FROM hyperscale_threshold",
	outputs.RowCheck:     "SELECT job, datacenter, workflow, step, passed FROM hyperscale_check",
	outputs.RowEvent:     "SELECT job, sequence FROM hyperscale_event",
}

// tableKey is what such a query reads of a row.
func tableKey(r *outputs.Row) string {
	words := []string{r.Kind.String(), r.Job}
	step := []string{r.Datacenter, r.Workflow, r.Step}
	switch r.Kind {
	case outputs.RowWindow, outputs.RowLost:
		words = append(append(words, step...), fmt.Sprint(r.From.Milliseconds()), fmt.Sprint(r.To.Milliseconds()), fmt.Sprint(r.Figures.Begun))
	case outputs.RowResult:
		words = append(append(words, step...), fmt.Sprint(r.Figures.Begun))
	case outputs.RowCheck:
		words = append(append(words, step...), fmt.Sprint(r.Figures.OK))
	case outputs.RowThreshold:
		words = append(words, r.Workflow, r.Threshold.Expression)
	case outputs.RowEvent:
		words = append(words, fmt.Sprint(r.Event.Sequence))
	}
	return strings.Join(words, "|")
}

func storedIn(job string, query func(string) ([][]string, error)) (map[string]int, error) {
	all := map[string]int{}
	for kind, text := range tableQueries {
		rows, err := query(text + " WHERE job = '" + job + "'")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all[kind.String()+"|"+strings.Join(row, "|")]++
		}
	}
	return all, nil
}

// maria is a real MariaDB behind a relay.
type maria struct {
	*outputstest.Relay
	server *mysqltest.Server
}

func newMySQL(t *testing.T) outputstest.Place {
	s := mysqltest.Start(t)
	s.Ask("create user loader@'127.0.0.1'", "create database rows_of_load", "grant all on rows_of_load.* to loader@'127.0.0.1'")
	r := outputstest.NewRelay(t, s.Address())
	r.Every = 37 // a batch is some twenty pieces
	return &maria{r, s}
}

func (m *maria) Name() string              { return "mysql://loader@" + m.Address() + "/rows_of_load" }
func (m *maria) Key(r *outputs.Row) string { return tableKey(r) }

func (m *maria) Stored(job string) (map[string]int, error) {
	return storedIn(job, func(query string) (rows [][]string, err error) {
		query = strings.Replace(query, "SELECT ", "SELECT hex(json_array(", 1) // the client escapes line ends
		query = strings.Replace(query, " FROM ", ")) FROM rows_of_load.", 1)
		for line := range strings.Lines(m.server.Ask(query)) {
			text, err := hex.DecodeString(strings.TrimSpace(line))
			if err != nil {
				return nil, err
			}
			row, err := cellsOf(text)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}

// cellsOf are the texts of a list of JSON.
func cellsOf(b []byte) (row []string, err error) {
	var cells []any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&cells); err != nil {
		return nil, err
	}
	for _, c := range cells {
		row = append(row, fmt.Sprint(c))
	}
	return row, nil
}

// pg is a real PostgreSQL behind a relay.
type pg struct {
	*outputstest.Relay
	server *postgrestest.Server
}

func newPostgres(t *testing.T) outputstest.Place {
	return newPG(t, postgrestest.Start(t))
}

func newPG(t *testing.T, s *postgrestest.Server, before ...string) outputstest.Place {
	s.Ask("shop", append(before, "create role load login", "create schema load authorization load", "alter role load set search_path = load")...)
	return &pg{outputstest.NewRelay(t, s.Address()), s}
}

func (p *pg) Name() string              { return "postgres://load@" + p.Address() + "/shop" }
func (p *pg) Key(r *outputs.Row) string { return tableKey(r) }

func (p *pg) Stored(job string) (map[string]int, error) {
	return storedIn(job, func(query string) (rows [][]string, err error) {
		// JSON, since names have line ends.
		query = strings.Replace(query, "SELECT ", "SELECT json_build_array(", 1)
		query = strings.Replace(query, " FROM ", ") FROM load.", 1)
		for line := range strings.Lines(p.server.Ask("shop", query)) {
			row, err := cellsOf([]byte(line))
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}
