package websocket_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/authority"
	hostile "hyperscale/runtime/protocol/hostile/websocket"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/websocket"
)

// visitor exchanges messages with a hostile server as the engine does: it keeps a connection that
// is usable, and never sends twice.
type visitor struct {
	server   *hostile.Server
	entry    *hostile.Entry
	deadline time.Duration
	random   *rand.Rand
	conn     net.Conn
	upgrade  *websocket.Upgrade
	state    *websocket.Conn
	on       hearer
	size     int // of its message
	sent     uint64
}

func (v *visitor) hangUp() {
	if v.state != nil {
		v.state.Release()
		v.state = nil
	}
	if v.conn != nil {
		_ = v.conn.Close()
		v.conn = nil
	}
}

func (v *visitor) dial(until time.Time) error {
	c, err := net.Dial("tcp", v.server.Address())
	if err != nil {
		return err
	}
	_ = c.SetDeadline(until)
	v.conn = c
	if v.entry.Ask.TLS {
		v.conn = tls.Client(c, &tls.Config{RootCAs: authority.Roots(), ServerName: "127.0.0.1"})
	}
	var random [16]byte
	for i := range random {
		random[i] = byte(v.random.Uint32())
	}
	head := v.upgrade.AppendFields([]byte("GET / HTTP/1.1\r\nHost: "+v.server.Address()+"\r\n"), random)
	if _, err := v.conn.Write(append(head, "\r\n"...)); err != nil {
		return err
	}
	var p http1.Parser
	var kept http1.Collector
	p.Reset("GET")
	p.Upgrade()
	p.Collect(&kept)
	buffer := make([]byte, 16<<10)
	for {
		n, readErr := v.conn.Read(buffer)
		used, done, err := p.Feed(buffer[:n])
		switch {
		case err != nil:
			return err
		case done:
			d, err := v.upgrade.Begin(p.Status(), &kept, v.random.Uint32)
			if err != nil {
				return err
			}
			v.state = d.(*websocket.Conn)
			return v.state.Feed(buffer[used:n], &v.on)
		case errors.Is(readErr, io.EOF):
			_, err := p.FinishEOF()
			return err
		case readErr != nil:
			return readErr
		}
	}
}

// exchange sends a message and waits for one.
func (v *visitor) exchange() (said, error) {
	until := time.Now().Add(v.deadline)
	v.on = hearer{}
	if v.conn == nil {
		if err := v.dial(until); err != nil {
			v.hangUp()
			return said{}, err
		}
		v.on.messages = nil
	}
	m, spent, err := v.await(until)
	if err != nil || spent || len(v.on.messages) > 1 {
		v.hangUp()
	}
	return m, err
}

// await says, too, whether the connection ended with the message.
func (v *visitor) await(until time.Time) (m said, spent bool, err error) {
	_ = v.state.Send(codec.MessageText, []byte(strings.Repeat("x", v.size)), &v.sent) // Leaves tells why not
	for {
		if v.on.code != 0 && len(v.on.messages) == 0 {
			return said{}, true, websocket.Left(v.on.code, v.on.reason)
		}
		err := v.turn(until)
		switch {
		case len(v.on.messages) > 0:
			return v.on.messages[0], err != nil || v.on.code != 0, nil
		case v.on.code != 0:
		case errors.Is(err, os.ErrDeadlineExceeded) && v.state.Unsent() > 0:
			return said{}, true, &http1.Error{Kind: http1.KindWriteTimeout}
		case err != nil:
			return said{}, true, err
		}
	}
}

// turn writes what is queued, reads once, and writes the answers to that.
func (v *visitor) turn(until time.Time) error {
	v.write(until)
	_ = v.conn.SetReadDeadline(until)
	buffer := make([]byte, 64<<10)
	n, err := v.conn.Read(buffer)
	wrong := v.state.Feed(buffer[:n], &v.on)
	v.write(until)
	switch {
	case wrong != nil:
		return wrong
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return v.state.End(err)
	}
	return err
}

// write writes in pieces: a server that answers and does not read must be heard meanwhile.
func (v *visitor) write(until time.Time) {
	for len(v.state.Output()) > 0 && time.Now().Before(until) {
		b := v.state.Output()
		_ = v.conn.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := v.conn.Write(b[:min(len(b), 16<<10)])
		v.state.Sent(n)
		if err != nil {
			return
		}
	}
}

// idle reads what happens on an idle connection.
func (v *visitor) idle() {
	for until := time.Now().Add(v.entry.Ask.Pause); v.conn != nil && time.Now().Before(until); {
		if err := v.turn(until); (err != nil && !errors.Is(err, os.ErrDeadlineExceeded)) || v.state.Over() || v.on.code != 0 {
			v.hangUp()
		}
	}
}

// meet plays one entry and returns what went wrong.
func meet(e *hostile.Entry, deadline time.Duration) error {
	s, err := hostile.Start(e)
	if err != nil {
		return err
	}
	defer s.Close()
	config := websocket.Config{Protocols: e.Ask.Protocols}
	if e.Ask.Compressed {
		config.Compression = websocket.CompressionFresh
	}
	p, err := websocket.New(config)
	if err != nil {
		return err
	}
	v := &visitor{server: s, entry: e, deadline: deadline, random: rand.New(rand.NewPCG(1, 2)), upgrade: p.Upgrade(), size: max(e.Ask.Size, 4)}
	defer v.hangUp()
	got, err := v.exchange()
	if kind := http1.KindOf(err); kind != e.Want.Kind || got.text != e.Want.Message || (got.kind == codec.MessageBinary) != e.Want.Binary {
		return fmt.Errorf("got %v %.40q (%v), want %q %.40q", got.kind, got.text, err, e.Want.Kind, e.Want.Message)
	}
	if e.Ask.Once {
		return nil
	}
	v.idle()
	v.deadline, v.size = 5*time.Second, 4 // a good server needs no deadline
	if got, err := v.exchange(); err != nil || got.text != hostile.Next {
		return fmt.Errorf("the next exchange: got %.40q, %v", got.text, err)
	}
	reused := s.Counts().Reused
	v.deadline = 100 * time.Millisecond
	last := make(chan struct{})
	defer func() { <-last }()
	go func() {
		defer close(last)
		_, _ = v.exchange() // it gets no answer
	}()
	select {
	case <-s.Proved():
	case <-time.After(5 * time.Second):
		return errors.New("no next exchange was right")
	}
	switch {
	case s.Breach() != "":
		return errors.New(s.Breach())
	case e.Want.Reuse != hostile.ReuseEither && reused != (e.Want.Reuse == hostile.ReuseMust):
		return fmt.Errorf("reused %v", reused)
	}
	return nil
}

// Every behaviour of the catalogue, at the same time: they mostly wait.
func TestCatalogueOfServers(t *testing.T) {
	authority.Roots()
	all := hostile.All()
	faults := make([]error, len(all))
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 300 * time.Millisecond; deadline < 10*time.Second; deadline *= 3 {
				if faults[i] = meet(&all[i], deadline); faults[i] == nil {
					return
				}
			}
		})
	}
	running.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("%s: %v", all[i].Name, err)
		}
	}
}
