package history

import (
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"hyperscale/runtime/outputs/relational"
)

// base is what differs between the databases that hold a history.
type base struct {
	tables string                              // counts the tables
	marked string                              // reads what marks a history; empty: the names of its tables do
	schema []string                            // makes them
	lock   string                              // begins a transaction that writes; empty: the database locks by itself
	bytes  func([]byte) ([]byte, error)        // of a column of bytes
	bound  func(*Store, *sql.Tx, string) error // removes what is beyond the bounds
	vacuum string                              // gives back what removed runs took; empty: the database does
}

// ownFile is a file of SQLite.
var ownFile = base{
	tables: "SELECT count(*) FROM sqlite_schema",
	marked: "PRAGMA application_id",
	schema: []string{schema + fmt.Sprintf("PRAGMA application_id = %d;", applicationID)},
	bytes:  func(b []byte) ([]byte, error) { return b, nil },
	bound:  (*Store).bound,
	vacuum: "PRAGMA incremental_vacuum",
}

// team is a database of PostgreSQL. Its tables stand in a schema of their own, since outputs have tables of these names.
var team = base{
	tables: "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'hyperscale_history'",
	schema: teamSchema(),
	lock:   "SELECT pg_advisory_xact_lock(7526752397670245752)",
	bytes:  relational.Bytes,
	// A team's runs go when a command prunes them.
	bound: func(*Store, *sql.Tx, string) error { return nil },
}

// teamTable is a table of a history as statements name it.
var teamTable = regexp.MustCompile(`\bhyperscale_(run|result|threshold|file|schema)\b`)

// qualified names the tables of a history in a team's database.
func qualified(statement string) string {
	return teamTable.ReplaceAllString(statement, "hyperscale_history.$1")
}

// teamSchema is the schema with the types of PostgreSQL.
func teamSchema() []string {
	text := strings.NewReplacer(
		" WITHOUT ROWID", "", "BLOB", "bytea", "REAL", "double precision",
		"saturated INTEGER", "saturated boolean", "thresholds_ok INTEGER", "thresholds_ok boolean", "met INTEGER", "met boolean",
		"INTEGER", "bigint", "INDEX hyperscale_run_series", "INDEX run_series",
	).Replace(schema)
	all := []string{"CREATE SCHEMA IF NOT EXISTS hyperscale_history"}
	for _, one := range strings.Split(text, ";") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// IsDatabase reports whether a history is in a team's database, and in no file.
func IsDatabase(at string) bool {
	return strings.HasPrefix(at, "postgres://") || strings.HasPrefix(at, "postgresql://")
}

// openTeam opens a history in a database, and makes its tables if there are none.
func openTeam(at string) (*Store, error) {
	db, err := relational.OpenPostgres(at, qualified)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &Store{db: db, base: team, file: place(at)}, nil
}

// place is an address without its options, and without a password.
func place(at string) string {
	if !IsDatabase(at) {
		return at
	}
	at, _, _ = strings.Cut(at, ",")
	u, err := url.Parse(at)
	if err != nil {
		return "in a database"
	}
	return u.Redacted()
}
