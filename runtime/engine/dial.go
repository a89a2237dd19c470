package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// link is one connection of a virtual user.
type link struct {
	key    string // scheme and host:port
	tcp    *net.TCPConn
	stream net.Conn // tcp, or TLS over wire
	wire   *wire    // nil without TLS
	raw    syscall.RawConn

	used    bool // has carried a request before this one
	written bool // the present request went out whole
	heard   bool // a byte of its response has come

	buffer *[linkBuffer]byte // held while there is something to read
	n      int
	errno  syscall.Errno
	poll   func(fd uintptr) bool // k.readable, bound once
}

const linkBuffer = 16 << 10 // as large as a TLS record

var linkBuffers = sync.Pool{New: func() any { return new([linkBuffer]byte) }}

func (k *link) hold() {
	if k.buffer == nil {
		k.buffer = linkBuffers.Get().(*[linkBuffer]byte)
	}
}

func (k *link) release() {
	if k.buffer != nil {
		linkBuffers.Put(k.buffer)
		k.buffer = nil
	}
}

// readable reads if it can and keeps no buffer if it cannot: ten thousand virtual users
// that wait need none.
func (k *link) readable(fd uintptr) bool {
	k.hold()
	k.n, k.errno = epoll.Read(int(fd), k.buffer[:])
	if k.errno == syscall.EAGAIN {
		k.release()
		return false
	}
	return true
}

// read returns bytes that are valid until the next read or release.
func (k *link) read() ([]byte, error) {
	if k.wire != nil {
		k.hold()
		n, err := k.stream.Read(k.buffer[:])
		if errors.Is(err, io.EOF) && k.wire.ended {
			err = errNoNotify
		}
		return k.buffer[:n], err
	}
	switch err := k.raw.Read(k.poll); {
	case err != nil:
		return nil, err
	case k.errno != 0:
		return nil, readError(k.errno, k.heard)
	case k.n == 0:
		return nil, io.EOF
	}
	return k.buffer[:k.n], nil
}

// readError tells whether there was a part of a response before the connection broke.
func readError(errno syscall.Errno, heard bool) error {
	if heard {
		return fmt.Errorf("read the rest of the response: %w", errno)
	}
	return fmt.Errorf("read the response: %w", errno)
}

// feed gives what a read brought to the parser.
func feed(p *http1.Parser, b []byte, err error) (bool, error) {
	if len(b) > 0 {
		if _, done, wrong := p.Feed(b); done || wrong != nil {
			return done, wrong
		}
	}
	if errors.Is(err, io.EOF) {
		return p.FinishEOF()
	}
	return false, err
}

// stale tells of an idle connection that the server has closed, or that holds bytes which
// nobody asked for.
func (k *link) stale() bool {
	if k.wire != nil {
		return k.staleTLS()
	}
	stale := false
	err := k.raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		stale = err != unix.EAGAIN && err != unix.EINTR // the end too is something to read
	})
	return stale || err != nil
}

func key(c *http1.Call) string { return c.Scheme + "://" + c.Address() }

// take returns an idle connection to where the request goes, or opens one.
func (v *virtual) take(x *exchange) (*link, error) {
	want := key(x.call)
	for {
		k := v.pick(want)
		if k == nil {
			return v.r.open(x, want)
		}
		if !k.stale() {
			k.used = true
			return k, nil
		}
		v.r.closeLink(k)
	}
}

func (v *virtual) pick(want string) *link {
	v.linksMu.Lock()
	defer v.linksMu.Unlock()
	for i := len(v.idle) - 1; i >= 0; i-- {
		if k := v.idle[i]; k.key == want {
			v.idle = append(v.idle[:i], v.idle[i+1:]...)
			return k
		}
	}
	return nil
}

// idleMax bounds the connections that one virtual user keeps: functions may visit
// thousands of hosts.
const idleMax = 16

func (v *virtual) give(k *link) {
	v.linksMu.Lock()
	defer v.linksMu.Unlock()
	if len(v.idle) == idleMax {
		v.r.closeLink(v.idle[0])
		v.idle = append(v.idle[:0], v.idle[1:]...)
	}
	v.idle = append(v.idle, k)
}

// open connects, with TLS where the scheme says so.
func (r *general) open(x *exchange, want string) (*link, error) {
	ctx, cancel := context.WithDeadline(r.context(), r.base.Add(x.deadline))
	defer cancel()
	h, err := r.host(ctx, x)
	if err != nil {
		return nil, err
	}
	r.enter(x, message.PhaseConnect)
	tcp, err := h.dial(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		tcp.Close()
		return nil, fmt.Errorf("reach the socket: %w", err)
	}
	k := &link{key: want, tcp: tcp, stream: tcp, raw: raw}
	k.poll = k.readable
	r.linksMu.Lock()
	r.links[k] = struct{}{}
	r.linksMu.Unlock()
	if r.isCancelled() || r.cut.Load() { // abort may have passed before the link was listed
		r.closeLink(k)
		return nil, context.Canceled
	}
	if x.call.Scheme == "https" {
		r.enter(x, message.PhaseTLS)
		if err := k.secure(r.tls, x.call.Host, r.base.Add(x.deadline)); err != nil {
			r.closeLink(k)
			return nil, err
		}
	}
	return k, nil
}

func (k *link) secure(cfg *tls.Config, name string, deadline time.Time) error {
	cfg = cfg.Clone()
	cfg.ServerName = name
	if err := k.tcp.SetDeadline(deadline); err != nil {
		return err
	}
	k.wire = &wire{TCPConn: k.tcp, raw: k.raw}
	secure := tls.Client(k.wire, cfg)
	if err := secure.Handshake(); err != nil {
		return explainTLS(err)
	}
	k.stream = secure
	return nil
}

// explainTLS adds what the user can do to what the library says.
func explainTLS(err error) error {
	switch http1.KindOf(err) {
	case http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return fmt.Errorf("TLS handshake: %w: use a certificate that this machine trusts, or turn verification off in http.client", err)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Errorf("TLS handshake: %w: does the server speak plain http:// on this port?", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

func (r *general) closeLink(k *link) {
	r.linksMu.Lock()
	delete(r.links, k)
	r.linksMu.Unlock()
	k.tcp.Close()
}

// host returns a host's addresses, which are looked up once.
func (r *general) host(ctx context.Context, x *exchange) (*host, error) {
	name := x.call.Address()
	r.hostsMu.Lock()
	h := r.hosts[name]
	r.hostsMu.Unlock()
	if h != nil {
		return h, nil
	}
	r.enter(x, message.PhaseDNS)
	addrs, err := lookup(ctx, x.call)
	if err != nil {
		return nil, err
	}
	r.hostsMu.Lock()
	defer r.hostsMu.Unlock()
	if len(r.hosts) >= hostsMax {
		clear(r.hosts) // a script that makes up names must not fill the memory
	}
	h = &host{name: name, addrs: addrs}
	r.hosts[name] = h
	return h, nil
}

const (
	hostsMax = 10_000
	addrsMax = 64 // of one host
)

func lookup(ctx context.Context, c *http1.Call) ([]netip.AddrPort, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", c.Host)
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no address found", Name: c.Host, IsNotFound: true}
	}
	if err != nil {
		return nil, fmt.Errorf("resolve host %q: %w", c.Host, err)
	}
	var addrs []netip.AddrPort
	for _, a := range found[:min(len(found), addrsMax)] {
		addrs = append(addrs, netip.AddrPortFrom(a.Unmap(), c.Port))
	}
	return addrs, nil
}

// addressPatience is the most that one address of several may take to answer.
const addressPatience = time.Second

// dial tries the addresses in turn, beginning with the one that last did well. One that
// never answers leaves time for those behind it.
func (h *host) dial(ctx context.Context) (*net.TCPConn, error) {
	dialer := net.Dialer{KeepAlive: -1}
	first := int(h.good.Load())
	var err error
	for try := range h.addrs {
		index := (first + try) % len(h.addrs)
		if dialer.Timeout = 0; try+1 < len(h.addrs) {
			dialer.Timeout = addressPatience
			if deadline, ok := ctx.Deadline(); ok {
				dialer.Timeout = min(addressPatience, max(1, time.Until(deadline)/time.Duration(len(h.addrs)-try)))
			}
		}
		var c net.Conn
		if c, err = dialer.DialContext(ctx, "tcp", h.addrs[index].String()); err == nil {
			h.good.Store(int32(index))
			return c.(*net.TCPConn), nil
		}
	}
	return nil, err
}
