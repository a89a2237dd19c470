package talk

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/workflow/keyspace"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
)

// What a cluster tells of its layout is taken, and what is none is refused and changes nothing.
func TestLayouts(t *testing.T) {
	c := (&Memory{}).cluster("key", &request.Redis{Target: &request.Target{}})
	if err := c.read([]byte(`[[0,8191,["10.0.0.1",6379,"id",[]],["10.0.0.2",6379]],[8192,16382,[null,6380]]]`), "seed"); err != nil {
		t.Fatal(err)
	}
	at := func(slot int) string {
		n := c.node(slot)
		if n == nil {
			return "unknown"
		}
		return fmt.Sprintf("%s:%d", n.Call.Host, n.Call.Port)
	}
	for slot, want := range []string{0: "10.0.0.1:6379", 8191: "10.0.0.1:6379", 8192: "seed:6380", 16383: "unknown"} {
		if want != "" && at(slot) != want {
			t.Errorf("slot %d: got %s, want %s", slot, at(slot), want)
		}
	}
	for _, wrong := range []string{``, `{}`, `[[]]`, `[[0,1,[]]]`, `[[0,16384,["h",1]]]`, `[[-1,1,["h",1]]]`, `[[2,1,["h",1]]]`, `[[0.5,1,["h",1]]]`, `[["0","1",["h",1]]]`, `"OK"`, `[[0,1,[7,1]]]`} {
		if err := c.read([]byte(wrong), "seed"); http1.KindOf(err) != http1.KindProtocol || at(0) != "10.0.0.1:6379" {
			t.Errorf("%s: got %v, and %s", wrong, err, at(0))
		}
	}
	// Nodes that are gone give their places to new ones, up to the bound. Their hosts are named once.
	for round := range 3 {
		var all []string
		for i := range nodesMost {
			all = append(all, fmt.Sprintf(`[%d,%d,["n%d-%d",1]]`, i, i, round, i))
		}
		if err := c.read([]byte("["+strings.Join(all, ",")+"]"), "seed"); err != nil || len(c.nodes) > nodesMost || at(0) != fmt.Sprintf("n%d-0:1", round) {
			t.Errorf("round %d: %v, %d nodes, %s", round, err, len(c.nodes), at(0))
		}
		if round > 0 && len(c.gone) != nodesMost {
			t.Errorf("round %d: %d nodes have left, want %d", round, len(c.gone), nodesMost)
		}
		c.gone = nil
		for _, n := range c.nodes {
			n.At = new(pool.Host)
		}
	}
}

// MOVED says where a slot is; ASK, and what is no address, changes nothing.
func TestWhereSlotsMove(t *testing.T) {
	c := (&Memory{}).cluster("key", &request.Redis{Target: &request.Target{Secure: true}})
	if err := c.read([]byte(`[[0,16383,["h",1]]]`), "seed"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		kind, detail string
		was          bool
		want         string // where slot 7 is
	}{
		{"server MOVED", "GET: MOVED 7 10.0.0.9:6381: remedy", true, "10.0.0.9"},
		{"server MOVED", "MOVED 7 :6381", true, "seed"},
		{"server MOVED", "MOVED 7 ::1:6381", true, "::1"},
		{"server MOVED", "MOVED 7 h", true, "::1"},
		{"server MOVED", "MOVED 7 h:0", true, "::1"},
		{"server MOVED", "MOVED 7 h:99999", true, "::1"},
		{"server MOVED", "MOVED 99999 h:1", true, "::1"},
		{"server MOVED", "MOVED", true, "::1"},
		{"server ASK", "ASK 7 h:1", true, "::1"},
		{"server ERR", "ERR MOVED 7 h:1", false, "::1"},
	} {
		to, slot, asks, was := movedTo(&http1.Error{Kind: http1.Kind(tt.kind), Detail: tt.detail})
		if was && slot >= 0 && !asks {
			c.move(slot, to, "seed")
		}
		if got := c.node(7).Call.Host; was != tt.was || got != tt.want {
			t.Errorf("%s: got %v and %s, want %s", tt.detail, was, got, tt.want)
		}
	}
	if c.node(keyspace.Slots-1).Call.Host != "h" {
		t.Error("another slot moved")
	}
}

// The slots of a node that is away are unknown until the layout is learnt anew, of another node.
func TestANodeIsAway(t *testing.T) {
	c := Cluster{slots: new([keyspace.Slots]uint16), reads: true}
	layout := `[[0,99,["a",1],["a",2]],[100,16383,["b",1],["a",2]]]`
	if err := c.read([]byte(layout), "seed"); err != nil {
		t.Fatal(err)
	}
	a, b, replica := c.node(0), c.node(100), c.copies[1][0]
	c.lose(a, 5, loseEvery)
	if c.node(0) != nil || c.node(99) != nil || c.node(100) != b || c.replica(200) == nil {
		t.Errorf("slots 0 and 99 are of %v and %v, 100 of %v", c.node(0), c.node(99), c.node(100))
	}
	for range 6 {
		if n := c.another(); n != b && n != replica {
			t.Errorf("%v is asked, and %v is away", n, a)
		}
	}
	c.lose(b, 5+int64(loseEvery)-1, loseEvery) // too early
	if c.node(100) != b {
		t.Error("a second failure within a second forgets another node")
	}
	c.lose(replica, 5+int64(loseEvery), loseEvery)
	if c.replica(100) != nil || c.node(100) != b {
		t.Error("reads go to a replica that is away")
	}
	if err := c.read([]byte(layout), "seed"); err != nil || c.away != nil || c.node(0) != a || c.replica(0) != replica {
		t.Errorf("the layout was learnt, and %v is away: %v", c.away, err)
	}
	c.lose(new(Node), 100*int64(loseEvery), loseEvery) // it has left
	if c.away != nil || c.node(0) == nil {
		t.Error("a node that is in no layout is away")
	}
}
