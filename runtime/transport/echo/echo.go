package echo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	magic        = 'E'
	format       = 1
	asks         = 'q'
	answers      = 'a'
	digestLength = 8
	headLength   = 3 + digestLength + 8
	bodyLength   = 8 + 8 + 1 // clocks and role
	leasesLength = 8 + 8     // nanoseconds each
)

// Bounds of a question's size, in bytes before sealing. The least leaves room for an answer with the longest name.
const (
	SizeMin = 192
	SizeMax = 1400
)

// setMax bounds the members of a set, and nameMax their addresses in bytes.
const (
	setMax  = 255
	nameMax = 256
)

// Scope is a digest of protocol version, cluster and environment.
type Scope [digestLength]byte

// Node is what an answer tells of a node.
type Node struct {
	Awake int64 // nanoseconds since it started, by its own clock
	Wall  int64 // nanoseconds since 1970, by its clock of the day
	Role  uint8
	ID    string
	Set   []string // the configured set that it is a member of; empty: none, or it has no room in this size
	Cut   bool     // the set has no room in this size

	Leases

	Sinks string // names the sinks of a gate's configuration; empty: it has no room in this size, or the node tells none
}

// Leases are durations that a group must agree on. Zero: the node has none, its version does not tell it, or it has no room in this
// size.
type Leases struct {
	Lease       time.Duration // of gates for jobs; managers count by it
	SubjobLease time.Duration // of managers for subjobs
}

// ErrEcho marks bytes that are no echo.
var ErrEcho = errors.New("no echo")

// Is reports whether a datagram begins as an echo does.
func Is(b []byte) bool { return len(b) > 0 && b[0] == magic }

// AppendQuestion appends a question of so many bytes, from SizeMin to SizeMax.
func AppendQuestion(b []byte, of Scope, nonce uint64, size int) []byte {
	at := len(b)
	return padded(appendHead(b, asks, of, nonce), at, size)
}

// Question reads a question. One below SizeMin is none: its answer would be longer.
func Question(b []byte) (of Scope, nonce uint64, err error) {
	if len(b) < SizeMin {
		return of, 0, short("padding")
	}
	return head(b, asks)
}

// AppendAnswer appends the answer to a question of so many bytes, from SizeMin to SizeMax. A set that has no room is
// left out, and a name is cut to its room.
func AppendAnswer(b []byte, of Scope, nonce uint64, size int, n *Node) []byte {
	at := len(b)
	b = appendHead(b, answers, of, nonce)
	b = binary.BigEndian.AppendUint64(b, uint64(n.Awake))
	b = binary.BigEndian.AppendUint64(b, uint64(n.Wall))
	b = append(b, n.Role)
	b = appendText(b, n.ID[:min(len(n.ID), size-headLength-bodyLength-2-2)]) // the length of the name, and no set
	set := []byte{0, byte(len(n.Set))}
	for _, member := range n.Set {
		set = appendText(set, member)
	}
	if len(n.Set) > setMax || len(b)-at+len(set) > size {
		set = []byte{1, 0}
	}
	b = append(b, set...)
	if len(b)-at+leasesLength <= size {
		b = binary.BigEndian.AppendUint64(b, uint64(n.Lease))
		b = binary.BigEndian.AppendUint64(b, uint64(n.SubjobLease))
		if n.Sinks != "" && len(b)-at+2+len(n.Sinks) <= size {
			b = appendText(b, n.Sinks)
		}
	}
	return padded(b, at, size)
}

// Answer reads an answer.
func Answer(b []byte) (of Scope, nonce uint64, n Node, err error) {
	if of, nonce, err = head(b, answers); err != nil {
		return of, nonce, n, err
	}
	if b = b[headLength:]; len(b) < bodyLength {
		return of, nonce, n, short("clocks")
	}
	n.Awake, n.Wall, n.Role = int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:])), b[16]
	if n.ID, b, err = text(b[bodyLength:], "name"); err != nil {
		return of, nonce, n, err
	}
	if len(b) < 2 {
		return of, nonce, n, short("set")
	}
	n.Cut = b[0] != 0
	count := int(b[1])
	b = b[2:]
	for range count {
		var member string
		if member, b, err = text(b, "set"); err != nil {
			return of, nonce, n, err
		}
		n.Set = append(n.Set, member)
	}
	if len(b) >= leasesLength { // zeros are padding, of an older version
		n.Lease, n.SubjobLease = lease(b), lease(b[8:])
		b = b[leasesLength:]
	}
	if len(b) >= 2 { // zeros are padding: an empty text
		n.Sinks, _, err = text(b, "sinks")
	}
	return of, nonce, n, err
}

// lease reads a duration; none is below zero.
func lease(b []byte) time.Duration { return max(0, time.Duration(binary.BigEndian.Uint64(b))) }

func appendHead(b []byte, kind byte, of Scope, nonce uint64) []byte {
	b = append(b, magic, format, kind)
	return binary.BigEndian.AppendUint64(append(b, of[:]...), nonce)
}

func head(b []byte, kind byte) (of Scope, nonce uint64, err error) {
	switch {
	case len(b) < headLength || len(b) > SizeMax || !Is(b) || b[2] != kind:
		return of, 0, ErrEcho
	case b[1] != format:
		return of, 0, fmt.Errorf("format %d, this version knows %d: %w", b[1], format, ErrEcho)
	}
	return Scope(b[3:]), binary.BigEndian.Uint64(b[3+digestLength:]), nil
}

func appendText(b []byte, s string) []byte {
	s = s[:min(len(s), nameMax)]
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func text(b []byte, what string) (string, []byte, error) {
	if len(b) < 2 {
		return "", nil, short(what)
	}
	n := int(binary.BigEndian.Uint16(b))
	if n > nameMax || len(b)-2 < n {
		return "", nil, short(what)
	}
	return strings.ToValidUTF8(string(b[2:2+n]), "?"), b[2+n:], nil
}

func short(what string) error { return fmt.Errorf("it is cut short in its %s: %w", what, ErrEcho) }

// padded appends zeros until what begins at at has so many bytes.
func padded(b []byte, at, size int) []byte {
	return append(b, make([]byte, max(0, size-(len(b)-at)))...)
}
