package relational

import (
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
)

const postgresExample = "postgres://load@db.internal/load?sslmode=verify-full,password_file=/run/secrets/load"

// Postgres is the row of the table of kinds.
func Postgres() outputs.Kind {
	d := postgresDialect()
	return outputs.Kind{
		Name: "postgres", Engine: "sql", About: "tables in PostgreSQL", Place: "URL", Example: postgresExample,
		Options:  []outputs.Option{{Name: "password", Type: outputs.OptionSecret, Help: "password of the user"}, createOption()},
		Delivery: outputs.Exact, Tested: "PostgreSQL 15, through a relay that cuts, hangs and loses answers", Schema: d.printed(),
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			at, err := serverOf(s, postgresExample, "5432", "postgres", "postgresql")
			if err != nil {
				return nil, err
			}
			return newSink(postgresDialect(), at.openPostgres, s.Bool("create"), postgresLock), nil
		},
		ReadBack: func(s *outputs.Settings, job string) ([]outputs.Row, error) {
			at, err := serverOf(s, postgresExample, "5432", "postgres", "postgresql")
			if err != nil {
				return nil, err
			}
			return readServer(postgresDialect(), at.openPostgres, job)
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
			ofJSON:    func(s string) string { return strings.ReplaceAll(s, `\u0000`, `\ufffd`) },
		},
	}
}
