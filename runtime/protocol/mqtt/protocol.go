package mqtt

import (
	"encoding/base32"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// MessageMaxDefault bounds a message, in bytes, with its topic and properties. Less would cut real messages;
// more would let 1,000 users that each receive one fill the machine.
const MessageMaxDefault = http1.BodyLimitDefault

const (
	controlMost = 128 << 10 // bytes of a packet that carries no message
	idleMost    = 1024      // packets in a row that carry no message and end nothing
	fieldsMost  = 256       // user properties
	oweMost     = 64 << 10  // bytes of acknowledgements that the server does not take
	bufferKept  = 512       // bytes of a buffer that an idle connection keeps
	lateMost    = 16        // operations that are given up and whose exchanges are not complete
	textMost    = 65535     // bytes of a text: its length has 16 bits
)

// Version is the version of the protocol, as CONNECT has it.
type Version uint8

// The versions.
const (
	Version311 Version = 4
	Version5   Version = 5
)

// Config is what a connection greets with and takes.
type Config struct {
	Version        Version // 0: Version311
	User, Password string  // empty: none
	Resumes        bool    // the server keeps the session of a client identifier: clean start is off
	KeepAlive      uint16  // seconds; 0: none
	Expiry         uint32  // seconds that the server keeps the session; of version 5
	MessageMax     int64   // 0: MessageMaxDefault
	Subscription   *Subscription
}

// Subscription is what a connection receives in place of operations.
type Subscription struct {
	Filters []string
	QoS     uint8
}

// Protocol greets for the connections of one goroutine. It is made before the clock runs.
type Protocol struct {
	config Config
	most   int64
}

// New returns a protocol, or the reason why its texts cannot travel.
func New(c Config) (*Protocol, error) {
	p := &Protocol{config: c, most: c.MessageMax}
	if p.config.Version == 0 {
		p.config.Version = Version311
	}
	if p.most <= 0 {
		p.most = MessageMaxDefault
	}
	p.most = min(p.most, lengthMost)
	if why := unwritable(c.User); why != "" {
		return nil, &http1.InputError{Field: "user", Value: hiddenText, Remedy: "it " + why + ": take another one"}
	}
	if len(c.Password) > textMost {
		return nil, &http1.InputError{Field: "password", Value: hiddenText, Remedy: "it is longer than 65535 bytes: take another one"}
	}
	return p, nil
}

// Client returns a client identifier that no other connection has if the bits are random: in the 22 letters and
// digits that every server takes.
func Client(random [12]byte) string {
	return "hs" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// Claim says that a connection uses a client identifier: two at once would throw each other out.
type Claim struct{ Held bool }

// free gives the identifier back.
func (c *Claim) free() {
	if c != nil {
		c.Held = false
	}
}

// Will is what the server publishes for a connection that ends without a goodbye.
type Will struct {
	Topic, Data string
	QoS         uint8
	Retain      bool
	Delay       uint32 // seconds that the server waits; of version 5
}

// Check says why a will cannot travel.
func (w *Will) Check() *http1.Error {
	why, field := Unsendable(w.Topic), "topic"
	if why == "" && len(w.Data) > textMost {
		why, field = "is longer than 65535 bytes", "data"
	}
	if why == "" {
		return nil
	}
	return &http1.Error{Kind: http1.KindValue, Detail: "the " + field + " of the will " + why + ": change mqtt.will, in which ${vu} makes it longer"}
}

// The flags of CONNECT.
const (
	flagClean    = 0x02
	flagWill     = 0x04 // with its QoS in the two bits above
	flagKept     = 0x20 // the server keeps the will
	flagPassword = 0x40
	flagUser     = 0x80
)

// appendConnect appends CONNECT.
func (p *Protocol) appendConnect(dst []byte, client string, will *Will) []byte {
	c := &p.config
	var properties []byte
	if c.Version == Version5 && c.Expiry > 0 {
		properties = append32(append(properties, propertyExpiry), c.Expiry)
	}
	var flags byte
	if !c.Resumes {
		flags |= flagClean
	}
	size := 10 + 2 + len(client)
	if c.Version == Version5 {
		size += lengthOf(len(properties)) + len(properties)
	}
	left := will.append(nil, c.Version)
	size += len(left)
	if flags |= will.flags(); c.User != "" {
		flags |= flagUser
		size += 2 + len(c.User)
	}
	if c.Password != "" {
		flags |= flagPassword
		size += 2 + len(c.Password)
	}
	dst = appendLength(append(dst, byte(packetConnect)<<4), size)
	dst = append(appendText(dst, "MQTT"), byte(c.Version), flags)
	dst = append16(dst, c.KeepAlive)
	if c.Version == Version5 {
		dst = append(appendLength(dst, len(properties)), properties...)
	}
	dst = append(appendText(dst, client), left...)
	if c.User != "" {
		dst = appendText(dst, c.User)
	}
	if c.Password != "" {
		dst = appendText(dst, c.Password)
	}
	return dst
}

// flags are those that a will adds to CONNECT.
func (w *Will) flags() (flags byte) {
	if w == nil {
		return 0
	}
	if flags = flagWill | w.QoS<<3; w.Retain {
		flags |= flagKept
	}
	return flags
}

// append appends what a will adds behind the client identifier.
func (w *Will) append(dst []byte, version Version) []byte {
	if w == nil {
		return dst
	}
	if version == Version5 {
		var properties []byte
		if w.Delay > 0 {
			properties = append32(append(properties, propertyDelay), w.Delay)
		}
		dst = append(appendLength(dst, len(properties)), properties...)
	}
	return appendText(appendText(dst, w.Topic), w.Data)
}
