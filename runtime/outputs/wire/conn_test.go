package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/redis/redistest"
	"hyperscale/runtime/protocol/redis"
)

// connected is a connection to a server that does with each of its connections what serve does.
func connected(t *testing.T, serve func(c net.Conn)) *Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		c, err := l.Accept()
		if err == nil {
			serve(c)
			_ = c.Close()
		}
	}()
	c, err := Connect(context.Background(), l.Addr().String(), nil, codec.Opening{Dialogue: redis.New(redis.Config{}).Begin()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ping asks whether the server is there, and returns what it answers.
func ping(ctx context.Context, c *Conn) (said string, sent bool, err error) {
	talk := c.Talk.(*redis.Conn)
	sent, err = c.Ask(ctx, func() error {
		return talk.Operate(redis.Compile([]redis.Command{{redis.Text("PING")}}), redis.Order{Keeps: true})
	}, func(payload []byte) { said = string(payload) })
	return said, sent, err
}

func TestAsk(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "geheim")
	greeted := func(password string) (*Conn, error) {
		p := redis.New(redis.Config{Password: password})
		return Connect(context.Background(), server.Address(), nil, codec.Opening{Greeting: p.Greet()})
	}
	if _, err := greeted("wrong"); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("a wrong password: %v", err)
	}
	c, err := greeted("geheim")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if said, sent, err := ping(context.Background(), c); said != `"PONG"` || !sent || err != nil {
			t.Errorf("%q, %v, %v", said, sent, err)
		}
	}
}

// WIRE-1, WIRE-2: what a server has not answered may be there; what was not sent is not.
func TestAskOfAServerThatDoesNotAnswer(t *testing.T) {
	c := connected(t, func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 4)) })
	if said, sent, err := ping(context.Background(), c); err == nil || !sent || said != "" {
		t.Errorf("a server that hangs up: %q, %v, %v", said, sent, err)
	}
	over := make(chan struct{})
	c = connected(t, func(net.Conn) { <-over })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, sent, err := ping(ctx, c); !errors.Is(err, os.ErrDeadlineExceeded) || !sent {
		t.Errorf("a server that says nothing: %v, %v", sent, err)
	}
	close(over)
	sent, err := c.Ask(context.Background(), func() error { return io.ErrShortWrite }, nil)
	if sent || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("an operation that cannot be queued: %v, %v", sent, err)
	}
}

func TestRoots(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{name: "name the file of the authority", name + "x": "no such file"} {
		if _, err := Roots(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
