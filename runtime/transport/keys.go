package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/seal"
)

// remedySecret is what helps two nodes that share no secret.
const remedySecret = "give all nodes and clients of the cluster the same --cluster-secret; while a secret rotates, both stand in each file"

// exchange says this end's opening and reads the other's, before the first frame. Without a ring, or
// over TLS, it says nothing, and returns no keys.
func (t *Transport) exchange(conn net.Conn, in *bufio.Reader, dialed bool) (seal.Keys, error) {
	if t.config.Keys == nil || t.config.Certs != nil {
		return seal.Keys{}, nil // TLS has encrypted the stream
	}
	h := t.config.Keys.Begin(dialed)
	if _, err := conn.Write(h.Opening()); err != nil {
		return seal.Keys{}, err
	}
	theirs := make([]byte, seal.OpeningLength)
	if _, err := io.ReadFull(in, theirs[:4]); err != nil {
		return seal.Keys{}, err
	}
	if !seal.Sealed(theirs) {
		return seal.Keys{}, noOpening(theirs[:4])
	}
	if _, err := io.ReadFull(in, theirs[4:]); err != nil {
		return seal.Keys{}, noEOF(err)
	}
	keys, err := h.Finish(theirs)
	return keys, sealError(err)
}

// noOpening tells a node without a secret from garbage, by its first four bytes.
func noOpening(b []byte) error {
	if speaksTLS(b) {
		return errSecured
	}
	if length := binary.BigEndian.Uint32(b); length < message.HeaderSize || length > message.DatagramMax {
		return &tooLongError{length, message.DatagramMax}
	}
	return sealError(seal.ErrPlain)
}

// sealError makes what two nodes can mend a RefusedError.
func sealError(err error) error {
	if mismatch := (*seal.KeyError)(nil); errors.As(err, &mismatch) {
		return &RefusedError{Field: "secret", Got: namesOf(mismatch.Got), Want: namesOf(mismatch.Want), Remedy: remedySecret, cause: err}
	}
	if errors.Is(err, seal.ErrPlain) {
		return &RefusedError{Field: "secret", Got: "none", Want: "one, as it seals its frames", Remedy: remedySecret, cause: err}
	}
	if errors.Is(err, seal.ErrScope) {
		return &RefusedError{Field: "cluster, environment or major version", Got: "another one", Want: "its own",
			Remedy: "set --cluster and --environment to the same names on all nodes, run the same major version of hyperscale, or correct the address", cause: err}
	}
	return err
}

// errSealed is what a node without a secret says to one that has one.
var errSealed = &RefusedError{Field: "secret", Got: "one that this node does not know", Want: "none, as it was started without", Remedy: remedySecret}

// namesOf lists names of secrets as a sentence does.
func namesOf(ids []seal.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return strings.Join(all, " or ")
}

// secure puts a connection under TLS and verifies the peer's certificate, where this node has one.
func (s *shaken) secure(store *certs.Store, linger time.Duration, dialed bool) error {
	if store == nil {
		return nil
	}
	w := &wire{Conn: s.conn}
	c := tls.Server(w, store.TLS())
	if dialed {
		c = tls.Client(w, store.TLS())
	}
	if err := c.HandshakeContext(context.Background()); err != nil { // the connection has a deadline
		return unsecured(s.conn, linger, err, dialed)
	}
	s.conn = &secured{c, w}
	state := c.ConnectionState()
	claims, no := store.Verify(&state, dialed)
	if no != nil {
		return refusedFor(no)
	}
	s.claims = &claims
	return nil
}

// remedySecure is what helps two nodes of which one has certificates.
const remedySecure = "give --tls-cert, --tls-key and --tls-ca to all nodes and clients of the cluster, or to none"

// errSecured is what a node without certificates says to one that has some.
var errSecured = &RefusedError{Field: "certificate", Got: "one, as it speaks TLS", Want: "none, as it was started without", Remedy: remedySecure, reason: certs.Plain}

// speaksTLS reports whether bytes begin a record of TLS: a handshake or an alert. No frame is that
// long.
func speaksTLS(b []byte) bool { return len(b) >= 2 && (b[0] == 0x15 || b[0] == 0x16) && b[1] == 3 }

// certificateRequired is the alert of TLS for a peer without a certificate, as a record: a node
// without certificates recognizes it.
var certificateRequired = []byte{0x15, 3, 3, 0, 2, 2, 116}

// unsecured explains why no TLS was agreed on.
func unsecured(conn net.Conn, linger time.Duration, err error, dialed bool) error {
	refuse := func(why certs.Reason, field, got, want, remedy string) error {
		return &RefusedError{Field: field, Got: got, Want: want, Remedy: remedy, reason: why, cause: err}
	}
	var header tls.RecordHeaderError
	switch text := err.Error(); {
	case errors.As(err, &header):
		first := header.RecordHeader[:4]
		length := binary.BigEndian.Uint32(first)
		if !seal.Sealed(first) && (length < message.HeaderSize || length > message.DatagramMax) {
			return &tooLongError{length, message.DatagramMax}
		}
		if !dialed {
			_, _ = conn.Write(certificateRequired) // it tells the peer; a peer that is gone needs none
			finish(conn, linger)
			_, _ = io.CopyN(io.Discard, conn, batchBytes)
		}
		return refuse(certs.Plain, "certificate", "none, as it does not speak TLS", "one of this cluster's authority", remedySecure)
	case strings.Contains(text, "unsupported version"), strings.Contains(text, "unsupported protocol version"), strings.Contains(text, "protocol version not supported"):
		return refuse(certs.Version, "TLS version", "1.2 or older", "1.3", "run the same version of hyperscale at both ends, and no proxy that ends TLS between them")
	case strings.Contains(text, "didn't provide a certificate"), strings.Contains(text, "certificate required"):
		return refuse(certs.Absent, "certificate", "none", "one of this cluster's authority", remedySecure)
	}
	return err
}
