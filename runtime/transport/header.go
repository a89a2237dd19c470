package transport

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/seal"
)

// A datagram's header identifies the sender, by position and not by name, before each message:
//
//	magic byte, format byte
//	8 bytes of a digest of protocol version, cluster and environment
//	role byte
//	incarnation, a varint
//	the node's name, behind its length in a byte
//	the address it advertises, behind its length as a varint
//
// It takes about 40 bytes. A different digest is rejected; the Hello of a stream has the names
// that the digest covers.
const (
	headerMagic  = 'H'
	headerFormat = 1
	digestLength = 8
	headerFixed  = 2 + digestLength + 1
)

// HeaderRoom bounds a header, so that a message of message.DatagramBody fits after it, sealed
// too.
const HeaderRoom = message.DatagramMax - message.DatagramBody - message.HeaderSize - seal.DatagramOverhead

// NamesMax bounds a node's name and address together: with longer ones a node could not send
// the datagrams that its group depends on.
const NamesMax = HeaderRoom - headerFixed - binary.MaxVarintLen64 - 1 - 2

// header is the encoded head that a source sent last, and whom it means: the next
// datagram begins with the same bytes.
type header struct {
	bytes []byte
	peer  node.Peer
}

// Scope distinguishes clusters, environments and protocol versions.
func Scope(cluster, environment string) string { return scopeOf(message.Major, cluster, environment) }

func scopeOf(major uint16, cluster, environment string) string {
	return fmt.Sprintf("%d %q %q", major, cluster, environment)
}

// digestOf is a digest of a node's scope.
func digestOf(h *message.Hello) [digestLength]byte {
	sum := sha256.Sum256([]byte(scopeOf(h.Major, h.Cluster, h.Environment)))
	return [digestLength]byte(sum[:])
}

// appendHeader encodes the sender h.
func appendHeader(b []byte, h *message.Hello) []byte {
	digest := digestOf(h)
	b = append(b, headerMagic, headerFormat)
	b = append(b, digest[:]...)
	b = append(b, h.Role)
	b = binary.AppendUvarint(b, h.Incarnation)
	b = append(append(b, byte(len(h.Node))), h.Node...)
	b = binary.AppendUvarint(b, uint64(len(h.Addr)))
	return append(b, h.Addr...)
}

// readHeader reads the head of b, which ends by itself, and checks it against ours.
func readHeader(ours *message.Hello, b []byte) (header, error) {
	if len(b) < headerFixed || b[0] != headerMagic {
		return header{}, fmt.Errorf("no datagram's header: %w", message.ErrFrame)
	}
	if b[1] != headerFormat {
		return header{}, &RefusedError{Field: "datagram format", Got: fmt.Sprint(b[1]), Want: fmt.Sprint(headerFormat),
			Remedy: "run the same major version of hyperscale on both nodes"}
	}
	want := digestOf(ours)
	if got := b[2 : 2+digestLength]; !bytes.Equal(got, want[:]) {
		return header{}, &RefusedError{Field: "digest of protocol version, cluster and environment", Got: hex.EncodeToString(got), Want: hex.EncodeToString(want[:]),
			Remedy: "set --cluster and --environment to the same names on all nodes, and run the same major version of hyperscale"}
	}
	theirs := &message.Hello{Major: ours.Major, Cluster: ours.Cluster, Environment: ours.Environment, Role: b[2+digestLength]}
	rest := b[headerFixed:]
	incarnation, n := binary.Uvarint(rest)
	if n <= 0 {
		return header{}, cutShort("incarnation")
	}
	theirs.Incarnation, rest = incarnation, rest[n:]
	if len(rest) == 0 || len(rest)-1 < int(rest[0]) {
		return header{}, cutShort("name")
	}
	end := 1 + int(rest[0]) // a byte would end at 255
	theirs.Node, rest = string(rest[1:end]), rest[end:]
	length, n := binary.Uvarint(rest)
	if n <= 0 || length > uint64(len(rest)-n) {
		return header{}, cutShort("address")
	}
	theirs.Addr, rest = string(rest[n:n+int(length)]), rest[n+int(length):]
	if refused := fits(ours, theirs); refused != nil {
		return header{}, refused
	}
	return header{bytes: bytes.Clone(b[:len(b)-len(rest)]), peer: peerOf(theirs)}, nil
}

func cutShort(what string) error {
	return fmt.Errorf("a datagram's header is cut short in its %s: %w", what, message.ErrFrame)
}

// header decodes the sender of a datagram. An encoding has no proper prefix that is one, so
// bytes that begin with the last datagram's header have that header.
func (t *Transport) header(from netip.AddrPort, b []byte) (node.Peer, []byte, error) {
	d := &t.datagrams
	h, ok := d.headers[from]
	if !ok || !bytes.HasPrefix(b, h.bytes) {
		var err error
		if h, err = readHeader(t.hello, b); err != nil {
			return node.Peer{}, nil, err
		}
		if len(d.headers) >= headersMax {
			clear(d.headers)
		}
		d.headers[from] = h
	}
	p := h.peer
	p.Minor = t.datagrams.versions.of(p)
	return p, b[len(h.bytes):], nil
}

// CheckNames refuses names that leave no room in a datagram.
func CheckNames(p node.Peer) error {
	if n := len(p.ID) + len(p.Addr); n > NamesMax {
		return fmt.Errorf("id = %s and the address %s have %d bytes together, must have at most %d, as they stand in each datagram: shorten --id or --advertise", p.ID, p.Addr, n, NamesMax)
	}
	return nil
}
