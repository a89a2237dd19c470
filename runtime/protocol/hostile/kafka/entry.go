package kafka

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name  string
	At    Place // where the behaviour takes the place of an answer
	Act   Act
	Size  int           // bytes of the record; 0: any
	Pause time.Duration // between the hostile operation and the next one
	Once  bool          // nothing can be asked afterwards: there is no broker
	Reads bool          // the operation reads a record, and else it sends one
	Group bool          // and its consumer is in Group
	Want  Want
}

// Place is what the client asks.
type Place uint8

// The places, in the order of a connection.
const (
	AtRecord Place = iota
	AtAccept       // nothing: it has connected
	AtVersions
	AtHandshake // of SASL
	AtChallenge // of SCRAM
	AtProof
	AtLayout // Metadata
	AtOffsets
	AtFetch
	AtFind // the coordinator of a group, as all below
	AtJoin
	AtSync
	AtRemember // OffsetFetch
	AtCommit
	AtBeat
)

// User and Password are those of the client, and Topic is where its records go.
const (
	User     = "app"
	Password = "geheim"
	Topic    = "orders"
)

// Act is the rest of a behaviour. It says whether the connection continues; if not, the broker closes it.
type Act func(s *Session) (stay bool)

// Reuse says on which connection the next operation comes.
type Reuse uint8

// The choices.
const (
	ReuseNot    Reuse = iota // another one
	ReuseMust                // the same
	ReuseEither              // both are right
)

// Want is the client's required conclusion.
type Want struct {
	Kind      http1.Kind // KindNone: the operation got its answer
	Body      string     // the answer
	Reuse     Reuse
	Throttled uint64 // answers that ask to wait
	Again     int    // requests of an operation behind its first one
}

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), layouts(), ends(), told(), wrong(), odd(), reads(), groups())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// got is an operation that got its answer and keeps its connection.
func got(body string) Want { return Want{Body: body, Reuse: ReuseMust} }

// gone is an operation that got its answer and loses its connection.
func gone(body string) Want { return Want{Body: body} }

// answers is the most common entry: an act in place of the answer to the first record.
func answers(name string, act Act, want Want) Entry { return Entry{Name: name, Act: act, Want: want} }

// pausing is an entry whose connection ends while it is idle.
func (e Entry) pausing() Entry {
	e.Pause = pause
	return e
}

// pause is long enough to see what happens on an idle connection, also on a busy machine.
const pause = 300 * time.Millisecond

func many(s string, n int) string { return strings.Repeat(s, n) }

func i16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func i32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func i64(n int) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func text(s string) string { return i16(len(s)) + s }

// nextOffset is that of well-behaved answers.
const nextOffset = 4242

// Next is a part of the well-behaved answer.
const Next = `"offset":4242`

// produced is an answer to a record, of version 8 of Produce.
func produced(code, offset int, why string, wait int) string {
	message := i16(-1)
	if why != "" {
		message = text(why)
	}
	return i32(1) + text(Topic) + i32(1) + i32(0) + i16(code) + i64(offset) + i64(-1) + i64(0) + i32(0) + message + i32(wait)
}

// versions is an answer to ApiVersions: pairs of a number and its highest version.
func versions(code int, of ...[2]int) string {
	out := i16(code) + i32(len(of))
	for _, v := range of {
		out += i16(v[0]) + i16(0) + i16(v[1])
	}
	return out
}
