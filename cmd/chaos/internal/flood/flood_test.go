package flood

import (
	"context"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHabits: a third of the connections is hostile, each habit as often as another.
func TestHabits(t *testing.T) {
	var got [habits]int
	for i := range 3000 {
		got[habitOf(i, true)]++
		if h := habitOf(i, false); h != asks {
			t.Fatalf("connection %d of a flood without hostile ones %v", i, h)
		}
	}
	for h, n := range got {
		want := 200
		if habit(h) == asks {
			want = 2000
		}
		if n != want {
			t.Errorf("%d connections of 3000 %v, want %d", n, habit(h), want)
		}
	}
}

// TestFloodComesBack: connections of all habits that a gate closes open again, and the flood ends
// with its context.
func TestFloodComesBack(t *testing.T) {
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const connections = 2 * hostileOf
	go func() {
		for n := 0; ; n++ {
			conn, err := gate.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, 1)) // it may have nothing to say
			_ = conn.Close()
			if n == 4*connections {
				cancel()
			}
		}
	}()
	r, err := Run(ctx, Config{Gates: []string{gate.Addr().String()}, Cluster: "c", Connections: connections, Rate: 1000, Hostile: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	served, refused := r.Answered()
	if r.Opened <= 3*connections || r.Ended == 0 || len(r.Sent) == 0 || served+refused > 0 {
		t.Errorf("%+v", r)
	}
}
