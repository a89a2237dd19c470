package quic

import (
	"errors"
	"fmt"
	"io"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
)

// errIdle: the library has heard nothing for the idle time of the connection.
var errIdle = &http1.Error{Kind: http1.KindClosed, Detail: "the QUIC connection was idle for too long, or lost: no packet came"}

// ErrOther: the server speaks QUIC, and chooses another protocol over it.
var ErrOther = &http1.Error{Kind: http1.KindTLSAlert, Detail: "the server speaks QUIC, and not HTTP/3 (h3) over it: write version = \"auto\" in http.client"}

// explain says what the library's error means, with its kind. An orderly end is io.EOF.
func explain(err error) error {
	var app *quic.ApplicationError
	var transport *quic.TransportError
	var versions *quic.VersionNegotiationError
	var reset *quic.StatelessResetError
	var idle *quic.IdleTimeoutError
	var shake *quic.HandshakeTimeoutError
	switch {
	case errors.As(err, &app):
		if said := http3.ClosedBy(uint64(app.ErrorCode), app.ErrorMessage); said != nil {
			return said
		}
		return io.EOF
	case errors.As(err, &versions):
		return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the server speaks no version of QUIC that this client knows, but %v", versions.Theirs)}
	case errors.As(err, &reset):
		return &http1.Error{Kind: http1.KindReset, Detail: "the server does not know the QUIC connection (stateless reset): was it started anew?"}
	case errors.As(err, &idle):
		return errIdle
	case errors.As(err, &shake):
		return &http1.Error{Kind: http1.KindConnectTimeout, Detail: "the QUIC handshake found no answer in time"}
	case errors.As(err, &transport):
		return ofTransport(transport, err)
	}
	return err
}

// ofTransport explains an error of QUIC itself. Those of TLS keep their own kinds.
func ofTransport(e *quic.TransportError, err error) error {
	switch {
	case e.ErrorCode.IsCryptoError() && !e.Remote:
		return fmt.Errorf("QUIC handshake: %w", err)
	case e.ErrorCode.IsCryptoError() && e.ErrorCode == 0x100+120:
		return ErrOther
	case e.ErrorCode.IsCryptoError():
		return &http1.Error{Kind: http1.KindTLSAlert, Detail: "QUIC handshake: the server ended it: " + e.Error()}
	case e.ErrorCode == quic.ConnectionRefused:
		return &http1.Error{Kind: http1.KindRefused, Detail: "the server refuses the QUIC connection (CONNECTION_REFUSED)"}
	case e.Remote && e.ErrorCode == quic.NoError:
		return io.EOF
	case e.Remote:
		return &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the QUIC connection: " + e.Error()}
	}
	return &http1.Error{Kind: http1.KindProtocol, Detail: "the server breaks the rules of QUIC: " + e.Error()}
}
