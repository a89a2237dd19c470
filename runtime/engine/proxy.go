package engine

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"hyperscale/core/workflow"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// proxy is where connections go instead of the target. Requests without TLS name the whole
// URL there; for TLS it is asked to CONNECT, and is a wire from then on.
type proxy struct {
	authorization string // the line of a head; empty: none
}

func newProxy(p *workflow.Proxy) *proxy {
	if p == nil {
		return nil
	}
	out := &proxy{}
	if p.User != "" || p.Password != "" {
		out.authorization = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(p.User+":"+p.Password)) + "\r\n"
	}
	return out
}

// authorityOf is a host as a request line names it: without the port that http means.
func authorityOf(c *http1.Call) string {
	return strings.TrimSuffix(c.Address(), ":80")
}

// tunnel is a connection to a proxy that is being made a wire.
type tunnel struct{ parser http1.Parser }

// tunnel asks the proxy for a wire to the host. The kernel takes so little at once, as
// nothing was written before.
func (l *loop) tunnel(at int32) {
	c := l.conns.at(at)
	n := l.lane(c.lane)
	target := net.JoinHostPort(c.host.name, strconv.Itoa(int(c.host.port)))
	ask := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nUser-Agent: " + http1.UserAgent + "\r\n" + l.proxy.authorization + "\r\n"
	c.state = connTunnel
	took, errno := epoll.Write(int(c.fd), []byte(ask))
	n.account.BytesOut += uint64(took)
	if errno != 0 || took < len(ask) {
		l.breaks(c.lane, proxyFault("does not take what it is asked: %v", errno))
		return
	}
	t := &tunnel{}
	t.parser.Reset("HEAD") // the answer to CONNECT has no body
	l.tunnels[at] = t
}

// tunnelled takes what the proxy answers.
func (l *loop) tunnelled(at int32) {
	c, t := l.conns.at(at), l.tunnels[at]
	took, errno := epoll.Read(int(c.fd), l.buffer)
	if errno == syscall.EAGAIN {
		return
	}
	l.lane(c.lane).account.BytesIn += uint64(took)
	var consumed int
	var done bool
	var err error
	switch {
	case errno != 0:
		err = errno
	case took == 0:
		done, err = t.parser.FinishEOF()
	default:
		consumed, done, err = t.parser.Feed(l.buffer[:took])
	}
	status := t.parser.Status()
	switch {
	case err != nil:
		l.fail(c.lane, proxyFault("breaks off: %s", detail(err)))
	case !done:
	case status == http.StatusProxyAuthRequired:
		l.fail(c.lane, proxyFault("wants to know who asks (407): write proxy = \"http://user:password@host:port\""))
	case status/100 != 2:
		l.fail(c.lane, proxyFault("answers %d %s to CONNECT", status, http.StatusText(status)))
	case consumed < took:
		l.fail(c.lane, proxyFault("sends more than its answer to CONNECT"))
	default:
		delete(l.tunnels, at)
		l.shake(at)
	}
}

func proxyFault(format string, args ...any) error {
	return &http1.Error{Kind: http1.KindProxy, Detail: "the proxy " + fmt.Sprintf(format, args...)}
}
