package relational

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hyperscale/runtime/outputs"
)

// Timescale is the row of the table of kinds. Its tables of windows are hypertables over the start of the job, so that
// policies drop and compress whole jobs; a repeated row has the same start.
func Timescale() outputs.Kind {
	k := postgresKind(timescaleDialect, adaptTimescale)
	k.Name, k.About, k.Example = "timescaledb", "hypertables in TimescaleDB", postgresExample
	k.Tested = "PostgreSQL 15 with a create_hypertable of ours, which demands what TimescaleDB does; no TimescaleDB"
	return k
}

// makesHypertables is a function of the extension.
const makesHypertables = "create_hypertable"

func timescaleDialect() dialect {
	d := postgresDialect()
	d.hyper = makesHypertables
	return d
}

// adaptTimescale finds the extension, whose schema need not be in the path of the user, and rejects tables of the kind postgres.
func adaptTimescale(ctx context.Context, d *dialect, db database) error {
	rows, err := db.query(ctx, statement{text: "SELECT DISTINCT quote_ident(n.nspname) AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.proname = '" + makesHypertables + "'"})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("the database has no TimescaleDB: let a superuser run CREATE EXTENSION timescaledb there, or use the kind postgres")
	}
	d.hyper = rows[0]["name"] + "." + makesHypertables
	rows, err = db.query(ctx, statement{text: "SELECT table_name AS name FROM information_schema.tables t WHERE table_schema = current_schema() AND table_name IN ('hyperscale_window', 'hyperscale_lost')" +
		" AND NOT EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = (quote_ident(table_schema) || '.' || table_name)::regclass AND i.indisprimary AND a.attname = 'started') ORDER BY name"})
	if err != nil {
		return err
	}
	var plain []string
	for _, r := range rows {
		plain = append(plain, r["name"])
	}
	if len(plain) > 0 {
		return fmt.Errorf("the keys of %s have no started, as the kind postgres makes them: use postgres=, or another database", strings.Join(plain, " and "))
	}
	return nil
}
