package ping

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island/quic"
)

// Packets is what QUIC has agreed on, and what came over it.
type Packets struct {
	Version string `json:"version"`
	In      uint64 `json:"packets_in"`
}

// run3 sends the request over HTTP/3. Its handshake is the connect phase, as in a load test.
func (r *Report) run3(ctx context.Context, cfg Config, call *http1.Call, addrs []netip.AddrPort) error {
	r.enter(message.PhaseConnect)
	session := newSessions()
	v, err := r.reach(ctx, cfg, call, addrs, session)
	if err != nil {
		return err
	}
	code := http3.CodeNone
	defer func() {
		r.QUIC.In = v.Heard
		v.Close(code)
	}()
	state, version := v.State()
	r.QUIC = &Packets{Version: version}
	if err := r.judge(&state, cfg, call); err != nil {
		return err
	}
	r.enter(message.PhaseSend)
	if code, err = r.talk3(ctx, v, call); err != nil {
		return err
	}
	r.enter(message.PhaseNone)
	if _, offered := session.Get(""); offered {
		if resumed, early, err := quic.Again(ctx, netip.MustParseAddrPort(r.Address), cfg.tls(call, session)); err == nil {
			r.TLS.Resumes, r.TLS.EarlyData = &resumed, &early
		}
	}
	return nil
}

// reach tries the addresses in turn.
func (r *Report) reach(ctx context.Context, cfg Config, call *http1.Call, addrs []netip.AddrPort, s *sessions) (*quic.Visit, error) {
	var err error
	for i, a := range addrs {
		patience, cancel := ctx, context.CancelFunc(func() {})
		if i+1 < len(addrs) {
			patience, cancel = context.WithTimeout(ctx, addressPatience)
		}
		start := time.Now()
		var v *quic.Visit
		v, err = quic.Reach(patience, a, cfg.tls(call, s))
		cancel()
		try := Try{Address: a.String(), NS: int64(time.Since(start))}
		if err == nil {
			r.Tries = append(r.Tries, try)
			r.Address, r.Local = a.String(), v.Local().String()
			return v, nil
		}
		heard := uint64(0)
		if v != nil {
			heard = v.Heard
			v.Close(http3.CodeNone)
		}
		err = unreached(err, a, heard)
		try.Error = err.Error()
		if r.Tries = append(r.Tries, try); ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// looksOver is the remedy of a server that does not speak HTTP/3 where it was expected.
const looksOver = "ping it with http2, which shows by alt-svc whether and where the server offers h3"

// unreached says why a connection of QUIC does not stand.
func unreached(err error, a netip.AddrPort, heard uint64) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) && heard == 0:
		return &http1.Error{Kind: http1.KindConnectTimeout, Detail: fmt.Sprintf("no packet of QUIC came from %s in time: a firewall holds UDP back, or no HTTP/3 is there: %s", a, looksOver)}
	case errors.Is(err, context.DeadlineExceeded):
		return &http1.Error{Kind: http1.KindConnectTimeout, Detail: fmt.Sprintf("the handshake of QUIC with %s was not over in time: %d packets came", a, heard)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &http1.Error{Kind: http1.KindRefused, Detail: fmt.Sprintf("UDP port %d of %s is closed: %s", a.Port(), a.Addr(), looksOver)}
	case errors.Is(err, quic.ErrOther):
		return &http1.Error{Kind: http1.KindTLSAlert, Detail: "the server speaks QUIC, and does not choose HTTP/3 (ALPN h3): " + looksOver}
	}
	return err
}

// talk3 is one stream of HTTP/3. The code is that of the goodbye.
func (r *Report) talk3(ctx context.Context, v *quic.Visit, call *http1.Call) (http3.Code, error) {
	var common http1.Common
	conn, _ := (&http3.Protocol{Streams: 1}).Begin(nil, &common).(*http3.Conn)
	var request codec.Operation
	http3.Render(&request, call)
	h := &heard{r: r}
	r.Answer = &Answer{Protocol: "HTTP/3", Headers: [][2]string{}}
	err := v.Carry(ctx, conn, &request, h, func() bool {
		if r.phase == message.PhaseSend && conn.Count() > 0 && !conn.Sending(1) {
			r.enter(message.PhaseWait)
		}
		return h.done || h.err != nil
	})
	r.Answer.KeepAlive = conn.Usable()
	if err != nil && h.err == nil {
		conn.Close(err, h)
		h.err = err
	}
	in, out := conn.Bytes()
	r.Answer.BytesIn, r.Answer.BytesOut = int64(in)+r.Answer.BodyBytes, int64(out)
	if h.err != nil {
		if r.Answer.Status == 0 {
			r.Answer = nil
		}
		return conn.Goodbye(), h.err
	}
	r.keep(&h.kept)
	return conn.Goodbye(), nil
}
