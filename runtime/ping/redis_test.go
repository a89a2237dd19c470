package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	hostile "hyperscale/runtime/protocol/hostile/redis"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

func askRedis(t *testing.T, address string, secure bool, c redis.Config) (*ping.Report, string) {
	t.Helper()
	url := "http://" + address + "/"
	if secure {
		url = "https://" + address + "/"
	}
	r, err := ping.Run(context.Background(), ping.Config{Request: http1.Request{Method: "GET", URL: url}, Greeted: ping.Greeted{Redis: &c}, Timeout: 10 * time.Second, Insecure: true, Resolver: resolver("")})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Print(&b, 80); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// A server tells what it is, and answers a PING, also behind TLS, for a user of its ACL.
func TestRedis(t *testing.T) {
	s := redistest.Secure(t, "--user", "default", "on", "nopass", "~*", "+@all", "--user", "app", "on", ">geheim", "+ping")
	for _, secure := range []bool{false, true} {
		address, scheme := s.Address(), "redis://"
		if secure {
			address, scheme = s.TLS, "rediss://"
		}
		r, text := askRedis(t, address, secure, redis.Config{Version: 3, User: "app", Password: "geheim"})
		if !r.OK() || r.Greeting == nil || !strings.HasPrefix(r.Greeting.Server, "redis ") || !strings.HasSuffix(r.Greeting.Server, ", standalone, master") || r.Greeting.PongNS <= 0 {
			t.Errorf("%+v %+v", r, r.Greeting)
		}
		for _, want := range []string{"PING " + scheme + address + "\n", "server    redis ", "greeting  protocol RESP3, after", "a ping was answered after"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, "geheim") {
			t.Error(text)
		}
	}
	r, text := askRedis(t, s.Address(), false, redis.Config{Version: 3, User: "app", Password: "falsch"})
	if r.OK() || r.Kind != string(http1.KindAuth) || !strings.Contains(text, "FAILED    auth: HELLO: WRONGPASS") || strings.Contains(text, "falsch") {
		t.Errorf("%+v\n%s", r, text)
	}
}

// A server that is none ends the ping with the kind of its failure.
func TestRedisThatIsNone(t *testing.T) {
	for _, e := range hostile.All() {
		if !e.Ask.Greets || e.Want.Late() || e.Ask.TLS || e.Want.Kind == "" || e.Name == "the end behind a greeting" {
			continue
		}
		s, err := hostile.Start(&e)
		if err != nil {
			t.Fatal(err)
		}
		r, text := askRedis(t, s.Address(), false, redis.Config{Version: 3, User: hostile.User, Password: hostile.Password, Database: 2})
		if r.Kind != string(e.Want.Kind) || strings.Contains(text, hostile.Password) {
			t.Errorf("%s: %s %s, want %s", e.Name, r.Kind, r.Error, e.Want.Kind)
		}
		s.Close()
	}
}
