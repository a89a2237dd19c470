package http1

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Kind names why a measured request failed. Results group errors by it, so the set
// is closed: what fits nowhere is KindOther.
type Kind string

// The closed set of kinds; Kinds lists it with a sentence each.
const (
	KindNone           Kind = ""
	KindRefused        Kind = "refused"
	KindConnectTimeout Kind = "connect_timeout"
	KindUnreachable    Kind = "unreachable"
	KindDNS            Kind = "dns"
	KindTLS            Kind = "tls"
	KindTLSAlert       Kind = "tls_alert"
	KindTLSAuthority   Kind = "tls_authority"
	KindTLSName        Kind = "tls_name"
	KindTLSExpired     Kind = "tls_expired"
	KindClosed         Kind = "closed"
	KindReset          Kind = "reset"
	KindTruncated      Kind = "truncated"
	KindProtocol       Kind = "protocol"
	KindTooLarge       Kind = "too_large"
	KindRefusedStream  Kind = "refused_stream"
	KindGoaway         Kind = "goaway"
	KindStreamReset    Kind = "stream_reset"
	KindFlowControl    Kind = "flow_control"
	KindCompression    Kind = "compression"
	KindFlood          Kind = "flood"
	KindProxy          Kind = "proxy"
	KindEncoding       Kind = "encoding"
	KindBomb           Kind = "bomb"
	KindOverflow       Kind = "overflow"
	KindTimeout        Kind = "timeout"
	KindWriteTimeout   Kind = "write_timeout"
	KindLost           Kind = "lost"
	KindMoved          Kind = "moved"
	KindCancelled      Kind = "cancelled"
	KindLocal          Kind = "local"
	KindStatus         Kind = "status"
	KindExpect         Kind = "expect"
	KindValue          Kind = "value"
	KindRedirect       Kind = "redirect"
	KindChallenge      Kind = "challenge"
	KindAuth           Kind = "auth"
	KindProcess        Kind = "process"
	KindScript         Kind = "script"
	KindOther          Kind = "other"
)

// KindText is a kind with the sentence that manuals and summaries show.
type KindText struct {
	Kind Kind
	Text string
}

// Kinds returns the closed set, in the order in which a request meets them.
func Kinds() []KindText {
	return []KindText{
		{KindDNS, "the host's name could not be resolved"},
		{KindRefused, "nothing listens on the address"},
		{KindConnectTimeout, "no answer to the connection attempt in time"},
		{KindUnreachable, "no route to the address"},
		{KindLocal, "the load generator ran out of descriptors, ports or memory"},
		{KindProxy, "the proxy refused to connect, or broke off"},
		{KindTLS, "the TLS handshake failed"},
		{KindTLSAlert, "the server ended TLS with an alert"},
		{KindTLSAuthority, "the certificate's authority is unknown"},
		{KindTLSName, "the certificate is for another name"},
		{KindTLSExpired, "the certificate is expired or not yet valid"},
		{KindWriteTimeout, "the server did not take the request in time"},
		{KindTimeout, "the response was not whole in time"},
		{KindLost, "a datagram was not answered in time"},
		{KindClosed, "the connection was closed before the response began"},
		{KindReset, "the connection was reset"},
		{KindTruncated, "the connection was closed in the middle of the response"},
		{KindProtocol, "the response breaks the rules of its protocol"},
		{KindTooLarge, "the response exceeds a limit"},
		{KindRefusedStream, "the server refused the stream of HTTP/2 or HTTP/3 unprocessed: more at once than it takes"},
		{KindGoaway, "the server ended the connection of HTTP/2 or HTTP/3 before it processed the request (GOAWAY)"},
		{KindStreamReset, "the server reset the stream of HTTP/2 or HTTP/3 before the response was whole"},
		{KindFlowControl, "the server broke HTTP/2 flow control: more data than its window, or a window too large"},
		{KindCompression, "the server's compressed header block (HPACK or QPACK) cannot be decoded, or is a bomb"},
		{KindFlood, "the server sent frames without end that carry nothing, over HTTP/2, HTTP/3 or WebSocket"},
		{KindEncoding, "the body or message cannot be decoded: it is not compressed as it says"},
		{KindBomb, "the body or message grows beyond the limit when it is decoded"},
		{KindOverflow, "a session's function receives less than the server sends, over a connection that others share"},
		{KindRedirect, "too many redirects, or one that may not be followed"},
		{KindChallenge, "the server's digest challenge cannot be answered; the example tells why"},
		{KindMoved, "the node of a cluster says that another one has the key; the example tells which"},
		{KindAuth, "the server refuses the user or the password with which a connection begins"},
		{KindStatus, "the response's status says failure"},
		{KindExpect, "the response is not what the step expects"},
		{KindValue, "a value cannot stand where the request wants it"},
		{KindProcess, "a custom program ended, or broke the rules of its protocol; the example tells how"},
		{KindScript, "the step's function failed"},
		{KindCancelled, "the run was cancelled"},
		{KindOther, "anything else; the example tells"},
	}
}

// Error is a failure with its kind. Detail is for people and decides nothing.
type Error struct {
	Kind   Kind
	Detail string
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Detail }

// KindOf maps an error of this package, of the kernel or of Go's network libraries
// to its kind; nil is KindNone.
func KindOf(err error) Kind {
	if err == nil {
		return KindNone
	}
	var own *Error
	if errors.As(err, &own) {
		return own.Kind
	}
	if kind := tlsKind(err); kind != KindNone {
		return kind
	}
	var resolve *net.DNSError
	if errors.As(err, &resolve) {
		return KindDNS
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return errnoKind(number)
	}
	return plainKind(err)
}

func tlsKind(err error) Kind {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		verify    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &authority):
		return KindTLSAuthority
	case errors.As(err, &name):
		return KindTLSName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return KindTLSExpired
	case errors.As(err, &alert):
		return KindTLSAlert
	case errors.As(err, &record), errors.As(err, &verify), errors.As(err, &invalid):
		return KindTLS
	}
	// crypto/tls reports a peer's fatal alert as a net.OpError with this operation.
	var operation *net.OpError
	if errors.As(err, &operation) {
		switch operation.Op {
		case "remote error":
			return KindTLSAlert
		case "local error":
			return KindTLS
		}
	}
	// Other errors of crypto/tls have no type, but all begin alike.
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	if strings.HasPrefix(err.Error(), "tls: ") {
		return KindTLS
	}
	return KindNone
}

func errnoKind(number syscall.Errno) Kind {
	switch number {
	case 0:
		return KindNone
	case syscall.ECONNREFUSED:
		return KindRefused
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return KindReset
	case syscall.ETIMEDOUT:
		return KindConnectTimeout
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN:
		return KindUnreachable
	case syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE,
		syscall.ENOBUFS, syscall.ENOMEM, syscall.EACCES, syscall.EPERM:
		return KindLocal
	}
	return KindOther
}

func plainKind(err error) Kind {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return KindTruncated
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrClosed):
		return KindClosed
	case errors.Is(err, context.Canceled):
		return KindCancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return KindTimeout
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return KindTimeout
	}
	return KindOther
}
