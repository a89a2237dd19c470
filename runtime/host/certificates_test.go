package host

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
)

// certify writes the files of a certificate for a pinger.
func certify(t *testing.T, issuer *certs.Issuer, dir string, until time.Time) certs.Files {
	t.Helper()
	return issue(t, issuer, dir, &certs.Request{Name: "n", Role: "toy", Cluster: "c", Environment: "test", From: time.Now().Add(-time.Hour), Until: until})
}

// issue writes the files of a certificate.
func issue(t testing.TB, issuer *certs.Issuer, dir string, r *certs.Request) certs.Files {
	t.Helper()
	certificate, key, err := issuer.Issue(r)
	if err != nil {
		t.Fatal(err)
	}
	authority, _, err := issuer.PEM()
	if err != nil {
		t.Fatal(err)
	}
	f := certs.Files{Cert: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}
	for path, text := range map[string][]byte{f.Cert: certificate, f.Key: key, f.CA: authority} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func issuerOf(t testing.TB) *certs.Issuer {
	t.Helper()
	i, err := certs.NewIssuer("authority", time.Now().Add(-time.Hour), time.Now().Add(100*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestCertificatesAreReadAgain: a node takes those that replace its own, keeps them while the files
// are of no use, and a stream that stands stays.
func TestCertificatesAreReadAgain(t *testing.T) {
	old, young, dir, until := issuerOf(t), issuerOf(t), t.TempDir(), time.Now().Add(90*24*time.Hour)
	with := func(id node.ID, m node.Machine, f certs.Files) Options {
		o := options(id, m)
		o.Certs = f
		return o
	}
	b := start(t, with("b", newPinger(""), certify(t, old, dir, until)))
	standing := newPinger(b.Addr())
	start(t, with("a", standing, certify(t, old, t.TempDir(), until)))
	standing.expect(t, "opened b", "ack 1 from b stream=true")

	if err := os.WriteFile(filepath.Join(dir, "crt"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := newPinger(b.Addr())
	start(t, with("d", again, certify(t, old, t.TempDir(), until)))
	again.expect(t, "opened b")

	certify(t, young, dir, until)
	of := certify(t, young, t.TempDir(), until)
	for try := 0; ; try++ { // the node looks once a second
		late := newPinger(b.Addr())
		n := start(t, with("e", late, of))
		if opens(late) {
			break
		}
		n.Kill()
		if try == 100 {
			t.Fatal("the new certificate is not known")
		}
		time.Sleep(50 * time.Millisecond)
	}
	refused := newPinger(b.Addr())
	start(t, with("f", refused, certify(t, old, t.TempDir(), until)))
	refused.expect(t, "broken : greet "+string(b.Addr()))
	select {
	case got := <-standing.news:
		if strings.HasPrefix(got, "broken") {
			t.Errorf("a stream that stood: %s", got)
		}
	default:
	}

	o := with("g", newPinger(""), certs.Files{Cert: "x"})
	if _, err := Start(o); err == nil || !strings.Contains(err.Error(), "--tls-key is missing") {
		t.Errorf("no key: %v", err)
	}
}

// TestANodeWarnsBeforeItsCertificateEnds: once 14 days before, once a day before, once when it has
// ended, and anew for another certificate.
func TestANodeWarnsBeforeItsCertificateEnds(t *testing.T) {
	now, dir := time.Now(), t.TempDir()
	const day = 24 * time.Hour
	issuer := issuerOf(t)
	files := certify(t, issuer, dir, now.Add(60*day))
	who := certs.Identity{Role: node.RoleToy, Cluster: "c", Environment: "test"}
	store, err := certs.Open(files, who, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	c := &certificates{store: store}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	at := func(days float64, want string) {
		t.Helper()
		now = now.Add(time.Duration(days * float64(day)))
		for range 3 {
			c.warn(logger)
		}
		got := ""
		for _, line := range strings.Split(log.String(), "\n") {
			for _, w := range []string{"expires soon", "has expired"} {
				if strings.Contains(line, w) {
					got += w + ";"
				}
			}
		}
		if log.Reset(); got != want {
			t.Errorf("the log says %q, want %q", got, want)
		}
	}
	at(45, "")
	at(1.5, "expires soon;")
	at(6, "")
	at(6.6, "expires soon;")
	at(1, "has expired;")
	at(1, "")
	certify(t, issuer, dir, now.Add(10*day))
	c.read(logger)
	at(0, "expires soon;")
	now = time.Now()
	certify(t, issuer, dir, now.Add(day))
	c.read(logger)
	at(0, "")
	at(17.0/24, "expires soon;")
}
