package membership

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// net10 is the network that the peer runs on: packets are lost and late, streams
// are late; a paused member neither sends nor receives.
type net10 struct {
	mu      sync.Mutex
	draw    *rand.Rand
	ports   []*port
	lossy   bool
	bytes   atomic.Uint64
	measure atomic.Bool
}

// port is one member's transport.
type port struct {
	net     *net10
	index   int
	packets chan *memberlist.Packet
	streams chan net.Conn

	mu    sync.Mutex
	awake *sync.Cond
	still bool // paused
	dead  bool
}

func newPort(n *net10, i int) *port {
	p := &port{net: n, index: i, packets: make(chan *memberlist.Packet, 4096), streams: make(chan net.Conn, 256)}
	p.awake = sync.NewCond(&p.mu)
	return p
}

func hostOf(i int) string { return fmt.Sprintf("10.0.%d.%d", i/250, i%250+1) }

func indexOf(addr string) int {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return -1
	}
	ip := net.ParseIP(host).To4()
	if ip == nil {
		return -1
	}
	return int(ip[2])*250 + int(ip[3]) - 1
}

// wait blocks while the member is paused.
func (p *port) wait() {
	p.mu.Lock()
	for p.still {
		p.awake.Wait()
	}
	p.mu.Unlock()
}

func (p *port) pause(still bool) {
	p.mu.Lock()
	p.still = still
	p.mu.Unlock()
	p.awake.Broadcast()
}

func (p *port) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// late draws how long something travels, and whether it arrives.
func (n *net10) late(packet bool) (time.Duration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := delayMin + time.Duration(n.draw.Int64N(int64(delayMax-delayMin)))
	return d, !packet || !n.lossy || n.draw.Float64() >= loss
}

func (n *net10) count(bytes int) {
	if n.measure.Load() {
		n.bytes.Add(uint64(bytes))
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (p *port) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.ParseIP(hostOf(p.index)), 7946, nil
}

// WriteTo implements memberlist.Transport.
func (p *port) WriteTo(b []byte, addr string) (time.Time, error) {
	p.wait()
	to := indexOf(addr)
	if p.gone() || to < 0 || to >= len(p.net.ports) {
		return time.Now(), nil
	}
	p.net.count(len(b))
	d, arrives := p.net.late(true)
	if !arrives {
		return time.Now(), nil
	}
	other := p.net.ports[to]
	packet := &memberlist.Packet{Buf: append([]byte(nil), b...), From: &net.UDPAddr{IP: net.ParseIP(hostOf(p.index)), Port: 7946}}
	time.AfterFunc(d, func() {
		other.wait()
		if other.gone() {
			return
		}
		packet.Timestamp = time.Now()
		select {
		case other.packets <- packet:
		default: // a full queue loses packets, as sockets do
		}
	})
	return time.Now(), nil
}

// PacketCh implements memberlist.Transport.
func (p *port) PacketCh() <-chan *memberlist.Packet { return p.packets }

// StreamCh implements memberlist.Transport.
func (p *port) StreamCh() <-chan net.Conn { return p.streams }

// Shutdown implements memberlist.Transport.
func (p *port) Shutdown() error { return nil }

var errRefused = errors.New("nobody listens")

// DialTimeout implements memberlist.Transport.
func (p *port) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	p.wait()
	to := indexOf(addr)
	if to < 0 || to >= len(p.net.ports) || p.gone() {
		return nil, errRefused
	}
	other := p.net.ports[to]
	d, _ := p.net.late(false)
	time.Sleep(2 * d)
	other.mu.Lock()
	still, dead := other.still, other.dead
	other.mu.Unlock()
	if dead {
		time.Sleep(timeout)
		return nil, errRefused
	}
	_ = still // the kernel of a paused process accepts for it
	mine, theirs := net.Pipe()
	other.streams <- &counted{theirs, other}
	return &counted{mine, p}, nil
}

// counted is one side of a stream.
type counted struct {
	net.Conn
	port *port
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.port.wait()
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	c.port.wait()
	d, _ := c.port.net.late(false)
	time.Sleep(d)
	c.port.net.count(len(b))
	return c.Conn.Write(b)
}

// watcher collects deaths.
type watcher struct {
	by    int
	began time.Time
	mu    *sync.Mutex
	to    *[]death
}

// NotifyJoin implements memberlist.EventDelegate.
func (w watcher) NotifyJoin(*memberlist.Node) {}

// NotifyUpdate implements memberlist.EventDelegate.
func (w watcher) NotifyUpdate(*memberlist.Node) {}

// NotifyLeave implements memberlist.EventDelegate.
func (w watcher) NotifyLeave(n *memberlist.Node) {
	about, err := strconv.Atoi(n.Name)
	if err != nil || about == w.by {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.to = append(*w.to, death{time.Since(w.began), w.by, about})
}

// runPeer plays a plan with memberlist. It must run inside a synctest bubble.
func runPeer(p plan) (outcome, error) {
	n := &net10{draw: rand.New(rand.NewPCG(p.seed, 11))}
	began := time.Now()
	var mu sync.Mutex
	var deaths []death
	lists := make([]*memberlist.Memberlist, members)
	for i := range members {
		n.ports = append(n.ports, newPort(n, i))
	}
	for i := range members {
		c := memberlist.DefaultLANConfig()
		c.Name, c.Transport, c.Logger = strconv.Itoa(i), n.ports[i], log.New(io.Discard, "", 0)
		c.Events = watcher{i, began, &mu, &deaths}
		var err error
		if lists[i], err = memberlist.Create(c); err != nil {
			return outcome{}, fmt.Errorf("member %d: %w", i, err)
		}
	}
	seed := hostOf(members-1) + ":7946"
	for i := range members - 1 {
		if _, err := lists[i].Join([]string{seed}); err != nil {
			return outcome{}, fmt.Errorf("member %d joins: %w", i, err)
		}
	}
	at := func(t time.Duration, f func()) { time.AfterFunc(t-time.Since(began), f) }
	at(settled, func() {
		n.mu.Lock()
		n.lossy = true
		n.mu.Unlock()
		n.measure.Store(true)
	})
	for _, s := range p.pauses {
		at(s.from, func() { n.ports[s.member].pause(true) })
		at(s.to, func() { n.ports[s.member].pause(false) })
	}
	at(crashes, func() {
		port := n.ports[p.crashed]
		port.mu.Lock()
		port.dead = true
		port.mu.Unlock()
	})
	time.Sleep(ends - time.Since(began))
	n.measure.Store(false)
	for _, l := range lists {
		if err := l.Shutdown(); err != nil {
			return outcome{}, err
		}
	}
	time.Sleep(time.Minute) // what still sleeps wakes and ends
	mu.Lock()
	defer mu.Unlock()
	return p.judge(deaths, n.bytes.Load()), nil
}
