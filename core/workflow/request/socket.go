package request

import (
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Socket says what a request exchanges over WebSocket, once its connection is upgraded.
type Socket struct {
	Send      []Said
	Receive   int    // how many messages end it; 0 without Until: sending is all
	Until     Ending // or the first message for which this holds; nil: none
	Protocols []string
	Compress  Compress
}

// Said is a message that is sent. A text may have placeholders in it.
type Said struct {
	Data   []byte
	Binary bool
}

// rewritten returns the exchange with other texts in place of its own.
func (s *Socket) rewritten(change func(string) string) *Socket {
	if s == nil {
		return nil
	}
	out := *s
	out.Send = slices.Clone(s.Send)
	for i, m := range s.Send {
		if !m.Binary {
			out.Send[i].Data = []byte(change(string(m.Data)))
		}
	}
	return &out
}

// has reports whether look holds for a text of the exchange.
func (s *Socket) has(look func(string) bool) bool {
	return s != nil && slices.ContainsFunc(s.Send, func(m Said) bool { return !m.Binary && look(string(m.Data)) })
}

// Compress says what the upgrade offers of permessage-deflate.
type Compress uint8

// The choices.
const (
	CompressNot      Compress = iota
	CompressFresh             // each message by itself
	CompressTakeover          // the server may keep its context between messages
)

const (
	socketMessagesMax  = 1000 // that one exchange sends
	socketReceiveMax   = 1_000_000_000
	socketProtocolsMax = 16
)

// SocketArguments are those of websocket.exchange.
func SocketArguments() []string {
	return []string{"url", "send", "receive", "until", "headers", "params", "cookies", "auth", "protocols", "compression", "timeout", "retry"}
}

// WebSocket is websocket: exchange is a request that upgrades its connection, unless it is already,
// and exchanges messages.
func WebSocket(under string, until func(fn string, v starlark.Value) (Ending, error), use Use) *language.Namespace {
	fn := under + ".exchange"
	names := SocketArguments()
	return language.NewNamespace(under, starlark.StringDict{
		"exchange": &guard.Func{Word: "exchange", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := make([]starlark.Value, len(names))
			if err := language.Bind(fn, names, 1, args, kwargs, in); err != nil {
				return nil, err
			}
			of := func(name string) starlark.Value { return in[slices.Index(names, name)] }
			r, b, err := upgradeOf(thread, fn, of)
			if err != nil {
				return nil, err
			}
			s := r.Socket
			if s.Send, err = readSaid(thread, fn, b, of("send")); err != nil {
				return nil, b.Explain(err)
			}
			if err := s.ends(fn, of("receive"), of("until"), until); err != nil {
				return nil, err
			}
			v, err := use(thread, r, b, nil)
			return v, asSocket(err)
		}},
	})
}

// OpenArguments are those of vu.websocket.open.
func OpenArguments() []string {
	return []string{"url", "headers", "params", "cookies", "auth", "protocols", "compression", "timeout"}
}

// OpenSocket is vu.websocket: open upgrades a connection for a session.
func OpenSocket(under string, own []string, use Use) *language.Namespace {
	fn := under + ".open"
	names := slices.Concat(OpenArguments(), own)
	return language.NewNamespace(under, starlark.StringDict{
		"open": &guard.Func{Word: "open", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := make([]starlark.Value, len(names))
			if err := language.Bind(fn, names, 1, args, kwargs, in); err != nil {
				return nil, err
			}
			r, b, err := upgradeOf(thread, fn, func(name string) starlark.Value {
				if i := slices.Index(names, name); i >= 0 {
					return in[i]
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			v, err := use(thread, r, b, in[len(OpenArguments()):])
			return v, asSocket(err)
		}},
	})
}

// upgradeOf makes the request that upgrades a connection of arguments with these names.
func upgradeOf(thread *starlark.Thread, fn string, of func(name string) starlark.Value) (*Request, *Placeholders, error) {
	address, err := socketAddress(fn, of("url"))
	if err != nil {
		return nil, nil, err
	}
	r, b, err := compose(thread, fn, "GET", &[argCount]starlark.Value{
		argURL: address, argHeaders: of("headers"), argParams: of("params"), argCookies: of("cookies"), argAuth: of("auth"),
		argTimeout: of("timeout"), argRetry: of("retry"),
	})
	if err != nil {
		return nil, nil, asSocket(err)
	}
	if r.Digest() {
		return nil, nil, language.Faultf("%s: an upgrade answers no challenge", fn).In("auth").Do("use http.basic or http.bearer")
	}
	for _, h := range r.Headers {
		if reservedForUpgrade(h.Name) {
			return nil, nil, language.Faultf("%s: headers has %s in it, which the upgrade sets itself", fn, h.Name).In("headers").Do("take it out; protocols and compression have arguments of their own")
		}
	}
	r.Socket = &Socket{}
	return r, b, r.Socket.offers(fn, of("protocols"), of("compression"))
}

// socketAddress returns the URL of the request that upgrades.
func socketAddress(fn string, v starlark.Value) (starlark.Value, error) {
	if v == nil {
		return nil, language.Faultf("%s: the URL is missing", fn).Do("write %s(\"ws://host/path\")", fn)
	}
	if _, hidden := v.(*secret.Text); hidden {
		return nil, language.Faultf("%s: the URL has a secret in it", fn).In("url").Do("pass it by params = {...}, headers or auth")
	}
	text, ok := v.(starlark.String)
	if !ok {
		return nil, language.WrongType(fn, "url", "a text", v)
	}
	scheme, rest, found := strings.Cut(string(text), "://")
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: the URL %q %s", fn, language.Clip(string(text), 80), what).In("url").Do("%s", remedy)
	}
	switch {
	case strings.Contains(rest, "#"):
		return nil, wrong("has a fragment, and WebSocket has none", "leave out what begins with #")
	case found && scheme == "ws":
		return starlark.String("http://" + rest), nil
	case found && scheme == "wss":
		return starlark.String("https://" + rest), nil
	case found && (scheme == "http" || scheme == "https"):
		return nil, wrong("is of HTTP", "write ws://, or wss:// for TLS; a param that has http:// serves by \"ws\" + target[4:]")
	}
	return nil, wrong("is neither ws nor wss", "write \"ws://host/path\", or wss:// for TLS")
}

// asSocket names the schemes as they are written.
func asSocket(err error) error {
	if f, ok := err.(*language.Fault); ok {
		f.Message, f.Remedy = strings.Replace(f.Message, "\"http", "\"ws", 1), strings.ReplaceAll(f.Remedy, "http", "ws")
	}
	return err
}

// reservedForUpgrade reports whether the upgrade, or what carries it, sets the header field itself.
func reservedForUpgrade(name string) bool {
	switch name = strings.ToLower(name); name {
	case "upgrade", "connection", "content-length", "transfer-encoding", "expect":
		return true
	}
	return strings.HasPrefix(name, "sec-websocket-")
}

// readSaid reads the messages that are sent.
func readSaid(thread *starlark.Thread, fn string, b *Placeholders, v starlark.Value) (all []Said, err error) {
	if v == nil {
		return nil, nil
	}
	list, err := language.List(fn, "send", "texts or bytes", v)
	if err != nil {
		return nil, err
	}
	if len(list) > socketMessagesMax {
		return nil, language.Faultf("%s: send has %d messages, one exchange sends at most %d", fn, len(list), socketMessagesMax).In("send")
	}
	size := 0
	for i := range list {
		var m Said
		switch item := list[i].(type) {
		case starlark.String, *secret.Text:
			text, _, err := sentText(item)
			if err != nil {
				return nil, err
			}
			if text, err = b.put(fn, "send", text); err != nil {
				return nil, err
			}
			m.Data = []byte(text)
		case starlark.Bytes:
			m = Said{[]byte(item), true}
		default:
			return nil, language.Faultf("%s: send[%d] must be a text or bytes, not %s", fn, i, language.Describe(item)).In("send").Do("for a dict or a list write json.encode(...)")
		}
		all, size = append(all, m), size+len(m.Data)
	}
	return all, guard.MeterOf(thread).Charge(thread, size+64*len(all))
}

// ends reads receive and until.
func (s *Socket) ends(fn string, receive, ending starlark.Value, until func(string, starlark.Value) (Ending, error)) (err error) {
	if ending != nil {
		if s.Until, err = until(fn, ending); err != nil {
			return err
		}
	}
	switch {
	case receive != nil:
		if s.Receive, err = language.Integer(fn, "receive", receive, 0, socketReceiveMax); err != nil {
			return err
		}
		if s.Receive == 0 && s.Until != nil {
			return language.Faultf("%s has both receive = 0 and until", fn).In("receive").Do("take receive out: until ends the exchange")
		}
	case s.Until == nil:
		s.Receive = 1
	}
	if s.Receive == 0 && s.Until == nil && len(s.Send) == 0 {
		return language.Faultf("%s neither sends nor receives", fn).Do("write send = [\"hello\"], or receive = 1")
	}
	return nil
}

// offers reads what the upgrade offers.
func (s *Socket) offers(fn string, protocols, compression starlark.Value) error {
	names, err := language.Names(fn, "protocols", "protocols", protocols)
	if err != nil {
		return err
	}
	if len(names) > socketProtocolsMax {
		return language.Faultf("%s offers %d protocols, at most %d fit", fn, len(names), socketProtocolsMax).In("protocols")
	}
	for i, name := range names {
		switch {
		case !language.IsToken(name):
			return language.Faultf("%s: %q is not a protocol's name", fn, language.Clip(name, 40)).In("protocols").Do("use letters, digits, dots and dashes")
		case slices.Contains(names[:i], name):
			return language.Faultf("%s: the protocol %q is there twice", fn, name).In("protocols").Do("name each protocol once")
		}
	}
	s.Protocols = names
	switch v := compression.(type) {
	case nil:
		return nil
	case starlark.Bool:
		if v {
			s.Compress = CompressFresh
		}
		return nil
	case starlark.String:
		if v == "takeover" {
			s.Compress = CompressTakeover
			return nil
		}
	}
	return language.WrongType(fn, "compression", "True, False or \"takeover\"", compression).Do("write compression = True: each message is compressed by itself")
}
