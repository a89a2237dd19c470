package relational

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mysql"
)

const mysqlExample = "mysql://load@db.internal/load?sslmode=verify-full,password_file=/run/secrets/load"

// MySQL is the row of the table of kinds.
func MySQL() outputs.Kind {
	d := mysqlDialect()
	return outputs.Kind{
		Name: "mysql", Engine: "sql", About: "tables in MySQL or MariaDB", Place: "URL", Example: mysqlExample,
		Options:  []outputs.Option{{Name: "password", Type: outputs.OptionSecret, Help: "password of the user"}, createOption()},
		Delivery: outputs.Exact, Limits: outputs.Limits{Rows: 200}, Tested: "MariaDB 10.11, through a relay that refuses, hangs, cuts and loses answers", Schema: "-- MariaDB: write " + collationMariaDB + " for " + collationMySQL + ".\n" + d.printed(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := serverOf(s, mysqlExample, "3306", "mysql", "mariadb")
			if err != nil {
				return nil, err
			}
			sink := newSink(mysqlDialect(), at.openMySQL, s.Bool("create"))
			sink.adapt = adaptMySQL
			return sink, nil
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) {
			at, err := serverOf(s, mysqlExample, "3306", "mysql", "mariadb")
			if err != nil {
				return nil, err
			}
			return readServer(mysqlDialect(), at.openMySQL, job)
		},
	}
}

// The collations by which "x" and "x " are two keys: utf8mb4_bin ignores spaces at an end.
const (
	collationMySQL   = "utf8mb4_0900_bin" // from 8.0.17
	collationMariaDB = "utf8mb4_nopad_bin"
)

// mysqlNames are the types of texts in keys. An index of InnoDB has at most 3,072 bytes, so longer names are rejected.
func mysqlNames(collation string) map[string]string {
	name := func(most int) string {
		return fmt.Sprintf("varchar(%d) CHARACTER SET utf8mb4 COLLATE %s", most, collation)
	}
	return map[string]string{"job": name(32), "datacenter": name(128), "workflow": name(190), "step": name(255), "step_kind": mysqlStepKind, "expression": name(400)}
}

// mysqlStepKind is the type of a name of a closed set.
const mysqlStepKind = "varchar(16) CHARACTER SET ascii COLLATE ascii_bin"

// adaptMySQL chooses the collation of the server, and rejects tables of another one.
func adaptMySQL(ctx context.Context, d *dialect, db database) error {
	rows, err := db.query(ctx, statement{text: "SELECT VERSION() AS version"})
	if err != nil {
		return err
	}
	if len(rows) == 1 && strings.Contains(rows[0]["version"], "MariaDB") {
		d.named = mysqlNames(collationMariaDB)
	}
	rows, err = db.query(ctx, statement{text: "SELECT table_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'hyperscale_window' AND column_name = 'step' AND collation_name = 'utf8mb4_bin'"})
	if err == nil && len(rows) > 0 {
		err = errors.New("its tables ignore spaces at the end of names: drop or rename those whose names begin with hyperscale_")
	}
	return err
}

func mysqlDialect() dialect {
	return dialect{
		argument: func(int) string { return "?" },
		types: map[kindOf]string{
			ofText: "text CHARACTER SET utf8mb4", ofWhole: "bigint", ofSum: "decimal(20)", ofFloat: "double", ofTruth: "tinyint(1)", ofTime: "datetime(3)",
			ofVersion: "varchar(64) CHARACTER SET ascii COLLATE ascii_bin", ofJSON: "json", ofList: "json",
		},
		named: mysqlNames(collationMySQL),
		forms: map[kindOf]func(string) string{ofTime: func(s string) string { return strings.TrimSuffix(strings.Replace(s, "T", " ", 1), "Z") }},
		from:  " FROM DUAL",
		former: "SELECT table_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name IN (" + kindKeyed + ")" +
			" AND column_name = 'step_kind' AND column_key <> 'PRI' ORDER BY name",
		rekey: func(d *dialect, t *table) []string {
			return []string{fmt.Sprintf("ALTER TABLE %s MODIFY step_kind %s NOT NULL, DROP PRIMARY KEY, ADD PRIMARY KEY (%s)", t.name, mysqlStepKind, strings.Join(d.keysOf(t), ", "))}
		},
		// Assignments see those before them: the version that they compare is the old one, or the new one behind its own.
		replace: func(t *table, names []string) string {
			var sets []string
			for _, name := range names[t.keys:] {
				sets = append(sets, fmt.Sprintf("%[1]s = IF(VALUES(version) >= version, VALUES(%[1]s), %[1]s)", name))
			}
			return "ON DUPLICATE KEY UPDATE " + strings.Join(sets, ", ")
		},
	}
}

// mysqlBegins is what a session begins with: a server that is not strict cuts texts that are too long.
const mysqlBegins = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')"

// openMySQL connects and proves the user. The password is read anew each time.
func (s *server) openMySQL(ctx context.Context) (database, *failure) {
	password, fail := s.proof()
	if fail != nil {
		return nil, fail
	}
	g := mysql.New(mysql.Config{User: s.user, Database: s.database, Password: password, TLS: s.tls != nil, Random: rand.Reader, AnswerMax: answerMax}).Greet()
	w, fail := s.connect(ctx, g)
	if fail != nil {
		return nil, fail
	}
	c := w.Talk.(*mysql.Conn)
	w.judge = judgeMySQL
	w.outcome = func() ([]byte, error) { return c.Outcome().Body, c.Outcome().Err }
	w.operate = func(all []statement, keeps bool) error {
		return c.Operate(mysqlOperation(all, !keeps), mysql.Order{Keeps: keeps})
	}
	if fail := w.exec(ctx, []statement{{text: mysqlBegins}}); fail != nil {
		w.close()
		return nil, fail
	}
	return w, nil
}

func mysqlOperation(all []statement, whole bool) *mysql.Operation {
	var of []mysql.Statement
	for _, s := range all {
		one := mysql.Statement{Text: s.text}
		for _, v := range s.args {
			if v == nil {
				one.Args = append(one.Args, mysql.Argument{Kind: mysql.KindNull})
				continue
			}
			one.Args = append(one.Args, mysql.Text(*v))
		}
		of = append(of, one)
	}
	return mysql.Compile(mysql.ModePrepared, of, whole)
}

// judgeMySQL says what an error of the server means. Nothing of the transaction is there.
func judgeMySQL(err error) *failure {
	number, _ := strings.CutPrefix(string(http1.KindOf(err)), "server ")
	f := &failure{outputs.VerdictAgain, number + ": " + own(err.Error())}
	switch number {
	case "1048", "1062", "1264", "1265", "1292", "1366", "1406", "3140", "3819", "4025": // data and constraints
		f.verdict = outputs.VerdictRejected
	case "1044", "1045", "1698":
		f.verdict = outputs.VerdictDenied
	}
	return f
}
