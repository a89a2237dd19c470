package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// A broker tells what it speaks, and of its cluster, also behind TLS; a wrong password fails.
func TestKafka(t *testing.T) {
	for _, secure := range []bool{false, true} {
		args, scheme := []string{"-brokers", "2", "-users", "SCRAM-SHA-256:app:geheim"}, "http"
		if secure {
			args, scheme = append(args, "-cert", "CERT", "-key", "KEY"), "https"
		}
		c := kafkatest.Start(t, args...)
		for _, password := range []string{"geheim", "falsch"} {
			r, err := ping.Run(context.Background(), ping.Config{
				Request: http1.Request{Method: "GET", URL: scheme + "://" + c.Addresses()[0] + "/"}, Greeted: ping.Greeted{Kafka: &kafka.Config{Mechanism: kafka.SCRAMSHA256, User: "app", Password: password}},
				Timeout: 10 * time.Second, Insecure: true, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			wants := []string{"METADATA kafka", "://" + c.Addresses()[0] + "\n", "server    a cluster of 2 brokers", "greeting  protocol Kafka, Produce v8, Fetch v11, Metadata v4, user app by SCRAM-SHA-256, after", "a ping was answered after"}
			if password == "falsch" {
				wants = []string{"FAILED    closed"}
			}
			for _, want := range wants {
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
