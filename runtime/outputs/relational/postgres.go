package relational

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
)

const postgresExample = "postgres://load@db.internal/load?sslmode=verify-full,password_file=/run/secrets/load"

// Postgres is the row of the table of kinds.
func Postgres() outputs.Kind {
	k := postgresKind(postgresDialect, nil)
	k.Name, k.About, k.Example = "postgres", "tables in PostgreSQL", postgresExample
	k.Tested = "PostgreSQL 15, through a relay that cuts, hangs and loses answers"
	return k
}

// postgresKind is what all kinds have whose server speaks as PostgreSQL does. Adapt suits the dialect to the server; nil: it
// suits each.
func postgresKind(of func() dialect, adapt func(context.Context, *dialect, database) error) outputs.Kind {
	d := of()
	return outputs.Kind{
		Engine: "sql", Place: "URL", Delivery: outputs.Exact, Schema: d.printed(),
		Options: []outputs.Option{{Name: "password", Type: outputs.OptionSecret, Help: "password of the user"}, createOption()},
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := serverOf(s, postgresExample, "5432", "postgres", "postgresql")
			if err != nil {
				return nil, err
			}
			to := newSink(of(), at.openPostgres, s.Bool("create"), postgresLock)
			to.adapt = adapt
			return to, nil
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) {
			at, err := serverOf(s, postgresExample, "5432", "postgres", "postgresql")
			if err != nil {
				return nil, err
			}
			return readServer(of(), at.openPostgres, job)
		},
	}
}

// postgresLock lets one command at a time make the tables: two at once would fail.
const postgresLock = "SELECT pg_advisory_xact_lock(7526752397670245751)"

func postgresDialect() dialect {
	return dialect{
		argument: func(n int) string { return "$" + strconv.Itoa(n) },
		types: map[kindOf]string{
			ofText: "text", ofWhole: "bigint", ofSum: "numeric", ofFloat: "double precision", ofTruth: "boolean", ofTime: "timestamptz", ofVersion: "bytea", ofJSON: "jsonb", ofList: "bigint[]",
		},
		forms: map[kindOf]func(string) string{
			ofList:    func(s string) string { return "{" + strings.Trim(s, "[]") + "}" },
			ofVersion: func(s string) string { return `\x` + s },
		},
		former: "SELECT c.relname AS name FROM pg_class c WHERE c.oid IN (SELECT to_regclass(n) FROM unnest(ARRAY[" + kindKeyed + "]) n)" +
			" AND NOT EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'step_kind') ORDER BY name",
		rekey: func(d *dialect, t *table) []string {
			return []string{fmt.Sprintf("ALTER TABLE %[1]s DROP CONSTRAINT %[1]s_pkey, ADD PRIMARY KEY (%[2]s)", t.name, strings.Join(d.keysOf(t), ", "))}
		},
	}
}
