package request

import (
	"slices"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// Raw says what a request exchanges over TCP. What it sends is its Body.
type Raw struct {
	Target  *Target
	Receive Framing
}

// Framing says where an answer of bytes ends.
type Framing struct {
	Kind FramingKind
	N    int    // of FramingBytes and FramingPrefixed
	End  []byte // of FramingUntil
}

// FramingKind is what ends an answer.
type FramingKind uint8

// The ends of an answer.
const (
	FramingNone     FramingKind = iota // there is no answer: sending is all
	FramingUntil                       // the bytes of End
	FramingBytes                       // N bytes
	FramingPrefixed                    // as many bytes as a number of N bytes before them says, the highest byte first
	FramingClosed                      // the end of the connection
)

const (
	rawBytesMax = 1 << 30 // that tcp.bytes asks for
	rawEndMax   = 1 << 10 // bytes of tcp.until
)

type framingValue struct {
	language.Opaque
	of Framing
}

// rawArguments are those of tcp.exchange.
func rawArguments() []string { return []string{"url", "send", "receive", "timeout", "retry"} }

const (
	rawURL = iota
	rawSend
	rawReceive
	rawTimeout
	rawRetry
	rawCount
)

// TCPSchemes are those of tcp.exchange.
func TCPSchemes() Schemes { return Schemes{Plain: "tcp", Secure: "tcps"} }

// TCP is tcp and vu.tcp: exchange sends bytes on a connection and reads an answer, whose end line and
// its like describe.
func TCP(under string, own []string, use Use) *language.Namespace {
	fn := under + ".exchange"
	names := append(rawArguments(), own...)
	members := starlark.StringDict{
		"exchange": &guard.Func{Word: "exchange", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var in [rawCount + ownMax]starlark.Value
			if err := language.Bind(fn, names, 1, args, kwargs, in[:]); err != nil {
				return nil, err
			}
			target, err := TCPSchemes().Read(fn, in[rawURL])
			if err != nil {
				return nil, err
			}
			r := &Request{Method: "TCP", URL: target.URL(), Exchange: Exchange{Raw: &Raw{Target: target}}}
			b, err := r.sends(thread, fn, in[rawSend])
			if err != nil {
				return nil, err
			}
			if in[rawReceive] != nil {
				f, ok := in[rawReceive].(*framingValue)
				if !ok {
					return nil, language.WrongType(fn, "receive", "an end of an answer", in[rawReceive]).Do("write receive = tcp.line(), tcp.bytes(12), tcp.until(\"END\"), tcp.prefixed(4) or tcp.closed()")
				}
				r.Raw.Receive = f.of
			}
			if len(r.Body) == 0 && r.Raw.Receive.Kind == FramingNone {
				return nil, language.Faultf("%s neither sends nor receives", fn).Do("write send = \"ping\\n\", or receive = tcp.line()")
			}
			if err := r.fields(fn, b, &[argCount]starlark.Value{argTimeout: in[rawTimeout], argRetry: in[rawRetry]}); err != nil {
				return nil, err
			}
			return use(thread, r, b, in[rawCount:len(names)])
		}},
	}
	if own != nil {
		return language.NewNamespace(under, members)
	}
	//lint:orderfree a dict has no order either
	for name, read := range framings() {
		word := "tcp." + name
		members[name] = &guard.Func{Word: name, Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			f, err := read(word, args, kwargs)
			if err != nil {
				return nil, err
			}
			return &framingValue{Opaque: language.Opaque{Kind: "framing"}, of: f}, nil
		}}
	}
	return language.NewNamespace(under, members)
}

// sends reads what a request sends.
func (r *Request) sends(thread *starlark.Thread, fn string, v starlark.Value) (b *Placeholders, err error) {
	if w := wordsOf(thread); w != nil {
		b = &Placeholders{words: w, thread: thread}
	}
	switch v := v.(type) {
	case nil:
		return b, nil
	case starlark.String, *secret.Text:
		text, _, err := sentText(v)
		if err != nil {
			return nil, err
		}
		if text, err = b.put(fn, "send", text); err != nil {
			return nil, err
		}
		r.Body = []byte(text)
	case starlark.Bytes:
		r.Body = []byte(v)
	default:
		return nil, language.WrongType(fn, "send", "a text or bytes", v).Do("for a dict or a list write json.encode(...), for hexadecimal digits hex.decode(...)")
	}
	return b, guard.MeterOf(thread).Charge(thread, len(r.Body)+128*b.count())
}

// framings are the functions that describe the end of an answer.
func framings() map[string]func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Framing, error) {
	none := func(f Framing) func(string, starlark.Tuple, []starlark.Tuple) (Framing, error) {
		return func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Framing, error) {
			if len(args)+len(kwargs) > 0 {
				return Framing{}, language.Faultf("%s takes no argument", fn).Do("write %s()", fn)
			}
			return f, nil
		}
	}
	one := func(name, example string, read func(fn string, v starlark.Value) (Framing, error)) func(string, starlark.Tuple, []starlark.Tuple) (Framing, error) {
		return func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (Framing, error) {
			var in [1]starlark.Value
			if err := language.Bind(fn, []string{name}, 1, args, kwargs, in[:]); err != nil {
				return Framing{}, err
			}
			if in[0] == nil {
				return Framing{}, language.Faultf("%s: %s is missing", fn, name).Do("write %s(%s)", fn, example)
			}
			return read(fn, in[0])
		}
	}
	return map[string]func(string, starlark.Tuple, []starlark.Tuple) (Framing, error){
		"line":   none(Framing{Kind: FramingUntil, End: []byte("\n")}),
		"closed": none(Framing{Kind: FramingClosed}),
		"bytes": one("count", "12", func(fn string, v starlark.Value) (Framing, error) {
			n, err := language.Integer(fn, "count", v, 1, rawBytesMax)
			return Framing{Kind: FramingBytes, N: n}, err
		}),
		"prefixed": one("size", "4", func(fn string, v starlark.Value) (Framing, error) {
			n, err := language.Integer(fn, "size", v, 1, 8)
			if err == nil && !slices.Contains([]int{1, 2, 4, 8}, n) {
				err = language.Faultf("%s: size = %d is no size of a length", fn, n).In("size").Do("write 1, 2, 4 or 8: so many bytes have the length in them")
			}
			return Framing{Kind: FramingPrefixed, N: n}, err
		}),
		"until": one("end", "\"END\\r\\n\"", func(fn string, v starlark.Value) (Framing, error) {
			var end []byte
			switch v := v.(type) {
			case starlark.String:
				end = []byte(v)
			case starlark.Bytes:
				end = []byte(v)
			default:
				return Framing{}, language.WrongType(fn, "end", "a text or bytes", v)
			}
			if len(end) == 0 || len(end) > rawEndMax {
				return Framing{}, language.Faultf("%s: end has %d bytes", fn, len(end)).In("end").Do("write 1 to %d bytes", rawEndMax)
			}
			return Framing{Kind: FramingUntil, End: end}, nil
		}),
	}
}

// Datagram says what a request exchanges over UDP. The datagram that it sends is its Body.
type Datagram struct {
	Target  *Target
	Receive int // datagrams; 0: sending is all
	Match   DatagramMatch
}

// DatagramMatch says which bytes of an answer repeat the question. Without a Count every datagram from the
// server answers.
type DatagramMatch struct{ Count, At, SentAt int }

const (
	datagramMax        = 65507 // bytes that UDP over IPv4 carries
	datagramReceiveMax = 1000
	datagramMatchMax   = 1 << 10
)

type datagramMatchValue struct {
	language.Opaque
	of DatagramMatch
}

// datagramArguments are those of udp.exchange.
func datagramArguments() []string {
	return []string{"url", "send", "receive", "match", "timeout", "retry"}
}

const (
	datagramURL = iota
	datagramSend
	datagramReceive
	datagramMatching
	datagramTimeout
	datagramRetry
	datagramCount
)

// UDPSchemes are those of udp.exchange.
func UDPSchemes() Schemes { return Schemes{Plain: "udp"} }

// UDP is udp and vu.udp: exchange sends a datagram and waits for those that answer it.
func UDP(under string, own []string, use Use) *language.Namespace {
	fn := under + ".exchange"
	names := append(datagramArguments(), own...)
	members := starlark.StringDict{
		"exchange": &guard.Func{Word: "exchange", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var in [datagramCount + ownMax]starlark.Value
			if err := language.Bind(fn, names, 1, args, kwargs, in[:]); err != nil {
				return nil, err
			}
			target, err := UDPSchemes().Read(fn, in[datagramURL])
			if err != nil {
				return nil, err
			}
			r := &Request{Method: "UDP", URL: target.URL(), Exchange: Exchange{Datagram: &Datagram{Target: target, Receive: 1}}}
			b, err := r.sends(thread, fn, in[datagramSend])
			if err != nil {
				return nil, err
			}
			if err := r.hears(fn, in[datagramReceive], in[datagramMatching], b.count() == 0); err != nil {
				return nil, err
			}
			if err := r.fields(fn, b, &[argCount]starlark.Value{argTimeout: in[datagramTimeout], argRetry: in[datagramRetry]}); err != nil {
				return nil, err
			}
			return use(thread, r, b, in[datagramCount:len(names)])
		}},
	}
	if own == nil {
		members["same"] = newDatagramMatch()
	}
	return language.NewNamespace(under, members)
}

// hears reads what answers a datagram. Whole says that the datagram is known as it goes out.
func (r *Request) hears(fn string, receive, match starlark.Value, whole bool) (err error) {
	d := r.Datagram
	switch n := len(r.Body); {
	case n == 0:
		return language.Faultf("%s sends nothing", fn).In("send").Do("write send = \"ping\", or send = hex.decode(\"00ff\"): a datagram has 1 to %d bytes", datagramMax)
	case whole && n > datagramMax:
		return language.Faultf("%s: send has %d bytes, and a datagram at most %d", fn, n, datagramMax).In("send").Do("send less, or use tcp.exchange")
	}
	if receive != nil {
		if d.Receive, err = language.Integer(fn, "receive", receive, 0, datagramReceiveMax); err != nil {
			return err
		}
	}
	if match == nil {
		return nil
	}
	m, ok := match.(*datagramMatchValue)
	if !ok {
		return language.WrongType(fn, "match", "udp.same(2)", match).Do("write match = udp.same(2): an answer begins with the first two bytes of the question")
	}
	d.Match = m.of
	switch end := m.of.SentAt + m.of.Count; {
	case d.Receive == 0:
		return language.Faultf("%s has a match, and receive = 0 waits for no answer", fn).In("match").Do("take match out, or write receive = 1")
	case whole && end > len(r.Body):
		return language.Faultf("%s: match compares bytes of send up to %d, and it has %d", fn, end, len(r.Body)).In("match").Do("match fewer bytes, or send more")
	}
	return nil
}

// newDatagramMatch returns the function udp.same.
func newDatagramMatch() starlark.Value {
	const fn = "udp.same"
	return &guard.Func{Word: "same", Call: func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var in [3]starlark.Value
		if err := language.Bind(fn, []string{"count", "at", "sent_at"}, 1, args, kwargs, in[:]); err != nil {
			return nil, err
		}
		if in[0] == nil {
			return nil, language.Faultf("%s: count is missing", fn).Do("write %s(2)", fn)
		}
		var m DatagramMatch
		var err error
		if m.Count, err = language.Integer(fn, "count", in[0], 1, datagramMatchMax); err != nil {
			return nil, err
		}
		if in[1] != nil {
			if m.At, err = language.Integer(fn, "at", in[1], 0, datagramMax-1); err != nil {
				return nil, err
			}
		}
		m.SentAt = m.At
		if in[2] != nil {
			if m.SentAt, err = language.Integer(fn, "sent_at", in[2], 0, datagramMax-1); err != nil {
				return nil, err
			}
		}
		return &datagramMatchValue{Opaque: language.Opaque{Kind: "match"}, of: m}, nil
	}}
}
