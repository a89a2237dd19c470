package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/mongodb/mongodbtest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
)

// A server tells what it is, also behind TLS; a wrong password fails.
func TestMongoDB(t *testing.T) {
	s := mongodbtest.Start(t, "users")
	for _, url := range []string{"http://" + s.Address(), "https://" + s.SecureAddress()} {
		for _, password := range []string{"geheim", "falsch"} {
			r, err := ping.Run(context.Background(), ping.Config{
				Request: http1.Request{Method: "GET", URL: url + "/"}, Greeted: ping.Greeted{MongoDB: &mongodb.Config{Mechanism: mongodb.SCRAMSHA256, User: "app", Password: password}},
				Timeout: 10 * time.Second, Insecure: true, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			_, host, _ := strings.Cut(url, "://")
			wants := []string{"PING mongodb://" + host + "\n", "server    a server of its own", "greeting  protocol MongoDB, wire version 21, documents of 16777216 bytes, user app by scram-sha-256, after", "a ping was answered after"}
			if password == "falsch" {
				wants = []string{"FAILED    auth"}
			}
			for _, want := range wants {
				if !strings.Contains(b.String(), want) {
					t.Errorf("no %q in\n%s", want, b.String())
				}
			}
			if (r.TLS != nil) != strings.HasPrefix(url, "https") || strings.Contains(b.String(), password) || r.OK() != (password == "geheim") {
				t.Errorf("%+v\n%s", r, b.String())
			}
		}
	}
}
