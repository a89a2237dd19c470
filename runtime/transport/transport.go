package transport

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/resolve"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport/echo"
)

// Sink receives what arrives; the loop implements it. Many goroutines call its methods, but for
// one stream only one, in order.
type Sink interface {
	StreamOpened(s node.StreamID, p node.Peer)
	// StreamBroken says why a stream ended. Unfit: it never opened, as its ends do not belong together.
	StreamBroken(s node.StreamID, p node.Peer, reason string, unfit bool)
	// Message says whether there was room; if there was none, the stream is
	// broken (NODE-4) or the datagram lost.
	Message(from node.Peer, s node.StreamID, m node.Message) bool
	// Resolved takes the outcome of a look-up.
	Resolved(n node.Names)
}

// Limits bound the cost of a peer or a stranger. They are fields so that tests need not wait
// for them.
type Limits struct {
	Dial      time.Duration // to connect, resolving the name included
	Handshake time.Duration // from the connection to the peer's whole Hello
	Frame     time.Duration // from a frame's length to its last byte
	Write     time.Duration // for 64 KiB to leave, or one frame that is larger
	Linger    time.Duration // for the peer to take what Close left in flight
	Strangers int           // connections that have not said Hello
	Clients   int           // streams that clients opened; of one address at most half
	Nodes     int           // streams that other nodes opened
	Crowd     time.Duration // how long a stranger keeps its place against newer ones
	Queue     int           // bytes that wait to be written on one stream
}

// DefaultLimits are those of production. In three seconds a connection to one address opens across any ocean
// despite a lost packet. An address whose node has gone may not answer at all: a worker tries the node's new one
// before worker.renewal_timeout is over. Within five seconds a Hello crosses any ocean despite
// two lost packets; more would only help slow-loris. In ten seconds a frame of 1 MiB arrives at
// 1 Mbit/s. A queue of 8 MiB holds several of the largest results; a peer that is further
// behind should lose its stream. In half a second an honest peer has sent Hello, across any
// ocean. 20,000 clients wait for their jobs at one gate; a manager has 10,000 workers. Where the
// limit of open files is lower, all these places are fewer.
func DefaultLimits() Limits {
	return Limits{
		Dial: 3 * time.Second, Handshake: 5 * time.Second, Frame: 10 * time.Second, Write: 10 * time.Second,
		Linger: time.Second, Strangers: 1024, Clients: 20_000, Nodes: 20_000, Crowd: 500 * time.Millisecond, Queue: 8 << 20,
	}.bounded(descriptors())
}

// Config describes a node on the wire.
type Config struct {
	Self        node.Peer
	Cluster     string
	Resolver    *resolve.Resolver // of names with several addresses; nil: the machine's own
	Environment string
	Limits      Limits             // zero: DefaultLimits
	Datacenter  string             // of a manager or a worker
	Set         func() []node.Addr // that the node is a member of, for echoes; nil: none. Called from any goroutine.
	Leases      echo.Leases        // that the node has, for echoes
	Sinks       string             // names a gate's sinks, for echoes; empty: it tells none
	Keys        *seal.Ring         // nil: frames are not sealed
	Certs       *certs.Store       // nil: streams do without TLS
	Observe     func(node.Event)   // nil: no observer. Called from any goroutine.
	Logger      *slog.Logger       // nil: nothing is logged
}

// Transport is a node.Network over Sockets.
type Transport struct {
	config    Config
	sockets   *Sockets
	hello     *message.Hello
	sink      Sink
	quiet     quiet
	counters  counters
	datagrams datagrams
	crowd     crowd
	certified certified
	seats     func(node.Role) bool // whose accepted streams the hall serves

	dialing context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	last    node.StreamID
	streams map[node.StreamID]*stream
	unknown map[net.Conn]time.Time // accepted then, and have not said Hello
	hall    *hall                  // nil: no client has come yet
	closed  bool

	room chan struct{} // bounds the unknown connections: Limits.Strangers
}

var _ node.Network = (*Transport)(nil)

// New returns the transport of a node; Serve starts it. It owns the sockets.
func New(c Config, s *Sockets) *Transport {
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(node.Event) {}
	}
	t := &Transport{
		config: c, sockets: s, hello: helloOf(&c), streams: map[node.StreamID]*stream{}, unknown: map[net.Conn]time.Time{},
		quiet: quiet{logger: c.Logger, seen: map[string]time.Time{}},
		crowd: crowd{sources: map[netip.Addr]int{}},
		seats: seated,
	}
	t.room = make(chan struct{}, c.Limits.Strangers)
	t.dialing, t.cancel = context.WithCancel(context.Background())
	t.datagrams.init(c.Keys)
	return t
}

// seated says that the hall serves streams that a role has opened: the roles of which one node has
// thousands.
func seated(r node.Role) bool { return r == node.RoleClient || r == node.RoleWorker }

// Serve starts to accept, and to hear datagrams. Call it once.
func (t *Transport) Serve(sink Sink) {
	t.sink = sink
	if t.sockets.tcp != nil {
		t.workers.Go(t.accept)
	}
	t.workers.Go(t.hear)
	t.workers.Go(t.tell)
}

// Addr is where this node listens: empty if nowhere.
func (t *Transport) Addr() string { return t.sockets.Addr() }

// Open begins a stream: node.Network.
func (t *Transport) Open(to node.Addr) node.StreamID {
	ctx, cancel := context.WithCancel(t.dialing)
	s := t.register(&stream{t: t, to: to, cancelDial: cancel})
	if s == nil {
		cancel()
		return 0 // the node ends: its machine gets no more inputs
	}
	t.workers.Go(func() {
		defer cancel()
		s.dial(ctx)
	})
	return s.id
}

// Send queues m on a stream: node.Network.
func (t *Transport) Send(id node.StreamID, m node.Message) {
	if s := t.stream(id); s != nil {
		s.send(m)
	}
}

// Backlog says how much waits to be written on a stream: node.Network.
func (t *Transport) Backlog(id node.StreamID) (bytes, bound int) {
	s := t.stream(id)
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.bytes, t.config.Limits.Queue
}

// Close ends a stream after its sent messages have left: node.Network.
func (t *Transport) Close(id node.StreamID) {
	if s := t.stream(id); s != nil {
		s.close()
	}
}

func (t *Transport) stream(id node.StreamID) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.streams[id]
}

// register gives s its id, or returns nil after the end.
func (t *Transport) register(s *stream) *stream {
	if s.guest == nil {
		s.wake = make(chan struct{}, 1)
	} else {
		s.guest.s = s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.last++
	s.id = t.last
	t.streams[s.id] = s
	return s
}

func (t *Transport) unregister(s *stream) {
	t.mu.Lock()
	delete(t.streams, s.id)
	t.mu.Unlock()
}

// accept takes connections until the listener is closed.
func (t *Transport) accept() {
	pause := 5 * time.Millisecond
	for {
		conn, err := t.sockets.tcp.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Probably out of descriptors: open connections may end meanwhile.
			t.counters.acceptErrors.Add(1)
			t.config.Logger.Warn("accept a connection", "error", err.Error(), "retry_in", pause)
			select {
			case <-time.After(pause):
			case <-t.dialing.Done():
				return
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = 5 * time.Millisecond
		t.counters.accepted.Add(1)
		if !t.admit(conn) {
			_ = conn.Close() // nothing was said on it
			continue
		}
		t.workers.Go(func() { t.greet(conn) })
	}
}

// admit counts a connection among the strangers. Beyond the bound it closes the oldest one: a
// flood of the port must not keep honest peers out.
func (t *Transport) admit(conn net.Conn) bool {
	select {
	case t.room <- struct{}{}:
	default:
		if !t.makeRoom() {
			return false
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		<-t.room
		return false
	}
	t.unknown[conn] = time.Now()
	return true
}

// makeRoom returns when a stranger has left, or false when the node ends. It closes one at most: the room of a closed one
// is free as soon as its goroutine has noticed.
func (t *Transport) makeRoom() bool {
	for {
		oldest, age := t.oldest()
		var look <-chan time.Time
		if oldest != nil && age >= t.config.Limits.Crowd {
			t.counters.crowded.Add(1)
			_ = oldest.Close() // its handshake ends with an error
		} else {
			look = time.After(max(t.config.Limits.Crowd-age, time.Millisecond))
		}
		select {
		case t.room <- struct{}{}:
			return true
		case <-look:
		case <-t.dialing.Done():
			return false
		}
	}
}

func (t *Transport) oldest() (oldest net.Conn, age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for conn, since := range t.unknown {
		if old := time.Since(since); old > age {
			oldest, age = conn, old
		}
	}
	return oldest, age
}

// dismiss takes a connection from among the strangers: it said Hello, or ended.
func (t *Transport) dismiss(conn net.Conn) {
	t.mu.Lock()
	delete(t.unknown, conn)
	t.mu.Unlock()
	<-t.room
}

// Stop ends every stream after its sent messages have left, at the latest when ctx ends.
func (t *Transport) Stop(ctx context.Context) {
	for _, s := range t.shut() {
		s.close()
	}
	done := make(chan struct{})
	go func() {
		t.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		t.cut()
		<-done
	}
}

// Kill ends everything at once; waiting messages are lost.
func (t *Transport) Kill() {
	t.shut()
	t.cut()
	t.workers.Wait()
}

// shut closes the doors and returns the streams that are left.
func (t *Transport) shut() []*stream {
	t.mu.Lock()
	t.closed = true
	var left []*stream
	for _, s := range t.streams {
		left = append(left, s)
	}
	for conn := range t.unknown {
		_ = conn.Close() // a stranger: nothing is owed
	}
	hall := t.hall
	t.mu.Unlock()
	if hall != nil {
		hall.close()
	}
	t.cancel()
	t.sockets.Close()
	return left
}

func (t *Transport) cut() {
	t.mu.Lock()
	var left []*stream
	for _, s := range t.streams {
		left = append(left, s)
	}
	t.mu.Unlock()
	for _, s := range left {
		s.cut("the node was stopped")
	}
}
