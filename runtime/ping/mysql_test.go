package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/mysql/mysqltest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mysql"
)

// A server tells what it is and answers a statement, in TLS, too; a failure says what to do.
func TestMySQL(t *testing.T) {
	s := mysqltest.Start(t)
	for _, tt := range []struct {
		user, password string
		tls, insecure  bool
		kind           http1.Kind
		want           []string
	}{
		{"app", "", false, false, "", []string{"QUERY mysql://" + s.Address() + "/shop\n", "server    ", "MariaDB", "greeting  protocol MySQL 10, user app without a password, after", "select 1 was answered after"}},
		{"native", mysqltest.Password, false, false, "", []string{"user native by mysql_native_password, after"}},
		{"native", mysqltest.Password, true, true, "", []string{"TLS 1.3", "NOT TRUSTED", "  tls  "}},
		{"secure", "", true, false, http1.KindTLSAuthority, []string{"NOT TRUSTED", "FAILED    tls_authority"}},
		{"secure", "", false, false, http1.KindAuth, []string{"FAILED    auth: 1045"}},
		{"native", "falsch", false, false, http1.KindAuth, []string{"FAILED    auth: 1045"}},
	} {
		r, err := ping.Run(context.Background(), ping.Config{Request: http1.Request{Method: "GET", URL: "http://" + s.Address() + "/"}, Timeout: 10 * time.Second, Insecure: tt.insecure, Resolver: resolver(""),
			Greeted: ping.Greeted{MySQL: &mysql.Config{User: tt.user, Password: tt.password, Database: "shop", TLS: tt.tls}}})
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
