package cancel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"hyperscale/runtime/protocol/codec"
)

// Errand is a request to a server.
type Errand struct {
	Server netip.AddrPort
	Source netip.Addr  // invalid: the machine chooses
	TLS    *tls.Config // nil: the connection is in clear
	Say    codec.Cancel
}

var (
	errAnswers = errors.New("the server answers a cancel request, which has no answer")
	errSilent  = errors.New("the server took a cancel request, and did not close the connection in time")
)

// send sends it, and waits until the server has closed the connection.
func (e *Errand) send(ctx context.Context) error {
	dialer := net.Dialer{}
	if e.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: e.Source.AsSlice(), Zone: e.Source.Zone()}
	}
	below, err := dialer.DialContext(ctx, "tcp", e.Server.String())
	if err != nil {
		return err
	}
	defer func() { _ = below.Close() }() // what it says is over
	stop := context.AfterFunc(ctx, func() { _ = below.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	over := below
	if e.TLS != nil {
		if over, err = e.secure(ctx, below); err != nil {
			return err
		}
	}
	if _, err := over.Write(e.Say.Request); err != nil {
		return fmt.Errorf("send a cancel request: %w", err)
	}
	var b [1]byte
	switch n, err := over.Read(b[:]); {
	case n > 0:
		return errAnswers
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSilent
	}
	return nil
}

// secure begins TLS. A byte behind the server's consent is not read in clear: TLS fails by it.
func (e *Errand) secure(ctx context.Context, below net.Conn) (net.Conn, error) {
	over := tls.Client(below, e.TLS)
	if len(e.Say.AskTLS) == 0 {
		return over, over.HandshakeContext(ctx)
	}
	if _, err := below.Write(e.Say.AskTLS); err != nil {
		return nil, fmt.Errorf("ask for TLS: %w", err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(below, answer[:]); err != nil {
		return nil, fmt.Errorf("ask for TLS: %w", err)
	}
	if answer[0] != e.Say.Agrees {
		return nil, fmt.Errorf("the server answers %q to the question for TLS", answer)
	}
	return over, over.HandshakeContext(ctx)
}
