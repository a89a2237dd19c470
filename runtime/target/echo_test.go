package target

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

// What comes over TCP goes back, and its lines count.
func TestEcho(t *testing.T) {
	cfg := Default()
	cfg.Listen, cfg.TCP = "127.0.0.1:0", "127.0.0.1:0"
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.TCP(), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for i := range 3 {
		said := fmt.Sprintf("line %d\n", i)
		if _, err := c.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || got != said {
			t.Fatalf("got %q, %v, want %q", got, err, said)
		}
	}
	if n := s.Stats().Messages; n != 3 {
		t.Errorf("%d messages", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := in.ReadByte(); err == nil {
		t.Error("the connection outlives its server")
	}
	_ = c.Close()
	if _, err := Listen(Config{}); err == nil {
		t.Error("no address was taken")
	}
	cfg.TCP = "nowhere"
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "tcp") {
		t.Errorf("got %v", err)
	}
}
