package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/websocket"
)

// echoing is a server of WebSocket that sends each message back.
type echoing struct {
	listener net.Listener
	counter  *counter
	open     atomic.Int64
	pings    time.Duration
}

func newEchoing(c serverConfig, n *counter) (*echoing, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	return &echoing{listener: listener, counter: n, pings: c.Pings}, nil
}

func (e *echoing) serve() error {
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }() // the client has gone
			n := e.open.Add(1)
			defer e.open.Add(-1)
			for most := e.counter.most.Load(); n > most && !e.counter.most.CompareAndSwap(most, n); most = e.counter.most.Load() {
			}
			_ = e.connection(c) // how a client leaves is its own business
		}()
	}
}

// buffered reads and writes through buffers: one system call a message each way.
type buffered struct {
	*bufio.Reader
	*bufio.Writer
}

func (e *echoing) connection(c net.Conn) error {
	size := 4096
	if e.pings > 0 {
		size = 512
	}
	b := buffered{bufio.NewReaderSize(c, size), bufio.NewWriterSize(c, size)}
	if _, err := ws.Upgrade(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if e.pings > 0 {
		defer e.pinging(c).Stop()
	}
	payload := make([]byte, size)
	for {
		head, err := ws.ReadHeader(b)
		if err != nil {
			return err
		}
		if head.OpCode == ws.OpClose || head.Length > 64<<10 {
			return nil
		}
		if int(head.Length) > len(payload) {
			payload = make([]byte, head.Length)
		}
		if _, err := io.ReadFull(b, payload[:head.Length]); err != nil {
			return err
		}
		if head.OpCode == ws.OpPong {
			e.counter.pongs.Add(1)
			continue
		}
		ws.Cipher(payload[:head.Length], head.Mask, 0)
		e.counter.requests.Add(1)
		head.Masked = false
		if err := ws.WriteHeader(b, head); err != nil {
			return err
		}
		if _, err := b.Write(payload[:head.Length]); err != nil {
			return err
		}
		if b.Reader.Buffered() == 0 {
			if err := b.Flush(); err != nil {
				return err
			}
		}
	}
}

// pinging pings a connection now and then. A frame is one write, so that none cuts another one.
func (e *echoing) pinging(c net.Conn) *time.Timer {
	var next *time.Timer
	ready := make(chan struct{})
	next = time.AfterFunc(e.pings, func() {
		<-ready
		if ws.WriteFrame(c, ws.NewPingFrame(nil)) == nil {
			next.Reset(e.pings)
		}
	})
	close(ready)
	return next
}

// exchanger sends one message and waits for one, again and again.
type exchanger func(c net.Conn, payload []byte, exchanged func() bool) error

// loops are plain loops, a goroutine for each connection: over gobwas/ws, the peer; over its
// wsutil, as its manual shows it; over our codec, which shows what the engine's loop adds or saves.
var loops = map[string]exchanger{"gobwas": gobwasLoop, "wsutil": wsutilLoop, "codec": codecLoop, "lines": linesLoop, "packets": packetsLoop}

// loop is the process of one of them: its argument is a loopConfig.
func loop(text string, out io.Writer) error {
	var c loopConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	if strings.HasPrefix(c.Name, "epoll") {
		bare := epollLoop
		switch {
		case floors[c.Name] != nil:
			bare = floorLoop
		case c.Name == "epoll-ftp":
			bare = floorFTP
		case c.Name == "epoll-amqp-shared":
			bare = floorShared
		}
		done, failed, err := bare(c)
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err) // the count tells, too
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	if c.Name == "grpc-go" {
		done, failed, err := grpcLoop(c)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	if c.Name == "amqp091-go" {
		done, failed, err := amqpLoop(c)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	if c.Name == "franz-go reads" {
		done, failed, err := kafkaRead(c)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	if strings.HasPrefix(c.Name, "franz-go") {
		done, failed, err := kafkaLoop(c, c.Name != "franz-go")
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	if loop := map[string]func(loopConfig) (requests, failures uint64, err error){"nats.go": natsLoop, "paho": mqttLoop, "ftp-loop": ftpLoop, "sftp-loop": sftpLoop, "mongo-driver": mongoLoop, "http3.Transport": http3Loop}[c.Name]; loop != nil {
		done, failed, err := loop(c)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(told{Requests: done, Failed: failed})
	}
	play := loops[c.Name]
	if play == nil {
		return fmt.Errorf("no loop is called %q", c.Name)
	}
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	for range c.Connections {
		all.Go(func() {
			conn, err := net.Dial(map[bool]string{true: "udp", false: "tcp"}[c.Name == "packets"], c.Address)
			if err == nil {
				defer func() { _ = conn.Close() }() // nothing is under way
				n := uint64(0)
				err = play(conn, []byte(strings.Repeat("x", c.Size)), func() bool {
					if n++; n%64 == 0 {
						return time.Now().Before(until)
					}
					return true
				})
				done.Add(n)
			}
			if err != nil {
				failed.Add(1)
				_, _ = fmt.Fprintln(os.Stderr, err) // the count tells, too
			}
		})
	}
	all.Wait()
	return json.NewEncoder(out).Encode(told{Requests: done.Load(), Failed: failed.Load()})
}

type loopConfig struct {
	Name        string
	Address     string
	Connections int
	Streams     int // calls at once on each; 0: one
	Size        int
	Dir         string // of keys and files; empty: none
	Duration    time.Duration
}

func readLoop(b []byte) (t told, err error) { return t, json.Unmarshal(b, &t) }

// wsutilLoop has no buffer of its own.
func wsutilLoop(c net.Conn, payload []byte, exchanged func() bool) error {
	if err := dialled(c); err != nil {
		return err
	}
	for {
		if err := wsutil.WriteClientText(c, payload); err != nil {
			return err
		}
		if _, err := wsutil.ReadServerText(c); err != nil {
			return err
		}
		if !exchanged() {
			return nil
		}
	}
}

// dialled upgrades a connection for gobwas/ws.
func dialled(c net.Conn) error {
	d := ws.Dialer{NetDial: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
	_, early, _, err := d.Dial(context.Background(), "ws://"+c.RemoteAddr().String()+"/")
	if err == nil && early != nil {
		err = errors.New("the server sent before it was asked")
	}
	return err
}

// gobwasLoop favours the peer: it reads and writes through buffers, and copies nothing twice.
func gobwasLoop(c net.Conn, payload []byte, exchanged func() bool) error {
	if err := dialled(c); err != nil {
		return err
	}
	g := newGobwas(c, payload)
	for {
		if err := g.exchange(); err != nil {
			return err
		}
		if !exchanged() {
			return nil
		}
	}
}

// gobwas is one connection of gobwasLoop.
type gobwas struct {
	buffered
	payload, masked, answer []byte
}

func newGobwas(c net.Conn, payload []byte) *gobwas {
	return &gobwas{buffered{bufio.NewReader(c), bufio.NewWriter(c)}, payload, make([]byte, len(payload)), make([]byte, 64<<10)}
}

func (g *gobwas) exchange() error {
	mask := ws.NewMask()
	copy(g.masked, g.payload)
	ws.Cipher(g.masked, mask, 0)
	if err := ws.WriteHeader(g, ws.Header{Fin: true, OpCode: ws.OpText, Masked: true, Mask: mask, Length: int64(len(g.payload))}); err != nil {
		return err
	}
	if _, err := g.Write(g.masked); err != nil {
		return err
	}
	if err := g.Flush(); err != nil {
		return err
	}
	head, err := ws.ReadHeader(g)
	if err != nil {
		return err
	}
	if err := ws.CheckHeader(head, ws.StateClientSide); err != nil || head.Length > int64(len(g.answer)) {
		return fmt.Errorf("a head of %d bytes: %v", head.Length, err)
	}
	if _, err = io.ReadFull(g, g.answer[:head.Length]); err == nil && !utf8.Valid(g.answer[:head.Length]) {
		err = errors.New("the answer is no text")
	}
	return err
}

// messages counts what comes.
type messages int

func (m *messages) Message(codec.MessageKind, []byte) { *m++ }
func (m *messages) Pong(uint64)                       {}
func (m *messages) Leaves(uint16, string)             {}

func codecLoop(c net.Conn, payload []byte, exchanged func() bool) error {
	random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	dialogue, err := greet(c, random)
	if err != nil {
		return err
	}
	prepared, err := websocket.Prepare(codec.MessageText, payload, false)
	if err != nil {
		return err
	}
	buffer, on, sent := make([]byte, 64<<10), messages(0), uint64(0)
	for {
		if err := exchange(c, dialogue, prepared, &on, buffer, &sent); err != nil {
			return err
		}
		if !exchanged() {
			return nil
		}
	}
}

// exchange sends a message and reads until one has come.
func exchange(c net.Conn, d *websocket.Conn, prepared *websocket.Prepared, on *messages, buffer []byte, sent *uint64) error {
	if err := d.SendPrepared(prepared, sent); err != nil {
		return err
	}
	for want := *on + 1; *on < want; {
		for out := d.Output(); len(out) > 0; out = d.Output() {
			n, err := c.Write(out)
			if err != nil {
				return err
			}
			d.Sent(n)
		}
		n, err := c.Read(buffer)
		if err != nil {
			return d.End(err)
		}
		if err := d.Feed(buffer[:n], on); err != nil {
			return err
		}
	}
	return nil
}

// fields are a head of net/http.
type fields [][2]string

func (f fields) Len() int                      { return len(f) }
func (f fields) At(i int) (name, value []byte) { return []byte(f[i][0]), []byte(f[i][1]) }

// greet upgrades a connection for our codec.
func greet(c net.Conn, random *rand.Rand) (*websocket.Conn, error) {
	p, err := websocket.New(websocket.Config{})
	if err != nil {
		return nil, err
	}
	return upgraded(p, c, random)
}

func upgraded(p *websocket.Protocol, c net.Conn, random *rand.Rand) (*websocket.Conn, error) {
	var key [16]byte
	for i := range key {
		key[i] = byte(random.Uint32())
	}
	u := p.Upgrade()
	head := u.AppendFields([]byte("GET / HTTP/1.1\r\nHost: "+c.RemoteAddr().String()+"\r\n"), key)
	if _, err := c.Write(append(head, "\r\n"...)); err != nil {
		return nil, err
	}
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	if r.Buffered() > 0 {
		return nil, errors.New("the server sent before it was asked")
	}
	var all fields
	for name, values := range answer.Header {
		for _, v := range values {
			all = append(all, [2]string{name, v})
		}
	}
	d, err := u.Begin(answer.StatusCode, all, random.Uint32)
	if err != nil {
		return nil, err
	}
	return d.(*websocket.Conn), nil
}

// websocketSize is how many bytes each message of the experiment has.
const websocketSize = 40

// websocket compares exchanges of messages on 64 connections with plain loops.
func (b *bench) websocket() error {
	s, err := startServer(serverConfig{Kind: "websocket"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	const vus = 64
	step := fmt.Sprintf("step(\"echo\", websocket.exchange(\"ws://%s/\", send = [%q], receive = 1))", s.Address, strings.Repeat("x", websocketSize))
	us, err := b.ours("websocket", 1, flow{Name: "websocket", Step: step, VUs: vus, Duration: b.duration})
	if err != nil {
		return err
	}
	all := []contender{us}
	for _, name := range []string{"codec", "gobwas", "wsutil", "epoll-websocket"} {
		c, err := loopContender(loopConfig{Name: name, Address: s.Address, Connections: vus, Size: websocketSize, Duration: b.duration})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	rows := b.cost("websocket", strconv.Itoa(vus)+" connections", s, all)
	b.bars("0.7", rows, rival{"gobwas", 1 / 0.7})
	b.floorTold(rows, "epoll-websocket", rival{"gobwas", 1 / 0.7})
	return nil
}

func (b *bench) takesWebsocket() time.Duration { return b.turns(5*b.rounds, b.duration) }

// loopContender makes a client of this program itself.
func loopContender(c loopConfig) (contender, error) {
	self, err := os.Executable()
	if err != nil {
		return contender{}, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return contender{}, err
	}
	return contender{name: c.Name, read: readLoop, command: command{Args: []string{self, "loop", string(text)}, Limit: 2*c.Duration + time.Minute}}, nil
}
