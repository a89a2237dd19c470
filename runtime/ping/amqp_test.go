package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/amqp"
	hostile "hyperscale/runtime/protocol/hostile/amqp"
	"hyperscale/runtime/protocol/http1"
)

// A server tells what it is, and its channel answers; a user that it refuses fails as auth.
func TestAMQP(t *testing.T) {
	for name, wants := range map[string][]string{
		"a message": {"server    hostile", "greeting  protocol AMQP 0.9.1, frame_max 131072, after", "a ping was answered after"},
		"a user that is refused, with the password": {"FAILED    auth: the server closed the connection: ACCESS_REFUSED app ***"},
	} {
		for _, e := range hostile.All() {
			if e.Name != name {
				continue
			}
			s, err := hostile.Start(&e)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			r, err := ping.Run(context.Background(), ping.Config{
				Request: http1.Request{Method: "GET", URL: strings.Replace(s.URL(), "amqp", "http", 1) + "/"}, Greeted: ping.Greeted{AMQP: &amqp.Config{User: hostile.User, Password: hostile.Password}},
				Timeout: 10 * time.Second, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			for _, want := range append(wants, "PING "+s.URL()+"\n") {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s: no %q in\n%s", name, want, b.String())
				}
			}
			if strings.Contains(b.String(), hostile.Password) {
				t.Errorf("%s: the password is in\n%s", name, b.String())
			}
		}
	}
}
