package target

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A datagram goes back whole, also an empty one, and counts.
func TestPackets(t *testing.T) {
	cfg := Default()
	cfg.Listen, cfg.TCP, cfg.UDP = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	c, err := net.Dial("udp", strings.TrimPrefix(s.UDP(), "udp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	for i := range 3 {
		said := strings.Repeat(fmt.Sprint(i), i*10)
		if _, err := c.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != said {
			t.Fatalf("got %q, %v, want %q", buffer[:n], err, said)
		}
	}
	if n := s.Stats().Messages; n != 3 {
		t.Errorf("%d messages", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if cfg.UDP = "nowhere"; true {
		if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "udp") {
			t.Errorf("got %v", err)
		}
	}
	cfg.UDP = "192.0.2.1:1"
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "--udp") {
		t.Errorf("got %v", err)
	}
}
