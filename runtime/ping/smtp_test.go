package ping_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/hostile/ftp/ftptest"
	hostile "hyperscale/runtime/protocol/hostile/smtp"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/smtp"
)

// A mail server tells what it is, and answers NOOP; one that has no service fails by its code.
func TestSMTP(t *testing.T) {
	for name, wants := range map[string][]string{
		"a reply without a text": {"server    hostile", "greeting  protocol ESMTP with PIPELINING, after", "a ping was answered after"},
		"no service":             {"FAILED    server 554: greeting: 554 no service"},
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
				Request: http1.Request{Method: "GET", URL: strings.Replace(s.URL(), "smtp", "http", 1) + "/"}, Greeted: ping.Greeted{SMTP: &smtp.Config{}},
				Timeout: 10 * time.Second, Resolver: resolver(""),
			})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			for _, want := range append(wants, "NOOP "+s.URL()+"\n") {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s: no %q in\n%s", name, want, b.String())
				}
			}
		}
	}
}

// An FTP server tells what it is and answers NOOP, in clear and with TLS; one that knows another password fails
// as auth, and does not show it.
func TestFTP(t *testing.T) {
	plain, secure := ftptest.Start(t, ""), ftptest.StartTLS(t, false, "")
	for name, tt := range map[string]struct {
		on   *ftptest.Server
		c    ftp.Config
		want string
	}{
		"in clear": {plain, ftp.Config{User: ftptest.User, Password: ftptest.Password}, "server    (vsFTPd 3"},
		"in TLS":   {secure, ftp.Config{User: ftptest.User, Password: ftptest.Password, Explicit: true}, "a ping was answered after"},
		"wrong":    {plain, ftp.Config{User: "anonymous", Password: "falsch"}, "FAILED    auth: PASS: 530"},
	} {
		_, address, _ := strings.Cut(tt.on.URL(), "@")
		r, err := ping.Run(context.Background(), ping.Config{
			Request: http1.Request{Method: "GET", URL: "http://" + address + "/"}, Greeted: ping.Greeted{FTP: &tt.c}, Insecure: true,
			Timeout: 10 * time.Second, Resolver: resolver(""),
		})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Print(&b, 80); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), tt.want) || !strings.Contains(b.String(), "NOOP ftp://"+address) || strings.Contains(b.String(), "falsch") {
			t.Errorf("%s: no %q in\n%s", name, tt.want, b.String())
		}
	}
}
