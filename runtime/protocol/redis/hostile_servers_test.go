package redis_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/authority"
	hostile "hyperscale/runtime/protocol/hostile/redis"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

// visitor asks a hostile server as the engine does: it keeps a connection that is usable, and never
// sends twice.
type visitor struct {
	server    *hostile.Server
	entry     *hostile.Entry
	deadline  time.Duration
	protocol  *redis.Protocol
	operation *redis.Operation
	conn      net.Conn
	state     *redis.Conn
	on        kept
	sent      uint64
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

// dial connects and greets. Rest came behind the greeting.
func (v *visitor) dial(until time.Time) (rest []byte, err error) {
	c, err := net.Dial("tcp", v.server.Address())
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(until)
	v.conn = c
	if v.entry.Ask.TLS {
		v.conn = tls.Client(c, &tls.Config{RootCAs: authority.Roots(), ServerName: "127.0.0.1"})
	}
	if !v.protocol.Greets() {
		v.begin(v.protocol.Begin())
		return nil, nil
	}
	rounds, out := codec.NewRounds(v.protocol.Greet())
	if _, err := v.conn.Write(out); err != nil {
		return nil, err
	}
	buffer := make([]byte, 16<<10)
	for {
		n, readErr := v.conn.Read(buffer)
		_, rest, d, err := rounds.Feed(nil, buffer[:n])
		switch {
		case err != nil:
			return nil, err
		case d != nil:
			v.begin(d.(*redis.Conn))
			return rest, nil
		case errors.Is(readErr, os.ErrDeadlineExceeded):
			return nil, &http1.Error{Kind: http1.KindConnectTimeout}
		case readErr != nil:
			return nil, rounds.End(readErr)
		}
	}
}

func (v *visitor) begin(c *redis.Conn) {
	v.state, v.on = c, kept{of: c}
}

// ask sends the operation and waits for its answer.
func (v *visitor) ask() (redis.Outcome, error) {
	until := time.Now().Add(v.deadline)
	var rest []byte
	if v.conn == nil {
		var err error
		if rest, err = v.dial(until); err != nil {
			v.hangUp()
			return redis.Outcome{}, err
		}
	}
	v.on.outcomes = nil
	err := v.state.Operate(v.operation, redis.Order{Keeps: true, Sent: &v.sent})
	if err == nil {
		err = v.state.Feed(rest, &v.on)
	}
	for err == nil && len(v.on.outcomes) == 0 {
		if err = v.turn(until); errors.Is(err, os.ErrDeadlineExceeded) && v.state.Unsent() > 0 {
			err = &http1.Error{Kind: http1.KindWriteTimeout}
		}
	}
	if err != nil {
		v.hangUp()
	}
	if len(v.on.outcomes) == 0 {
		return redis.Outcome{}, err
	}
	return v.on.outcomes[0], v.on.outcomes[0].Err
}

// turn writes what is queued and reads once.
func (v *visitor) turn(until time.Time) error {
	v.write(until)
	_ = v.conn.SetReadDeadline(until)
	buffer := make([]byte, 64<<10)
	n, err := v.conn.Read(buffer)
	wrong := v.state.Feed(buffer[:n], &v.on)
	switch {
	case wrong != nil:
		return wrong
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		if end := v.state.End(err); end != nil {
			return end
		}
	}
	return err
}

// write writes in pieces: a server that answers and does not read must be heard meanwhile.
func (v *visitor) write(until time.Time) {
	for len(v.state.Output()) > 0 && time.Now().Before(until) {
		b := v.state.Output()
		short := time.Now().Add(20 * time.Millisecond)
		if v.entry.Ask.TLS { // a write that times out breaks it
			short = until
		}
		_ = v.conn.SetWriteDeadline(short)
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
		if err := v.turn(until); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
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
	var config redis.Config
	if e.Ask.Greets {
		config = redis.Config{Version: 3, User: hostile.User, Password: hostile.Password, Database: 2}
	}
	key := redis.Text(strings.Repeat("k", max(e.Ask.Size, 1)))
	v := &visitor{server: s, entry: e, deadline: deadline, protocol: redis.New(config), operation: redis.Compile([]redis.Command{{redis.Text("GET"), key}})}
	defer v.hangUp()
	got, err := v.ask()
	switch {
	case kindOf(err) != e.Want.Kind || err == nil && string(got.Body) != e.Want.Body:
		return fmt.Errorf("got %.60q (%v), want %q %.60q", got.Body, err, e.Want.Kind, e.Want.Body)
	case err != nil && strings.Contains(err.Error(), hostile.Password):
		return fmt.Errorf("the error has the password in it: %w", err)
	}
	if e.Ask.Once {
		return nil
	}
	v.idle()
	v.deadline, v.operation = 5*time.Second, get // a good server needs no deadline
	if got, err := v.ask(); err != nil || string(got.Body) != hostile.Next {
		return fmt.Errorf("the next operation: got %.40q, %v", got.Body, err)
	}
	reused := s.Counts().Reused
	v.deadline = 100 * time.Millisecond
	last := make(chan struct{})
	defer func() { <-last }()
	go func() {
		defer close(last)
		_, _ = v.ask() // it gets no answer
	}()
	select {
	case <-s.Proved():
	case <-time.After(5 * time.Second):
		return errors.New("no next operation was right")
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
