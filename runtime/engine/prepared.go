package engine

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/http1"
)

// prepared is a function's request made ready to run: it is shared by all who send the
// same, also while they have it under way, and never changes.
type prepared struct {
	request *request.Request
	call    http1.Call
	host    *pool.Host
	key     []byte
}

const (
	preparedMax = 512     // remembered
	preparedKey = 4 << 10 // bytes of what describes one
)

// memory remembers the requests that functions sent last: each has one place, given by its
// hash, and the newest takes it.
type memory struct {
	seed    maphash.Seed
	places  [preparedMax]*prepared
	scratch []byte
}

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

func (m *memory) place(key []byte) **prepared {
	return &m.places[maphash.Bytes(m.seed, key)%preparedMax]
}

// bare writes what describes a request of a method and a URL alone. The engine runs one
// workflow: what its client adds is the same for all of them.
func (m *memory) bare(method, url string) []byte {
	m.scratch = append(append(append(m.scratch[:0], method...), 0), url...)
	return m.scratch
}

// whole writes all that describes a request; false: it is too long to be remembered.
func (m *memory) whole(r *request.Request) ([]byte, bool) {
	if len(r.Body) > preparedKey {
		return nil, false
	}
	b := append(m.bare(r.Method, r.URL), 0)
	text := func(s string) {
		b = append(append(strconv.AppendInt(b, int64(len(s)), 10), ':'), s...)
	}
	for _, all := range [...][]builtin.Pair{r.Headers, r.Params, r.Cookies} {
		for i := range all {
			text(all[i].Name)
			text(all[i].Value)
		}
		b = append(b, 0)
	}
	if r.Auth != nil {
		text(r.Auth.Kind)
		text(r.Auth.User)
		text(r.Auth.Password)
		text(r.Auth.Token)
	}
	b = append(b, 0)
	text(r.ContentType)
	b = append(b, r.Body...)
	m.scratch = b
	return b, len(b) <= preparedKey
}

// prepare makes a request ready, or remembers that it was.
func (q *requests) prepare(r *request.Request) (*prepared, error) {
	if p, ok := r.Made.(*prepared); ok {
		return p, nil
	}
	var key []byte
	short := true
	if r.Bare {
		key = q.memory.bare(r.Method, r.URL)
		short = len(key) <= preparedKey
	} else {
		key, short = q.memory.whole(r)
	}
	var at **prepared
	if short {
		if at = q.memory.place(key); *at != nil && bytes.Equal((*at).key, key) {
			return *at, nil
		}
	}
	call, err := compile(r)
	if err != nil {
		return nil, err
	}
	p := &prepared{request: r, call: call, host: q.Dialer.Host(&call)}
	if short {
		p.key = bytes.Clone(key)
		*at = p
	}
	if r.Bare {
		r.Made = p
	}
	return p, nil
}

// known finds a bare request.
func (q *requests) known(method, url string) *request.Request {
	key := q.memory.bare(method, url)
	if p := *q.memory.place(key); p != nil && p.request.Bare && bytes.Equal(p.key, key) {
		return p.request
	}
	return nil
}
