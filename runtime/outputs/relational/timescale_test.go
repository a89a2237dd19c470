package relational

import (
	"strings"
	"testing"

	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
)

// The keys of what becomes a hypertable have its time, wherever the extension is; all else is as in PostgreSQL.
func TestTimescale(t *testing.T) {
	server := postgrestest.Start(t)
	server.Ask("shop", "create role load login", "grant create on schema public to load")
	if err := checked(Timescale(), server.URL("load")); err == nil || !strings.Contains(err.Error(), "CREATE EXTENSION timescaledb") {
		t.Errorf("a database without the extension: %v", err)
	}
	server.Ask("shop", outputstest.Hypertables()...)
	comesBack(t, Timescale(), server.URL("load"))
	if got, want := server.Ask("shop", `select of, by from "Time".hypertables order by of::text`), "hyperscale_lost|started\nhyperscale_window|started"; got != want {
		t.Errorf("hypertables are %q, want %q", got, want)
	}
	opened(t, Timescale(), server.URL("load")) // once more, and by a user who may make no tables
	opened(t, Timescale(), server.URL("load")+",create=false")
	server.Ask("shop", "create role elder login", "create schema elder authorization elder", "alter role elder set search_path = elder")
	db, fail := serverAt(t, Timescale(), server.URL("elder"), "postgres").openPostgres(t.Context())
	if fail != nil {
		t.Fatal(fail.why)
	}
	d := timescaleDialect()
	if err := adaptTimescale(t.Context(), &d, db); err != nil {
		t.Fatal(err)
	}
	elder(t, Timescale(), server.URL("elder"), d, db, func(lines string) { server.Ask("shop", "set role elder; set search_path = elder;"+lines) })
	server.Ask("shop", "create schema plain authorization load", "alter role load set search_path = plain")
	opened(t, Postgres(), server.URL("load"))
	err := checked(Timescale(), server.URL("load"))
	if err == nil || !strings.Contains(err.Error(), "the keys of hyperscale_lost and hyperscale_window have no started") {
		t.Errorf("tables of the kind postgres: %v", err)
	}
}

// What a user runs by hand makes the same tables.
func TestTimescaleSchema(t *testing.T) {
	server := postgrestest.Start(t)
	server.Ask("shop", outputstest.Hypertables()...)
	server.Ask("shop", "create role load login", `alter role load set search_path = public, "Time"`, "grant create on schema public to load",
		"set role load; set search_path = public, \"Time\"; "+Timescale().Schema)
	comesBack(t, Timescale(), server.URL("load")+",create=false")
}
