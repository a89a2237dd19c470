package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/hostile/mqtt/mqtttest"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mqtt"
)

// A server tells what it allows, and answers a PINGREQ, also behind TLS; a wrong password fails as auth.
func TestMQTT(t *testing.T) {
	s := mqtttest.Start(t, "allow_anonymous false\npassword_file DIR/passwords\nmax_packet_size 2000", mqtttest.Passwords(t, "app:geheim\n"))
	for _, secure := range []bool{false, true} {
		for _, password := range []string{"geheim", "falsch"} {
			url := strings.Replace(s.URL(), "mqtt", "http", 1)
			if secure {
				url = strings.Replace(s.SecureURL(), "mqtt", "http", 1)
			}
			r, err := ping.Run(context.Background(), ping.Config{
				Request: http1.Request{Method: "GET", URL: url + "/"}, Greeted: ping.Greeted{MQTT: &mqtt.Config{Version: mqtt.Version5, User: "app", Password: password}},
				Timeout: 10 * time.Second, Insecure: true, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			wants := []string{"PINGREQ " + strings.Replace(url, "http", "mqtt", 1) + "\n", "greeting  protocol MQTT 5, QoS 2 at most, packets of 2000 bytes at most", "a ping was answered after"}
			if password == "falsch" {
				wants = []string{"FAILED    auth: the server answered 0x87, not authorized"}
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
