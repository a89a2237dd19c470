package transport

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
)

// A written header reads back, to the last bit of an incarnation, and the bytes after it stay
// as they are.
func TestHeaderIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hello(rapid.StringN(1, 128, 128).Draw(t, "node"))
		h.Addr = rapid.StringN(0, 256, 256).Draw(t, "addr")
		h.Incarnation = max(1, rapid.Uint64().Draw(t, "incarnation"))
		h.Role = uint8(node.RoleWorker)
		rest := rapid.SliceOf(rapid.Byte()).Draw(t, "rest")
		b := appendHeader(nil, h)
		got, err := readHeader(hello("another"), append(b, rest...))
		if err != nil {
			t.Fatal(err)
		}
		if got.peer != peerOf(h) || len(got.bytes) != len(b) {
			t.Fatalf("%+v in %d bytes, want %+v in %d", got.peer, len(got.bytes), peerOf(h), len(b))
		}
		for n := range b {
			if _, err := readHeader(hello("another"), b[:n]); err == nil {
				t.Fatalf("%d of %d bytes are no header, and were read", n, len(b))
			}
		}
	})
}

func TestHeaderRefuses(t *testing.T) {
	change := func(f func(*message.Hello)) []byte {
		h := hello("b")
		f(h)
		return appendHeader(nil, h)
	}
	newer := change(func(*message.Hello) {})
	newer[1]++
	for _, c := range []struct {
		what string
		b    []byte
		want string
	}{
		{"another cluster", change(func(h *message.Hello) { h.Cluster = "other" }), "set --cluster and --environment to the same names"},
		{"another environment", change(func(h *message.Hello) { h.Environment = "other" }), "digest of protocol version, cluster and environment"},
		{"names that run into each other", change(func(h *message.Hello) { h.Cluster, h.Environment = "c\" \"", "" }), "digest"},
		{"an older protocol", change(func(h *message.Hello) { h.Major-- }), "run the same major version"},
		{"another format", newer, `the peer's datagram format is "2", this node wants 1`},
		{"no role", change(func(h *message.Hello) { h.Role = 0 }), "role"},
		{"no incarnation", change(func(h *message.Hello) { h.Incarnation = 0 }), "incarnation"},
		{"no name", change(func(h *message.Hello) { h.Node = "" }), "set --id"},
		{"this node's own name", change(func(h *message.Hello) { h.Node, h.Incarnation = "a", math.MaxUint64 }), "give each node an --id of its own"},
		{"a long address", change(func(h *message.Hello) { h.Addr = strings.Repeat("x", 300) }), "at most 256 bytes"},
	} {
		_, err := readHeader(hello("a"), c.b)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// A node whose names are as long as they may be sends the largest message that its
// group counts on, sealed.
func TestTheLargestBodyFits(t *testing.T) {
	h := hello(strings.Repeat("n", 60))
	h.Addr, h.Incarnation = strings.Repeat("a", NamesMax-60), math.MaxUint64
	if err := CheckNames(peerOf(h)); err != nil {
		t.Fatal(err)
	}
	if n := len(appendHeader(nil, h)) + message.HeaderSize + message.DatagramBody + seal.DatagramOverhead; n > message.DatagramMax {
		t.Errorf("%d bytes, at most %d may be sent", n, message.DatagramMax)
	}
	h.Addr += "a"
	if err := CheckNames(peerOf(h)); err == nil || !strings.Contains(err.Error(), "shorten --id or --advertise") {
		t.Errorf("names of %d bytes: %v", NamesMax+1, err)
	}
	usual := hello("gate-1")
	usual.Addr = "10.0.0.11:7400"
	if n := len(appendHeader(nil, usual)); n > 40 {
		t.Errorf("a usual header has %d bytes", n)
	}
}
