package ping_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	hostile "hyperscale/runtime/protocol/hostile/ssh"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island/ssh"
)

// A server tells its version and answers; one that is refused, or silent, says so.
func TestSSH(t *testing.T) {
	for name, want := range map[string]string{
		"well-behaved": "server    SSH-2.0-Go", "refuses the user": "FAILED    auth: the server refuses the user", "another host key": "FAILED    auth: the server has another host key",
		"closes behind its version": "FAILED    closed", "has no subsystem": "FAILED    server SUBSYSTEM", "accepts and says nothing": "FAILED    timeout",
	} {
		for _, e := range hostile.All() {
			for use, scheme := range map[ssh.Use]string{ssh.SFTP: "sftp", ssh.SCP: "scp"} {
				if e.Name != name || use == ssh.SCP && e.Name != "well-behaved" {
					continue
				}
				s, err := hostile.Start(&e)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				address := s.URL()[strings.LastIndexByte(s.URL(), '@')+1:]
				_, digits, _ := net.SplitHostPort(address)
				port, _ := strconv.Atoi(digits)
				r, err := ping.Run(context.Background(), ping.Config{
					Request: http1.Request{Method: "GET", URL: "http://" + address + "/"}, Timeout: time.Second + time.Duration(map[bool]int{false: 20}[strings.Contains(want, "timeout")])*time.Second, Resolver: resolver(""),
					Greeted: ping.Greeted{SSH: &ping.SSH{Use: use, Config: ssh.Config{Host: "127.0.0.1", Port: uint16(port), User: hostile.User, Password: hostile.Password, HostKeys: []byte(s.HostKey())}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				if err := r.Print(&b, 80); err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{want, fmt.Sprintf("PING %s://%s\n", scheme, address)} {
					if !strings.Contains(b.String(), want) || strings.Contains(b.String(), hostile.Password) {
						t.Errorf("%s: no %q, or the password, in\n%s", name, want, b.String())
					}
				}
			}
		}
	}
}
