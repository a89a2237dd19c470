package mongodb

import (
	"encoding/binary"
	"math"
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
	Size  int           // bytes that the command has beside others; 0: none
	Pause time.Duration // between the hostile operation and the next one
	Once  bool          // nothing can be asked afterwards: there is no server
	Want  Want
}

// Place is what the client asks.
type Place uint8

// The places.
const (
	AtFind Place = iota
	AtAccept
	AtHello
	AtStart // saslStart
	AtMore  // getMore
)

// User and Password are those of the client, and Collection is what it asks for.
const (
	User       = "app"
	Password   = "geheim"
	Collection = "orders"
)

// Act is the rest of a behaviour. It says whether the connection continues; if not, the server closes it.
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
	Kind  http1.Kind // KindNone: the operation got its answer
	Body  string     // the answer
	Reuse Reuse
}

// Waits says whether the client must give up by its own clock.
func (w Want) Waits() bool {
	return w.Kind == http1.KindTimeout || w.Kind == http1.KindWriteTimeout || w.Kind == http1.KindConnectTimeout
}

// All returns the catalogue.
func All() []Entry {
	return slices.Concat(connections(), greetings(), ends(), told(), wrong(), cursors(), odd())
}

func fails(kind http1.Kind) Want { return Want{Kind: kind} }

// got is an operation that got its answer and keeps its connection.
func got(body string) Want { return Want{Body: body, Reuse: ReuseMust} }

// answers is the most common entry: an act in place of the answer to the first find.
func answers(name string, act Act, want Want) Entry { return Entry{Name: name, Act: act, Want: want} }

// pausing is an entry whose connection ends while it is idle.
func (e Entry) pausing() Entry {
	e.Pause = pause
	return e
}

// pause is long enough to see what happens on an idle connection, also on a busy machine.
const pause = 300 * time.Millisecond

func many(s string, n int) string { return strings.Repeat(s, n) }

func i32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
func i64(n int) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

// doc is a document of fields.
func doc(fields ...string) string {
	all := strings.Join(fields, "") + "\x00"
	return i32(len(all)+4) + all
}

func number(name string, n float64) string {
	return "\x01" + name + "\x00" + string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(n)))
}

func text(name, s string) string      { return "\x02" + name + "\x00" + i32(len(s)+1) + s + "\x00" }
func document(name, d string) string  { return "\x03" + name + "\x00" + d }
func array(name, d string) string     { return "\x04" + name + "\x00" + d }
func binaryOf(name, s string) string  { return "\x05" + name + "\x00" + i32(len(s)) + "\x00" + s }
func truth(name string) string        { return "\x08" + name + "\x00\x01" }
func whole(name string, n int) string { return "\x10" + name + "\x00" + i32(n) }
func long(name string, n int) string  { return "\x12" + name + "\x00" + i64(n) }

// batch is a good answer: documents with one number each, and a cursor.
func batch(name string, cursor int, of ...int) string {
	var all []string
	for i, n := range of {
		all = append(all, document(string(rune('0'+i)), doc(whole("n", n))))
	}
	return doc(document("cursor", doc(array(name, doc(all...)), long("id", cursor), text("ns", "shop."+Collection))), number("ok", 1))
}

// fault is an answer that fails.
func fault(code int, why string) string {
	return doc(number("ok", 0), text("errmsg", why), whole("code", code), text("codeName", "Name"))
}

// Next is the body of the well-behaved answer.
const Next = `[{"n":4242}]`
