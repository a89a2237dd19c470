package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// packetMax is the TUN devices' MTU, and the size of the largest packet.
const packetMax = 1500

// way is what befalls packets from one host to another.
type way struct {
	cut       int // partitions that cover it
	delay     time.Duration
	jitter    time.Duration
	loss      float64 // share that is lost
	duplicate float64
}

// fabric carries IPv4 packets between hosts by their addresses 10.9.0.N.
type fabric struct {
	mu    sync.Mutex
	ports map[byte]*os.File
	ways  map[[2]byte]*way
	draw  *rand.Rand
	wall  *wall // nil: there is none
}

func newFabric() *fabric {
	return &fabric{ports: map[byte]*os.File{}, ways: map[[2]byte]*way{}, draw: rand.New(rand.NewPCG(rand.Uint64(), 2))}
}

// attach carries what arrives from a host's device until it is closed.
func (f *fabric) attach(host byte, device *os.File) {
	f.mu.Lock()
	f.ports[host] = device
	f.mu.Unlock()
	go func() {
		for b := make([]byte, packetMax+100); ; {
			n, err := device.Read(b)
			if err != nil {
				return // closed
			}
			if n >= 20 && b[0]>>4 == 4 {
				f.carry(host, append([]byte(nil), b[:n]...))
			}
		}
	}()
}

// carry decides what becomes of one packet.
func (f *fabric) carry(from byte, packet []byte) {
	to := packet[19]
	f.mu.Lock()
	defer f.mu.Unlock()
	port := f.ports[to]
	if binary.BigEndian.Uint16(packet[16:]) != 10<<8|9 || port == nil {
		return
	}
	if f.wall != nil && !f.wall.passes(packet) {
		return
	}
	w := f.ways[[2]byte{from, to}]
	if w == nil {
		_, _ = port.Write(packet) // a full queue loses packets, as networks do
		return
	}
	if w.cut > 0 || f.draw.Float64() < w.loss {
		return
	}
	copies := 1
	if f.draw.Float64() < w.duplicate {
		copies = 2
	}
	for range copies {
		wait := w.delay
		if w.jitter > 0 {
			wait += time.Duration(f.draw.Int64N(int64(w.jitter)))
		}
		if wait == 0 {
			_, _ = port.Write(packet)
			continue
		}
		time.AfterFunc(wait, func() { _, _ = port.Write(packet) })
	}
}

// change changes the way from each of some hosts to each of others.
func (f *fabric) change(from, to []byte, how func(*way)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range from {
		for _, b := range to {
			if a == b {
				continue
			}
			w := f.ways[[2]byte{a, b}]
			if w == nil {
				w = &way{}
				f.ways[[2]byte{a, b}] = w
			}
			how(w)
		}
	}
}

// heal makes all ways good again.
func (f *fabric) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ways = map[[2]byte]*way{}
}

func (f *fabric) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ports {
		_ = p.Close() // its host goes away
	}
	f.ports = map[byte]*os.File{}
}

func address(host byte) string { return fmt.Sprintf("10.9.0.%d", host) }
