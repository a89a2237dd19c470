package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport/echo"
)

// asker is a transport that asks in the name of a node of tests.
func asker(t *testing.T, id node.ID, change func(*Config)) *Asker {
	t.Helper()
	s, err := Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := Config{Self: node.Peer{ID: id, Incarnation: 1 << 62, Role: node.RoleToy}, Cluster: "c", Environment: "e"}
	if change != nil {
		change(&c)
	}
	return NewAsker(c, s)
}

// secretly gives a host and an asker the same secret.
func secretly(t *testing.T) func(*Config) {
	all, err := seal.Parse([]byte(seal.New()))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Keys = seal.NewRing(Scope("c", "e"), all) }
}

// A node that is asked says who it is, opens no stream, counts no rejection and logs nothing: in clear, sealed and over TLS.
// Its echo has its set, and comes back in the size of the question.
func TestANodeIsAsked(t *testing.T) {
	b := newBench(t, "authority")
	for name, change := range map[string]func(*Config){
		"clear": func(*Config) {}, "sealed": secretly(t),
		"TLS": func(c *Config) {
			c.Certs = opened(t, b.issue(nil), identity(c.Self.ID), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log notes
			h := serve(t, "b", func(c *Config) {
				change(c)
				c.Set = func() []node.Addr { return []node.Addr{"one:1", "two:2"} }
				c.Sinks = "0123456789abcdef"
				c.Leases = echo.Leases{Lease: 30 * time.Second, SubjobLease: 2 * time.Second}
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			a := asker(t, "a", change)
			met, err := a.Ask(context.Background(), h.addr())
			if err != nil || met.Hello == nil || met.Hello.Node != "b" || !met.Echoes {
				t.Fatalf("met %+v, %v: want b, which answers echoes", met, err)
			}
			got, err := a.Echo(met.At, message.DatagramMax, 3, wait)
			if err != nil || got.ID != "b" || !slices.Equal(got.Set, []string{"one:1", "two:2"}) || got.Lease != 30*time.Second || got.SubjobLease != 2*time.Second || got.Sinks != "0123456789abcdef" {
				t.Fatalf("echo %+v, %v: want b with its set, its leases and its sinks", got.Node, err)
			}
			if s := h.Stats(); s.Opened != 0 || log.String() != "" || len(h.ear.news) != 0 {
				t.Fatalf("%+v, log %q, %d news: want no stream, no line and no news", s, log.String(), len(h.ear.news))
			}
		})
	}
}

// What keeps two nodes apart is named when one asks the other, as it is when it opens a stream.
func TestAskingNamesWhatDiffers(t *testing.T) {
	b := newBench(t, "authority")
	certified := func(c *Config) { c.Certs = opened(t, b.issue(nil), identity(c.Self.ID), 0) }
	for name, one := range map[string]struct {
		host, asker func(*Config)
		id          node.ID
		want        string
	}{
		"another cluster": {func(c *Config) { c.Cluster = "other" }, nil, "a", "cluster"},
		"another secret":  {secretly(t), secretly(t), "a", "secret"},
		"no secret":       {secretly(t), nil, "a", "secret"},
		"the same name":   {nil, nil, "b", "node"},
		"no certificate":  {certified, nil, "a", "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			h, a := serve(t, "b", one.host), asker(t, one.id, one.asker)
			_, err := a.Ask(context.Background(), h.addr())
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Field, one.want) {
				t.Fatalf("%v: want a rejection by %s", err, one.want)
			}
		})
	}
}

// A node sends no echo to what is of another cluster, and none for garbage.
func TestEchoesStayInTheirCluster(t *testing.T) {
	h := serve(t, "b", nil)
	at := netip.MustParseAddrPort(h.Addr())
	stranger := asker(t, "a", func(c *Config) { c.Cluster = "other" })
	if got, err := stranger.Echo(at, message.DatagramMax, 1, 50*time.Millisecond); err == nil {
		t.Fatalf("got %+v", got)
	}
	if _, err := asker(t, "a", nil).Echo(at, message.DatagramMax, 3, wait); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the answer to count as sent", func() bool { return h.Stats().Datagrams.Out > 0 }) // counted once it is out
	if s := h.Stats(); s.Datagrams.Out != 1 {
		t.Fatalf("%d datagrams went out, want one", s.Datagrams.Out)
	}
}

// Any source can ask a node without a secret: what it answers in a second is bounded. One with a secret answers all.
func TestEchoesWithoutASecretAreBounded(t *testing.T) {
	for name, sealed := range map[string]bool{"none": false, "a secret": true} {
		t.Run(name, func(t *testing.T) {
			var of *Config
			h := serve(t, "b", func(c *Config) {
				if of = c; sealed {
					secretly(t)(c)
				}
			})
			var d datagrams
			d.init(of.Keys)
			question := echo.AppendQuestion(nil, echo.Scope(digestOf(h.hello)), 7, echo.SizeMin)
			const asked = 4 * echoesMost
			answered := 0
			for range asked {
				switch _, err := d.reply(h.hello, new(Config), question); {
				case err == nil:
					answered++
				case !errors.Is(err, errEchoed):
					t.Fatal(err)
				}
			}
			most := (1 + int(time.Since(d.begun)/time.Second)) * echoesMost
			if sealed && answered != asked || !sealed && (answered < echoesMost || answered > most) {
				t.Fatalf("%d answers to %d questions, bound %d", answered, asked, most)
			}
		})
	}
	var p pace
	if !p.takes(1, 1) || p.takes(1, 1) || !p.takes(2, 1) {
		t.Fatal("a second does not begin anew")
	}
}
