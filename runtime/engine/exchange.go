package engine

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

// exchange is one request and what came of it, redirects included. Durations are since
// the run's base.
type exchange struct {
	request   *workflow.Request
	call      *http1.Call
	times     times
	deadline  time.Duration
	redirects int  // how many may be followed
	keep      bool // the answer's head and body are wanted

	status   int
	kind     http1.Kind // empty: a whole answer
	detail   string
	headers  []workflow.Pair
	body     []byte
	heard    int64 // when the first byte of the last answer came; 0: not yet
	bytesIn  uint64
	bytesOut uint64
}

func (x *exchange) latency() time.Duration { return time.Duration(x.times.latency()) }

func (x *exchange) response() *workflow.Response {
	return &workflow.Response{
		Status: x.status, Headers: x.headers, Body: x.body, Latency: x.latency(),
		Kind: string(x.kind), Error: x.detail,
	}
}

// exchange sends the request and follows its redirects.
func (v *virtual) exchange(x *exchange) {
	for followed := 0; ; followed++ {
		v.hop(x)
		v.r.enter(x, message.PhaseBlocked) // ended, or on its way to where it is sent
		v.r.debug.hop(x)
		if x.kind != http1.KindNone || x.redirects == 0 || !isRedirect(x.status) {
			return
		}
		location, found := header(x.headers, "Location")
		if !found {
			return
		}
		err := error(errTooMany)
		if followed < x.redirects {
			err = x.follow(location)
		}
		if err != nil {
			x.fail(http1.KindRedirect, err)
			return
		}
	}
}

func (x *exchange) fail(kind http1.Kind, err error) {
	x.kind, x.detail = kind, err.Error()
	var known *http1.Error
	if errors.As(err, &known) {
		x.detail = known.Detail
	}
}

// hop sends one request on one connection and reads one response.
func (v *virtual) hop(x *exchange) {
	x.status, x.headers, x.body, x.heard = 0, nil, nil, 0
	k, err := v.take(x)
	if err != nil {
		v.judge(x, nil, err)
		return
	}
	var p http1.Parser
	p.Reset(x.call.Method)
	whole, err := v.talk(x, k, &p)
	if err == nil {
		x.status = p.Status()
	} else {
		v.judge(x, k, err)
	}
	if err == nil && whole && p.Reusable() && !x.call.Close {
		v.give(k)
	} else {
		v.r.closeLink(k)
	}
}

// judge names a failure.
func (v *virtual) judge(x *exchange, k *link, err error) {
	kind := http1.KindOf(err)
	switch {
	case v.r.isCancelled() || v.r.cut.Load():
		kind = http1.KindCancelled
	case kind == http1.KindTimeout && k == nil:
		kind = http1.KindConnectTimeout
	case kind == http1.KindTimeout && !k.written:
		kind = http1.KindWriteTimeout
	case kind == http1.KindTruncated && k != nil && !k.heard:
		kind = http1.KindClosed // nothing was there to be cut
	case kind == http1.KindReset && k != nil && k.used && !k.heard:
		kind = http1.KindClosed // by chance it looks like a reset or like an end
	}
	x.fail(kind, err)
}

// collectors are used only while a response comes, so that waiting costs no memory.
var collectors = sync.Pool{New: func() any { return new(http1.Collector) }}

// talk writes the request and reads the response. It tells whether all of the request was
// written: a server may answer half-way, and its answer counts.
func (v *virtual) talk(x *exchange, k *link, p *http1.Parser) (bool, error) {
	defer k.release()
	k.written, k.heard = false, false
	if err := k.tcp.SetDeadline(v.r.base.Add(x.deadline)); err != nil {
		return false, err
	}
	v.r.enter(x, message.PhaseSend)
	s := k.send(x.call.Bytes, v.r.now)
	if s.done == nil {
		v.r.enter(x, message.PhaseWait)
	}
	if s.err != nil && s.n == 0 && s.done == nil {
		return false, s.err // what the server may have said was no answer to it
	}
	err := v.hear(x, k, p)
	n, writeErr := s.end(k)
	s.tell(x)
	x.bytesOut += uint64(n)
	k.written = writeErr == nil
	if err != nil && !k.heard && writeErr != nil && !errors.Is(writeErr, os.ErrDeadlineExceeded) {
		err = writeErr // an end by itself says less
	}
	return k.written, err
}

// hear reads until the response is whole.
func (v *virtual) hear(x *exchange, k *link, p *http1.Parser) error {
	var c *http1.Collector
	for {
		b, err := k.read()
		x.bytesIn += uint64(len(b))
		if !k.heard && len(b) > 0 {
			k.heard = true
			v.r.enter(x, message.PhaseReceive)
			x.heard = x.times.mark
		}
		if len(b) > 0 && c == nil && (x.keep || x.redirects > 0) {
			c = collectors.Get().(*http1.Collector)
			defer collectors.Put(c)
			p.Collect(c)
		}
		done, err := feed(p, b, err)
		if err != nil {
			return err
		}
		if done {
			x.collect(c)
			return nil
		}
	}
}

// collect copies what was collected: the collector goes to the next.
func (x *exchange) collect(c *http1.Collector) {
	if c == nil {
		return
	}
	x.headers = make([]workflow.Pair, c.Len())
	for i := range x.headers {
		name, value := c.At(i)
		x.headers[i] = workflow.Pair{Name: string(name), Value: string(value)}
	}
	x.body = slices.Clone(c.Body)
}
