package http2

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/http1"
)

// visitor calls a hostile server as the engine does, one connection at a time: requests wait
// for a free stream, and move to another connection when theirs takes no more.
type visitor struct {
	server   *hostile.Server
	secure   bool
	call     codec.Operation
	deadline time.Duration
	conn     net.Conn
	state    Conn
	late     bool // the connection is not used again
	ended    map[uint64]string
}

func (v *visitor) Begins(uint64) *http1.Collector { return nil }
func (v *visitor) Head(uint64, int)               {}
func (v *visitor) Body(uint64, []byte)            {}
func (v *visitor) Done(tag uint64)                { v.ended[tag] = "" }
func (v *visitor) Failed(tag uint64, e error)     { v.ended[tag] = string(http1.KindOf(e)) }

func (v *visitor) dial() error {
	c, err := net.Dial("tcp", v.server.Addresses()[0].String())
	if err != nil {
		return err
	}
	if v.secure {
		t := tls.Client(c, &tls.Config{RootCAs: authority.Roots(), ServerName: "127.0.0.1", NextProtos: []string{"h2"}})
		if err := t.Handshake(); err != nil {
			return errors.Join(err, c.Close())
		}
		if t.ConnectionState().NegotiatedProtocol != "h2" {
			return errors.Join(&http1.Error{Kind: http1.KindProtocol}, c.Close())
		}
		c = t
	}
	v.conn, v.late = c, false
	v.state.Reset(Config{})
	return nil
}

func (v *visitor) hangUp(err error) {
	v.state.Close(err, v)
	_ = v.conn.Close()
	v.conn = nil
}

// round sends n requests at once and returns their outcomes.
func (v *visitor) round(n int) []string {
	v.ended = map[uint64]string{}
	open := map[uint64]uint32{}
	next, progress := 0, time.Now()
	for len(v.ended) < n {
		if v.conn != nil && (v.late || !v.state.Usable()) && v.state.Count() == 0 {
			v.hangUp(nil)
		}
		if v.conn == nil {
			if err := v.dial(); err != nil {
				for ; next < n; next++ {
					v.ended[uint64(next)] = string(http1.KindOf(err))
				}
				break
			}
		}
		for ; next < n && !v.late && v.state.CanOpen(); next++ {
			open[uint64(next)] = v.state.Open(&v.call, uint64(next), nil)
			progress = time.Now()
		}
		err := v.turn(progress.Add(v.deadline))
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			v.hangUp(err)
		case v.state.Count() == 0: // nothing is open, and yet nothing may be opened
			v.ended[uint64(next)] = string(http1.KindTimeout)
			next++
			v.hangUp(nil)
		default:
			v.late = !v.state.Ready() || len(v.state.Output()) > 0
			for tag, id := range open {
				if _, over := v.ended[tag]; !over {
					v.ended[tag] = string(http1.KindTimeout)
					if v.state.Sending(id) {
						v.ended[tag] = string(http1.KindWriteTimeout)
					}
					v.state.Cancel(id)
				}
			}
			progress = time.Now()
		}
	}
	all := make([]string, n)
	for i := range all {
		all[i] = v.ended[uint64(i)]
	}
	return all
}

// turn writes the queued bytes and reads once.
func (v *visitor) turn(deadline time.Time) error {
	_ = v.conn.SetDeadline(deadline)
	for len(v.state.Output()) > 0 {
		// In pieces: a server that answers and does not read must be heard meanwhile.
		b := v.state.Output()
		_ = v.conn.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		n, err := v.conn.Write(b[:min(len(b), 16<<10)])
		if v.state.Sent(n); err != nil {
			break
		}
	}
	buffer := make([]byte, 64<<10)
	n, err := v.conn.Read(buffer)
	if wrong := v.state.Feed(buffer[:n], v); wrong != nil {
		err = wrong
	}
	return err
}

// meet plays one entry and returns what went wrong.
func meet(e *hostile.HTTP2Entry, deadline time.Duration) error {
	s, err := hostile.StartHTTP2(e)
	if err != nil {
		return err
	}
	call, err := rendered(http1.Request{Method: cmp.Or(e.Method, "GET"), URL: s.URL(), Body: make([]byte, e.Body)})
	if err != nil {
		return err
	}
	v := &visitor{server: s, secure: e.Secure(), call: call, deadline: deadline}
	n := len(e.Want)
	got := v.round(n)
	next := v.round(n)
	go v.round(1)
	select {
	case <-s.Proved():
	case <-time.After(5 * time.Second):
		return fmt.Errorf("%q, then %q: no next request was right", got, next)
	}
	s.Close()
	_, _, again := s.Counts()
	var want []string
	for _, w := range e.Want {
		if want = append(want, string(w.Kind)); w.Kind == http1.KindStatus {
			want[len(want)-1] = "" // the codec judges no status
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(next, make([]string, n)) || again != e.Reused {
		return fmt.Errorf("got %q, then %q, reused %v; want %q, reused %v", got, next, again, want, e.Reused)
	}
	return nil
}

// Every behaviour of the catalogue, at the same time: they mostly wait.
func TestCatalogueOfServers(t *testing.T) {
	authority.Roots()
	all := hostile.HTTP2()
	faults := make([]error, len(all))
	slots := make(chan struct{}, 32)
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			// A busy machine needs longer: one right outcome is enough.
			for deadline := 200 * time.Millisecond; deadline < 2*time.Second; deadline *= 3 {
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
