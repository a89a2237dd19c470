package transport

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
)

// ringOf is a ring of secrets; scope is the cluster's, as a host makes it.
func ringOf(t testing.TB, texts ...string) *seal.Ring {
	t.Helper()
	secrets, err := seal.Parse([]byte(strings.Join(texts, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewRing("c", secrets)
}

// sealing makes a node seal with these secrets.
func sealing(t testing.TB, texts ...string) func(*Config) {
	ring := ringOf(t, texts...)
	return func(c *Config) { c.Keys = ring }
}

// eventually waits for what another goroutine counts.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in %v", what, wait)
		}
	}
}

func TestASealedStreamBothWays(t *testing.T) {
	secret := seal.New()
	a, b := serve(t, "a", sealing(t, secret)), serve(t, "b", sealing(t, secret))
	s := a.Open(b.addr())
	a.Send(s, pingOf(0))
	a.ear.want(t, "opened 1 b#1")
	b.ear.want(t, "opened 1 a#1", "ping 0 from a on 1")
	b.Send(1, pingOf(9))
	a.ear.want(t, "ping 9 from b on 1")
	a.Send(s, &message.ExecResult{State: 1, Error: strings.Repeat("x", 900_000)})
	b.ear.want(t, "result of 900000 bytes")
	a.Datagram(b.addr(), pingOf(7))
	b.ear.want(t, "ping 7 from a on 0")
	if got := b.Stats(); got.Seal.Streams[ringOf(t, secret).IDs()[0]] != 1 || got.Seal.Unsealed != (Unsealed{}) {
		t.Errorf("%+v", got)
	}
	a.Close(s)
	b.ear.want(t, "broken 1 closed by the peer")
}

// TestNodesWithoutACommonSecret: each side says what to do, and counts it.
func TestNodesWithoutACommonSecret(t *testing.T) {
	one, two := sealing(t, seal.New()), sealing(t, seal.New())
	for _, c := range []struct {
		what         string
		dialer, host func(*Config)
		said         string
		counted      func(Stats) uint64
	}{
		{"another secret", one, two, `greet ADDR: the peer's secret is "`, func(s Stats) uint64 { return s.Seal.Unsealed.Key }},
		{"no secret at the dialer", nil, one, `greet ADDR: the peer's secret is "one that this node does not know", this node wants none`, func(s Stats) uint64 { return s.Seal.Unsealed.Plain }},
		{"no secret at the acceptor", one, nil, `greet ADDR: the peer's secret is "none"`, func(s Stats) uint64 { return s.Refused }},
	} {
		a, b := serve(t, "a", c.dialer), serve(t, "b", c.host)
		a.Open(b.addr())
		select {
		case got := <-a.ear.news:
			got = strings.ReplaceAll(got, string(b.addr()), "ADDR")
			if !strings.HasPrefix(got, "broken 1 "+c.said) || !strings.Contains(got, "give all nodes and clients of the cluster the same --cluster-secret") {
				t.Errorf("%s: %s", c.what, got)
			}
		case got := <-b.ear.news:
			t.Errorf("%s: %s", c.what, got)
		}
		a.Datagram(b.addr(), pingOf(1))
		eventually(t, c.what, func() bool { return c.counted(b.Stats()) == 2 })
	}
}

// TestASecretRotates: first all know the new one, then all seal with it, then the old one goes. A
// stream that stands is not broken.
func TestASecretRotates(t *testing.T) {
	old, young := seal.New(), seal.New()
	rings := []*seal.Ring{ringOf(t, old), ringOf(t, old)}
	name := func(text string) seal.ID { return ringOf(t, text).IDs()[0] }
	var hosts []host
	for i, id := range []node.ID{"a", "b"} {
		hosts = append(hosts, serve(t, id, func(c *Config) { c.Keys = rings[i] }))
	}
	a, b := hosts[0], hosts[1]
	first := a.Open(b.addr())
	a.ear.want(t, "opened 1")
	b.ear.want(t, "opened 1")
	streams := uint64(1)
	for _, step := range []struct {
		of   int
		to   []string
		want seal.ID
	}{
		{0, []string{old, young}, name(old)}, {1, []string{old, young}, name(old)},
		{0, []string{young, old}, name(young)}, {1, []string{young, old}, name(young)},
		{0, []string{young}, name(young)}, {1, []string{young}, name(young)},
	} {
		secrets, err := seal.Parse([]byte(strings.Join(step.to, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		rings[step.of].Replace(secrets)
		before := b.Stats().Seal.Streams[step.want]
		a.Open(b.addr())
		streams++
		a.ear.want(t, "opened")
		b.ear.want(t, "opened")
		if got := b.Stats().Seal.Streams[step.want]; got != before+1 {
			t.Errorf("after node %d got %d secrets, the stream is not sealed with %v: %v", step.of, len(step.to), step.want, b.Stats().Seal.Streams)
		}
		a.Datagram(b.addr(), pingOf(streams))
		b.ear.want(t, "ping")
		b.Datagram(a.addr(), pingOf(streams))
		a.ear.want(t, "ping")
		a.Send(first, pingOf(1))
		b.ear.want(t, "ping 1 from a on 1")
	}
}

// TestForgers: recorded, changed and made-up bytes open nothing, and are counted.
func TestForgers(t *testing.T) {
	secret := seal.New()
	a, b := serve(t, "a", sealing(t, secret)), serve(t, "b", sealing(t, secret))
	// A relay records what a says to b, and flips a bit of it on request.
	relay, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = relay.Close() }()
	recorded := make(chan []byte, 100)
	flip := make(chan struct{}, 1)
	go func() {
		in, err := relay.Accept()
		if err != nil {
			return
		}
		defer func() { _ = in.Close() }()
		out, err := net.Dial("tcp", b.Addr())
		if err != nil {
			return
		}
		defer func() { _ = out.Close() }()
		go func() {
			_, _ = io.Copy(in, out)
			_ = in.Close()
		}()
		buffer := make([]byte, 64<<10)
		for {
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			recorded <- bytes.Clone(buffer[:n])
			select {
			case <-flip:
				buffer[n-1] ^= 1
			default:
			}
			if _, err := out.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	s := a.Open(node.Addr(relay.Addr().String()))
	a.ear.want(t, "opened 1")
	b.ear.want(t, "opened 1")
	a.Send(s, pingOf(1))
	b.ear.want(t, "ping 1 from a")
	flip <- struct{}{}
	a.Send(s, pingOf(2))
	b.ear.want(t, "broken 1 the seal does not fit")
	a.ear.want(t, "broken 1")
	if got := b.Stats().Seal.Unsealed.Forged; got != 1 {
		t.Errorf("%d forged frames were counted", got)
	}

	// The whole stream once more: its Hello does not open.
	conn := dial(t, b)
	for len(recorded) > 0 {
		_, _ = conn.Write(<-recorded)
	}
	if !ends(conn) {
		t.Error("the connection was not closed")
	}
	eventually(t, "the replayed stream", func() bool { return b.Stats().Seal.Unsealed.Forged == 2 })

	// A datagram twice, and one in clear.
	udp, err := net.Dial("udp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = udp.Close() }()
	head, err := message.Append(appendHeader(nil, hello("x")), pingOf(5))
	if err != nil {
		t.Fatal(err)
	}
	one := ringOf(t, secret).NewSender().Seal(nil, head)
	for _, d := range [][]byte{one, one, head} {
		_, _ = udp.Write(d)
	}
	b.ear.want(t, "ping 5 from x on 0")
	eventually(t, "datagrams", func() bool { return b.Stats().Seal.Unsealed == Unsealed{Forged: 2, Replayed: 1, Plain: 1} })
	select {
	case got := <-b.ear.news:
		t.Errorf("heard %s", got)
	default:
	}
}
