package main

import (
	"encoding/binary"
	"testing"
)

// Between places only TCP from or to the port of a gate passes; within one, and to a host of no place, all does.
func TestWall(t *testing.T) {
	w := newWall(&cluster{
		machines: []*machine{{name: "gate-1", role: "gate", host: 2}, {name: "manager-a-1", host: 3}, {name: "manager-b-1", host: 4}},
		clients:  []*machine{{name: "client-1", host: 5}},
	})
	packet := func(protocol, from, to byte, source, target uint16) []byte {
		b := make([]byte, 28)
		b[0], b[9], b[15], b[19] = 0x45, protocol, from, to
		binary.BigEndian.PutUint16(b[20:], source)
		binary.BigEndian.PutUint16(b[22:], target)
		return b
	}
	for _, tt := range []struct {
		what   string
		packet []byte
		passes bool
	}{
		{"a manager asks a gate of another place", packet(protocolTCP, 4, 2, 40000, gatePort), true},
		{"the gate answers", packet(protocolTCP, 2, 4, gatePort, 40000), true},
		{"a gate asks a manager of another place", packet(protocolTCP, 2, 4, 40000, gatePort), false},
		{"datagrams to a gate of another place", packet(protocolUDP, 4, 2, gatePort, gatePort), false},
		{"another port of a gate", packet(protocolTCP, 4, 2, 40000, 7490), false},
		{"managers of two places", packet(protocolTCP, 3, 4, 40000, gatePort), false},
		{"a message of ICMP", packet(1, 4, 2, 0, 0), false},
		{"a packet without ports", packet(protocolTCP, 4, 2, 40000, gatePort)[:22], false},
		{"within a place", packet(protocolUDP, 2, 3, gatePort, gatePort), true},
		{"a client asks its gate", packet(protocolTCP, 5, 2, 40000, gatePort), true},
		{"to a host of no place", packet(protocolTCP, 4, 9, 40000, 8080), true},
	} {
		if got := w.passes(tt.packet); got != tt.passes {
			t.Errorf("%s: passes %v, want %v", tt.what, got, tt.passes)
		}
	}
	if w.passed != 2 || w.held["UDP"] != 1 || w.held["TCP"] != 4 || w.held["other"] != 1 {
		t.Errorf("%d passed, %v held back", w.passed, w.held)
	}
}
