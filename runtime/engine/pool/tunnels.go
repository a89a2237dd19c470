package pool

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// proxy is the destination of connections instead of the target. Requests without TLS contain
// the whole URL. For TLS, and for WebSocket, the proxy gets a CONNECT, and is a tunnel from then on.
type proxy struct {
	Authorization string // a line of the head; empty: none
}

func newProxy(p *request.Proxy) *proxy {
	if p == nil {
		return nil
	}
	out := &proxy{}
	if p.User != "" || p.Password != "" {
		out.Authorization = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(p.User+":"+p.Password)) + "\r\n"
	}
	return out
}

// authorityOf returns a host as a request line names it: without the default port of http.
func authorityOf(c *http1.Call) string {
	return strings.TrimSuffix(c.Address(), ":80")
}

// tunnel is a connection to a proxy whose tunnel is being opened.
type tunnel struct{ parser http1.Parser }

// tunnels are connections through a proxy.
type tunnels struct {
	*Connections
	Proxy   *proxy            // nil: none
	tunnels map[int32]*tunnel // by connection
}

// Tunnelled reports whether a proxy opens a tunnel to the host, in place of taking whole requests.
func (h *Host) Tunnelled() bool { return h.Secure || h.talks() }

// tunnel asks the proxy for a tunnel to the host. The kernel takes so little at once, because
// nothing was written before.
func (u *tunnels) tunnel(at int32) {
	c := u.Sockets.Conns.At(at)
	n := u.Slots.At(c.slot)
	target := net.JoinHostPort(c.host.Name, strconv.Itoa(int(c.host.port)))
	ask := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nUser-Agent: " + http1.UserAgent + "\r\n" + u.Proxy.Authorization + "\r\n"
	c.State = connTunnel
	took, errno := epoll.Write(int(c.fd), []byte(ask))
	n.Account.BytesOut += uint64(took)
	if errno != 0 || took < len(ask) {
		u.Slots.Breaks(c.slot, proxyFault("does not take what it is asked: %v", errno))
		return
	}
	t := &tunnel{}
	t.parser.Reset("HEAD") // the answer to CONNECT has no body
	u.tunnels[at] = t
}

// tunnelled takes the proxy's answer.
func (u *tunnels) tunnelled(at int32) {
	c, t := u.Sockets.Conns.At(at), u.tunnels[at]
	took, errno := epoll.Read(int(c.fd), u.Sockets.buffer)
	if errno == syscall.EAGAIN {
		return
	}
	u.Slots.At(c.slot).Account.BytesIn += uint64(took)
	var consumed int
	var done bool
	var err error
	switch {
	case errno != 0:
		err = errno
	case took == 0:
		done, err = t.parser.FinishEOF()
	default:
		consumed, done, err = t.parser.Feed(u.Sockets.buffer[:took])
	}
	status := t.parser.Status()
	switch {
	case err != nil:
		u.Wire.Fail(c.slot, proxyFault("breaks off: %s", detail(err)))
	case !done:
	case status == http.StatusProxyAuthRequired:
		u.Wire.Fail(c.slot, proxyFault("wants credentials (407): write proxy = \"http://user:password@host:port\""))
	case status/100 != 2:
		u.Wire.Fail(c.slot, proxyFault("answers %d %s to CONNECT", status, http.StatusText(status)))
	case consumed < took:
		u.Wire.Fail(c.slot, proxyFault("sends more than its answer to CONNECT"))
	default:
		if delete(u.tunnels, at); c.host.Secure {
			u.Handshakes.begin(at)
			return
		}
		u.Dialer.standing(at)
	}
}

func proxyFault(format string, args ...any) error {
	return &http1.Error{Kind: http1.KindProxy, Detail: "the proxy " + fmt.Sprintf(format, args...)}
}
