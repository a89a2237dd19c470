package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/nats/natstest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// A server tells what it is, and answers a PING, also behind TLS; a wrong password fails as auth.
func TestNATS(t *testing.T) {
	for _, secure := range []bool{false, true} {
		config := "authorization { user: app, password: geheim }\njetstream { store_dir: \"STORE\" }"
		if secure {
			config += "\ntls { cert_file: \"CERT\", key_file: \"KEY\" }"
		}
		s := natstest.Start(t, config)
		for _, password := range []string{"geheim", "falsch"} {
			r, err := ping.Run(context.Background(), ping.Config{
				Request: http1.Request{Method: "GET", URL: "http://" + s.Address() + "/"}, Greeted: ping.Greeted{NATS: &nats.Config{User: "app", Password: password, TLS: secure}},
				Timeout: 10 * time.Second, Insecure: true, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			wants := []string{"PING nats://" + s.Address() + "\n", "server    nats-server ", ", JetStream", "greeting  protocol NATS, max_payload 1048576, after", "a ping was answered after"}
			if password == "falsch" {
				wants = []string{"FAILED    auth: the server answered Authorization Violation"}
			}
			for _, want := range wants {
				if secure {
					want = strings.Replace(want, "nats://", "tls://", 1)
				}
				if !strings.Contains(b.String(), want) {
					t.Errorf("no %q in\n%s", want, b.String())
				}
			}
			if (r.TLS != nil) != secure || strings.Contains(b.String(), "geheim") || r.OK() != (password == "geheim") {
				t.Errorf("%+v\n%s", r, b.String())
			}
		}
	}
}
