package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"golang.org/x/sys/unix"

	"hyperscale/runtime/protocol/codec"
	own "hyperscale/runtime/protocol/websocket"
)

// twin is a server of coder/websocket: it pings, sends each message back in two or more frames,
// and says goodbye with a reason when it gets the text "leave".
func twin(t *testing.T, mode websocket.CompressionMode) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: mode, CompressionThreshold: 1, Subprotocols: []string{"v2"}})
		if err != nil {
			t.Errorf("the twin refuses the upgrade: %v", err)
			return
		}
		defer func() { _ = c.CloseNow() }() // the client has gone
		c.SetReadLimit(16 << 20)
		if err := echo(r.Context(), c); err != nil && websocket.CloseStatus(err) != websocket.StatusNormalClosure {
			t.Errorf("the twin: %v", err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func echo(ctx context.Context, c *websocket.Conn) error {
	for {
		kind, b, err := c.Read(ctx)
		if err != nil {
			return err
		}
		if string(b) == "leave" {
			return c.Close(4001, "as you wish")
		}
		w, err := c.Writer(ctx, kind)
		if err != nil {
			return err
		}
		for piece := b; len(piece) > 0 && err == nil; piece = piece[min(len(piece), 1+len(b)/3):] {
			_, err = w.Write(piece[:min(len(piece), 1+len(b)/3)])
		}
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
}

// heard is what our side hears.
type heard struct {
	kinds []codec.MessageKind
	texts []string
	pongs []uint64
	code  uint16
	why   string
}

func (h *heard) Message(kind codec.MessageKind, b []byte) {
	h.kinds, h.texts = append(h.kinds, kind), append(h.texts, string(b))
}
func (h *heard) Pong(payload uint64)               { h.pongs = append(h.pongs, payload) }
func (h *heard) Leaves(code uint16, reason string) { h.code, h.why = code, reason }

// talk writes and reads until enough has come.
func talk(c net.Conn, d *own.Conn, on *heard, cut int, enough func() bool) error {
	buffer := make([]byte, cut)
	for !enough() {
		for out := d.Output(); len(out) > 0; out = d.Output() {
			n, err := c.Write(out)
			if err != nil {
				return err
			}
			d.Sent(n)
		}
		n, err := c.Read(buffer)
		if wrong := d.Feed(buffer[:n], on); wrong != nil {
			return wrong
		}
		if err != nil {
			return errors.Join(err, d.End(err))
		}
	}
	return nil
}

// TestTwin sends random messages to coder/websocket and gets them back, with each agreement on
// compression; the twin takes our goodbye, and we take its own.
func TestTwin(t *testing.T) {
	for name, mode := range map[string]struct {
		offer      own.Compression
		twin       websocket.CompressionMode
		compressed bool
	}{
		"no compression": {own.CompressionOff, websocket.CompressionContextTakeover, false},
		"declined":       {own.CompressionFresh, websocket.CompressionDisabled, false},
		"no context":     {own.CompressionFresh, websocket.CompressionNoContextTakeover, true},
		"its context":    {own.CompressionTakeover, websocket.CompressionContextTakeover, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := own.New(own.Config{Compression: mode.offer, Protocols: []string{"v1", "v2"}})
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, uint64(mode.offer)))
			address := strings.TrimPrefix(twin(t, mode.twin).URL, "http://")
			for _, cut := range []int{1, 17, 64 << 10} {
				if err := converse(p, address, random, cut, mode.compressed); err != nil {
					t.Errorf("in pieces of %d: %v", cut, err)
				}
			}
		})
	}
}

func converse(p *own.Protocol, address string, random *rand.Rand, cut int, compressed bool) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the twin closes first
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	d, err := upgraded(p, c, random)
	if err != nil {
		return err
	}
	if d.Chosen() != "v2" || d.Compressed() != compressed {
		return fmt.Errorf("chosen %q, compressed %v", d.Chosen(), d.Compressed())
	}
	on, sent := &heard{}, uint64(0)
	for i := range 30 {
		kind, text := message(random)
		if i%2 == 0 {
			err = d.Send(kind, []byte(text), &sent)
		} else {
			var prepared *own.Prepared
			if prepared, err = own.Prepare(kind, []byte(text), true); err == nil {
				err = d.SendPrepared(prepared, &sent)
			}
		}
		d.Ping(uint64(i))
		if err == nil {
			err = talk(c, d, on, cut, func() bool { return len(on.texts) > i && len(on.pongs) > i })
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if on.texts[i] != text || on.kinds[i] != kind || on.pongs[i] != uint64(i) || sent != uint64(i)+1 {
			return fmt.Errorf("message %d of %d bytes came back with %d, sent counts %d", i, len(text), len(on.texts[i]), sent)
		}
	}
	if random.IntN(2) == 0 {
		d.Leave(1000, "done")
	} else if err := d.Send(codec.MessageText, []byte("leave"), nil); err != nil {
		return err
	}
	if err := talk(c, d, on, cut, d.Over); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if on.code != 1000 && (on.code != 4001 || on.why != "as you wish") {
		return fmt.Errorf("the twin left with %d %q", on.code, on.why)
	}
	return nil
}

// message draws a message that is often compressible.
func message(random *rand.Rand) (codec.MessageKind, string) {
	n := []int{0, 1, 125, 126, 127, 1000, 65535, 65536, 100_000}[random.IntN(9)]
	if random.IntN(2) == 0 {
		return codec.MessageText, strings.Repeat("größe ", n/8)
	}
	b := bytes.Repeat([]byte{byte(random.Uint32()), 0, 0xff}, n/3+1)[:n]
	return codec.MessageBinary, string(b)
}

// TestLoops plays both plain loops against the echoing server: each exchange is counted once.
func TestLoops(t *testing.T) {
	for name, play := range loops {
		if name == "lines" || name == "packets" { // they speak no WebSocket
			continue
		}
		t.Run(name, func(t *testing.T) {
			n := &counter{}
			e, err := newEchoing(serverConfig{Listen: "127.0.0.1:0"}, n)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.listener.Close() }()
			go func() { _ = e.serve() }()
			c, err := net.Dial("tcp", e.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			done := 0
			if err := play(c, []byte("hello"), func() bool { done++; return done < 100 }); err != nil || done != 100 || n.requests.Load() != 100 {
				t.Errorf("%d exchanges, the server counts %d, %v", done, n.requests.Load(), err)
			}
		})
	}
}

// script is a connection whose server always gives one answer: each read gives it or its rest.
type script struct {
	net.Conn
	in   []byte
	left []byte
	out  int
}

func (m *script) Read(b []byte) (int, error) {
	if len(m.left) == 0 {
		m.left = m.in
	}
	n := copy(b, m.left)
	m.left = m.left[n:]
	return n, nil
}

func (m *script) Write(b []byte) (int, error) { m.out += len(b); return len(b), nil }

// BenchmarkWithoutKernel compares what an exchange costs beside its system calls; cpu-ns/op is true
// on a busy machine, too.
func BenchmarkWithoutKernel(b *testing.B) {
	for _, size := range []int{16, 1 << 10, 32 << 10} {
		var answer bytes.Buffer
		if err := ws.WriteFrame(&answer, ws.NewTextFrame(bytes.Repeat([]byte("x"), size))); err != nil {
			b.Fatal(err)
		}
		payload := bytes.Repeat([]byte("x"), size)
		b.Run(fmt.Sprintf("codec/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			defer processor(b)()
			d, err := dialogue()
			if err != nil {
				b.Fatal(err)
			}
			prepared, err := own.Prepare(codec.MessageText, payload, false)
			if err != nil {
				b.Fatal(err)
			}
			c, on, buffer, sent := &script{in: answer.Bytes()}, messages(0), make([]byte, 64<<10), uint64(0)
			for b.Loop() {
				if err := exchange(c, d, prepared, &on, buffer, &sent); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("gobwas/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			defer processor(b)()
			c := &script{in: answer.Bytes()}
			g := newGobwas(c, payload)
			for b.Loop() {
				if err := g.exchange(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("wsutil/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			defer processor(b)()
			c := &script{in: answer.Bytes()}
			for b.Loop() {
				if err := wsutil.WriteClientText(c, payload); err != nil {
					b.Fatal(err)
				}
				if _, err := wsutil.ReadServerText(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// processor reports the processor time of an operation.
func processor(b *testing.B) func() {
	used := func() int64 {
		var r unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return r.Utime.Nano() + r.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// dialogue is one without a connection.
func dialogue() (*own.Conn, error) {
	p, err := own.New(own.Config{})
	if err != nil {
		return nil, err
	}
	u := p.Upgrade()
	u.AppendFields(nil, [16]byte([]byte("the sample nonce")))
	d, err := u.Begin(101, fields{{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}}, rand.New(rand.NewPCG(1, 2)).Uint32)
	if err != nil {
		return nil, err
	}
	return d.(*own.Conn), nil
}
