package message

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/node"
)

// Limits of decoding. Decode checks them before it allocates anything.
const (
	FrameMax    = 1 << 20 // bytes of one frame, header included
	HeaderSize  = 3       // flags, kind
	DatagramMax = 1400    // bytes of one datagram, its header included
	// DatagramBody is the size of a message that fits a datagram of any sender: transport
	// limits its header to the rest.
	DatagramBody = 1200
	depthMax     = 16 // nesting of arrays and maps
)

// flagsPlain is the only value of the flags byte so far; others are for future compression and
// sealing.
const flagsPlain = 0

// Body is a message of the catalogue: the methods of node.Message, and its codec.
type Body interface {
	node.Message
	Class() node.Class
	MarshalMsg([]byte) ([]byte, error)
	UnmarshalMsg([]byte) ([]byte, error)
	check() error
}

// ErrFrame is wrapped by the error of every frame that cannot be decoded.
var ErrFrame = errors.New("not a frame of this protocol")

// MissingError names a required field that a message lacks.
type MissingError struct {
	Path string // field names from the outermost inwards, joined by dots
}

func (e *MissingError) Error() string {
	return "required field " + e.Path + " is missing or zero: the sender is broken, or of a version that does not fit"
}

// Is makes every missing field an ErrFrame.
func (e *MissingError) Is(target error) bool { return target == ErrFrame }

// UnknownKindError is a sound frame of a kind that this version does not know: a newer one has
// sent it. A receiver that knows its sender skips the frame.
type UnknownKindError struct {
	Kind    node.Kind
	Request RequestID // that it makes; zero: it is no request
}

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("decode: kind %d is not in the catalogue: a newer version sends it", e.Kind)
}

// Is makes every unknown kind an ErrFrame, to a receiver that does not skip it.
func (e *UnknownKindError) Is(target error) bool { return target == ErrFrame }

func within(name string, err error) error {
	var m *MissingError
	if errors.As(err, &m) {
		return &MissingError{Path: name + "." + m.Path}
	}
	return err
}

// Append appends the encoding of m to b: a flags byte, the kind, the body.
func Append(b []byte, m node.Message) ([]byte, error) {
	body, ok := m.(Body)
	if !ok {
		return b, fmt.Errorf("encode %T: not in the catalogue", m)
	}
	if n := HeaderSize + m.Size(); n > FrameMax {
		return b, fmt.Errorf("encode %s: %d bytes are above the bound of %d: page it", Name(m.Kind()), n, FrameMax)
	}
	b = append(b, flagsPlain)
	b = binary.BigEndian.AppendUint16(b, uint16(m.Kind()))
	return body.MarshalMsg(b)
}

// Decode decodes one frame, which must be all of b. The message shares no memory with b.
func Decode(b []byte) (Body, error) {
	m, rest, err := DecodePrefix(b)
	if unknown := (*UnknownKindError)(nil); err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("decode: %d bytes are left over: %w", len(rest), ErrFrame)
	}
	return m, err
}

// DecodePrefix decodes the frame at the beginning of b and returns the rest, also of a frame of
// an unknown kind.
func DecodePrefix(b []byte) (Body, []byte, error) {
	if len(b) < HeaderSize {
		return nil, b, fmt.Errorf("decode: %d bytes are less than a header: %w", len(b), ErrFrame)
	}
	if b[0] != flagsPlain {
		return nil, b, fmt.Errorf("decode: flags 0x%02x are not known: %w", b[0], ErrFrame)
	}
	kind := node.Kind(binary.BigEndian.Uint16(b[1:]))
	n, err := Scan(b[HeaderSize:])
	if err != nil {
		return nil, b, fmt.Errorf("decode kind %d %s: %w", kind, Name(kind), err)
	}
	m := New(kind)
	if m == nil {
		return nil, b[HeaderSize+n:], &UnknownKindError{kind, requestIn(b[HeaderSize : HeaderSize+n])}
	}
	rest, err := m.UnmarshalMsg(b[HeaderSize : HeaderSize+n])
	if err != nil {
		return nil, b, fmt.Errorf("decode %s: %w: %w", Name(kind), err, ErrFrame)
	}
	if err := m.check(); err != nil {
		return nil, b, fmt.Errorf("decode %s: %w", Name(kind), err)
	}
	if len(rest) != 0 {
		return nil, b, fmt.Errorf("decode %s: %d bytes were not read: %w", Name(kind), len(rest), ErrFrame)
	}
	return m, b[HeaderSize+n:], nil
}

// Scan walks one value without allocating and returns its length. Every element takes at least
// a byte, so counts that pass here cannot make the decoder allocate more than a constant times
// the input.
func Scan(b []byte) (int, error) {
	var left [depthMax]uint64 // values still to read on each level
	depth := 0
	left[0] = 1
	for at := 0; ; {
		for left[depth] == 0 {
			if depth == 0 {
				return at, nil
			}
			depth--
		}
		left[depth]--
		size, children, err := head(b[at:])
		if err != nil {
			return 0, err
		}
		at += size
		if children == 0 {
			continue
		}
		if children > uint64(len(b)-at) {
			return 0, fmt.Errorf("%d elements in %d bytes: %w", children, len(b)-at, ErrFrame)
		}
		if depth++; depth == depthMax {
			return 0, fmt.Errorf("nested deeper than %d: %w", depthMax, ErrFrame)
		}
		left[depth] = children
	}
}

// head returns the length of the value at the beginning of b without its elements, and the
// number of its elements. Most values of messages are small, so head handles the encodings of
// one byte, short strings and integers itself.
func head(b []byte) (size int, children uint64, err error) {
	if len(b) == 0 {
		return 0, 0, fmt.Errorf("cut short: %w", ErrFrame)
	}
	switch c := b[0]; {
	case c <= 0x7f || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3: // small integer, nil, bool
		return 1, 0, nil
	case c <= 0x8f: // small map
		return 1, 2 * uint64(c&0x0f), nil
	case c <= 0x9f: // small array
		return 1, uint64(c & 0x0f), nil
	case c <= 0xbf: // short string
		size = 1 + int(c&0x1f)
	case c >= 0xcc && c <= 0xd3: // unsigned, then signed integers of 1, 2, 4, 8 bytes
		size = 1 + 1<<(c&3)
	default:
		return headLong(b)
	}
	if size > len(b) {
		return 0, 0, fmt.Errorf("cut short: %w", ErrFrame)
	}
	return size, 0, nil
}

// headLong is head for all encodings.
func headLong(b []byte) (size int, children uint64, err error) {
	switch msgp.NextType(b) {
	case msgp.MapType:
		n, rest, err := msgp.ReadMapHeaderBytes(b)
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", err, ErrFrame)
		}
		return len(b) - len(rest), 2 * uint64(n), nil
	case msgp.ArrayType:
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", err, ErrFrame)
		}
		return len(b) - len(rest), uint64(n), nil
	case msgp.InvalidType:
		return 0, 0, fmt.Errorf("byte 0x%02x begins no value: %w", b[0], ErrFrame)
	}
	rest, err := msgp.Skip(b)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %w", err, ErrFrame)
	}
	return len(b) - len(rest), 0, nil
}

// Copier is a message for tests only: the catalogue has no kind for it and no frame carries it.
// It has its own name, and a copy replaces its decoding.
type Copier interface {
	node.Message
	Name() string
	Copy() node.Message
}

// NameOf returns the name of m: its kind's in the catalogue, or a Copier's own.
func NameOf(m node.Message) string {
	if c, ok := m.(Copier); ok {
		return c.Name()
	}
	return Name(m.Kind())
}

// Clone encodes and decodes m, for wire mode and for a test of MSG-2.
func Clone(m node.Message, scratch []byte) (node.Message, []byte, error) {
	if c, ok := m.(Copier); ok {
		return c.Copy(), scratch, nil
	}
	b, err := Append(scratch[:0], m)
	if err != nil {
		return nil, b, err
	}
	if len(b)-HeaderSize != m.Size() {
		node.Bug("%s: size says %d, encoding has %d bytes", Name(m.Kind()), m.Size(), len(b)-HeaderSize)
	}
	c, err := Decode(b)
	if err != nil {
		return nil, b, err
	}
	return c, b, nil
}

// Fits reports whether a node takes a message from a sender of this role: the catalogue names the
// roles that send each kind, and the kinds that travel as datagrams. A machine of a test takes any.
func Fits(k node.Kind, sender, receiver node.Role, s node.StreamID) bool {
	return Senders(k).Has(sender) && (s != 0 || Posted(k)) || receiver == node.RoleToy
}

// Placed reports whether a manager or a worker registers in the datacenter that its certificate
// claims. Without a certificate it may name any.
func Placed(m node.Message, by node.Grant) bool {
	switch m := m.(type) {
	case *ManagerHeartbeat:
		return by.Datacenter == "" || m.Datacenter == by.Datacenter
	case *WorkerHeartbeat:
		return by.Datacenter == "" || m.Datacenter == by.Datacenter
	}
	return true
}

// Callers returns the roles that open streams to a node. Clients, gates and managers call gates;
// managers and workers call managers. Managers and workers also call workers, to exchange lists of
// members. A machine of a test takes any.
func Callers(receiver node.Role) node.Roles {
	switch receiver {
	case node.RoleGate:
		return 1<<node.RoleClient | 1<<node.RoleGate | 1<<node.RoleManager
	case node.RoleManager, node.RoleWorker:
		return 1<<node.RoleManager | 1<<node.RoleWorker
	case node.RoleToy:
		return ^node.Roles(0)
	}
	return 0
}
