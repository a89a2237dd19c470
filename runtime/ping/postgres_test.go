package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
)

// A server tells what it is and answers a statement, in TLS, too; a failure says what to do.
func TestPostgres(t *testing.T) {
	s := postgrestest.Start(t)
	at17, _ := s.Relay(postgres.ALPN)
	at15, _ := s.Relay()
	for _, tt := range []struct {
		user, password string
		tls, insecure  bool
		kind           http1.Kind
		want           []string
		direct         string // the server that takes TLS at once; empty: another one
	}{
		{"app", "", false, false, "", []string{"QUERY postgres://" + s.Address() + "/shop\n", "server    PostgreSQL 1", "greeting  protocol PostgreSQL 3.0, user app without a proof, after", "select 1 was answered after"}, ""},
		{"scram", postgrestest.Password, false, false, "", []string{"user scram by scram-sha-256, after"}, ""},
		{"plus", postgrestest.Password, true, true, "", []string{"user plus by scram-sha-256-plus, after", "TLS 1.3", "NOT TRUSTED", "  tls  "}, ""},
		{"app", "", true, false, http1.KindTLSAuthority, []string{"NOT TRUSTED", "FAILED    tls_authority"}, ""},
		{"scram", "falsch", false, false, http1.KindAuth, []string{"FAILED    auth: 28P01"}, ""},
		{"scram", "", false, false, http1.KindAuth, []string{"asks for a password"}, ""},
		{"plus", postgrestest.Password, false, false, http1.KindAuth, []string{"sslmode"}, ""},
		{"app", "", true, true, "", []string{"user app without a proof", "TLS 1.3", "postgresql"}, at17},
		{"app", "", true, true, http1.KindTLS, []string{"sslnegotiation=direct needs PostgreSQL 17"}, at15},
	} {
		address := s.Address()
		if tt.direct != "" {
			address = tt.direct
		}
		r, err := ping.Run(context.Background(), ping.Config{Request: http1.Request{Method: "GET", URL: "http://" + address + "/"}, Timeout: 10 * time.Second, Insecure: tt.insecure, Resolver: resolver(""),
			Greeted: ping.Greeted{Postgres: &postgres.Config{User: tt.user, Password: tt.password, Database: "shop", TLS: tt.tls, Direct: tt.direct != ""}}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Print(&b, 80); err != nil {
			t.Fatal(err)
		}
		if r.OK() != (tt.kind == "") || r.Kind != string(tt.kind) || tt.password != "" && strings.Contains(b.String(), tt.password) {
			t.Errorf("%s: got %q, want %q\n%s", tt.user, r.Kind, tt.kind, b.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", tt.user, want, b.String())
			}
		}
	}
}
