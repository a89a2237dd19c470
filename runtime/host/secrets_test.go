package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/seal"
)

// TestSecretsAreReadAgain: a node takes a secret that is added to its file, and keeps those before
// while the file is of no use.
func TestSecretsAreReadAgain(t *testing.T) {
	old, young := seal.New(), seal.New()
	write := func(name string, lines ...string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := func(o Options, file string) Options {
		o.SecretFile = file
		return o
	}
	first := write("first", old)
	b := start(t, with(options("b", newPinger("")), first))
	a := newPinger(b.Addr())
	start(t, with(options("a", a), write("of a", old)))
	a.expect(t, "opened b", "ack 1 from b stream=true", "ack 2 from b stream=false")

	refused := newPinger(b.Addr())
	start(t, with(options("c", refused), write("of c", young)))
	refused.expect(t, "broken : greet "+string(b.Addr())+": the peer's secret is")

	if err := os.WriteFile(first, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := newPinger(b.Addr())
	start(t, with(options("d", again), write("of d", old)))
	again.expect(t, "opened b")

	if err := os.WriteFile(first, []byte(old+"\n"+young), 0o600); err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ { // the node looks once a second
		late := newPinger(b.Addr())
		n := start(t, with(options("e", late), write("of e", young)))
		if opens(late) {
			break
		}
		n.Kill()
		if try == 100 {
			t.Fatal("the new secret is not known")
		}
		time.Sleep(100 * time.Millisecond)
	}

	o := options("f", newPinger(""))
	o.SecretFile = filepath.Join(t.TempDir(), "none")
	if _, err := Start(o); err == nil || !strings.Contains(err.Error(), "correct --cluster-secret") {
		t.Errorf("no file: %v", err)
	}
}

// opens says whether a pinger's stream opens or breaks first.
func opens(p *pinger) bool {
	for {
		switch got := <-p.news; {
		case strings.HasPrefix(got, "opened"):
			return true
		case strings.HasPrefix(got, "broken"):
			return false
		}
	}
}
