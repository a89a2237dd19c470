package http1

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// Placeholder is a marker for a value in the texts of a request. It consists of letters and
// digits, so that every escaping leaves it as it is, and occurs nowhere else. All markers of a
// request have the same length.
type Placeholder struct {
	Word string
	Var  int    // index into the values that Fill gets
	Name string // of the value, for people
}

// Escape says how a value goes into a body; everywhere else its place says it.
type Escape uint8

// The ways. EscapeNone takes a value as it is.
const (
	EscapeNone Escape = iota
	EscapeJSON        // within a string
	EscapeForm
	escapePath
	escapeQuery
	escapeField  // of a header: refuses control characters
	escapeCookie // also refuses characters that end a cookie
	escapeHost   // also refuses characters that end a host
	escapeUser   // of basic auth: refuses also the colon
)

// Template is what Fill puts a request together from.
type Template struct {
	head, body []piece
	boundary   []byte
	parts      int  // how often the boundary stands in the body
	sized      bool // the head ends with the body's length
	fixed      bool // path and query have no values
	inserted   int  // bytes of all inserts in the body
	encode     func(dst []byte, values [][]byte) ([]byte, error)
}

// piece is literal bytes and the value behind them.
type piece struct {
	literal []byte
	value   int // index; noValue: none
	escape  Escape
	name    string
	place   string
	open    bool // base64 covers the text up to the closing piece
	close   bool
	insert  []byte // that stands behind the literal; nil: none
}

const noValue = -1

// maxDigits is enough for any body, with files in it.
const (
	maxDigits = 16
	zeros     = "0000000000000000"
)

// cutter collects pieces.
type cutter struct {
	placeholders map[string]*Placeholder // by marker
	prefix       string                  // of all markers
	length       int                     // of each marker
	pieces       []piece
	last         []byte // literal bytes behind the last piece
}

func newCutter(placeholders []Placeholder) *cutter {
	c := &cutter{placeholders: make(map[string]*Placeholder, len(placeholders))}
	if len(placeholders) > 0 {
		c.prefix, c.length = placeholders[0].Word, len(placeholders[0].Word)
	}
	for i := range placeholders {
		word := placeholders[i].Word
		c.placeholders[word] = &placeholders[i]
		for !strings.HasPrefix(word, c.prefix) {
			c.prefix = c.prefix[:len(c.prefix)-1]
		}
	}
	return c
}

// next finds the first placeholder at or behind from.
func (c *cutter) next(s string, from int) (int, *Placeholder) {
	for c.length > 0 && from+c.length <= len(s) {
		k := strings.Index(s[from:], c.prefix)
		if k < 0 || from+k+c.length > len(s) {
			break
		}
		if from += k; c.placeholders[s[from:from+c.length]] != nil {
			return from, c.placeholders[s[from:from+c.length]]
		}
		from++
	}
	return len(s), nil
}

// text adds text whose placeholders get that escaping.
func (c *cutter) text(s string, escape Escape, place string) {
	for {
		at, placeholder := c.next(s, 0)
		c.last = append(c.last, s[:at]...)
		if placeholder == nil {
			return
		}
		c.add(piece{value: placeholder.Var, escape: escape, name: placeholder.Name, place: place})
		s = s[at+c.length:]
	}
}

func (c *cutter) add(p piece) {
	p.literal, c.last = c.last, nil
	c.pieces = append(c.pieces, p)
}

func (c *cutter) end() []piece {
	if len(c.last) > 0 {
		c.add(piece{value: noValue})
	}
	return c.pieces
}

func (c *cutter) has(s string) bool {
	_, placeholder := c.next(s, 0)
	return placeholder != nil
}

// template cuts a compiled request at its placeholders.
func (r Request) template(call *Call, fields []Pair) error {
	t := &Template{boundary: []byte(r.Boundary), encode: r.Encode}
	head := newCutter(r.Placeholders)
	if head.has(call.Host) {
		return &InputError{"url", r.URL, "write out the host: values go into path and query only"}
	}
	path, query, _ := strings.Cut(call.Path, "?")
	head.text(call.Method+" ", EscapeNone, "")
	head.text(path, escapePath, "path")
	if len(path) < len(call.Path) {
		head.text("?"+query, escapeQuery, "query")
	}
	head.text(" HTTP/1.1\r\n", EscapeNone, "")
	body := newCutter(r.Placeholders)
	from := 0
	for _, in := range r.Inserts {
		body.text(string(r.Body[from:in.At]), r.Escape, "body")
		body.add(piece{value: noValue, insert: in.Data})
		from = in.At
	}
	body.text(string(r.Body[from:]), r.Escape, "body")
	t.inserted = Inserted(r.Inserts)
	for _, f := range fields {
		if f.Name == "Content-Length" { // the last one
			t.sized = true
			head.text("Content-Length: ", EscapeNone, "")
			break
		}
		if head.has(f.Name) {
			return &InputError{"header name", f.Name, "write it out: values go into values only"}
		}
		head.text(f.Name+": ", EscapeNone, "")
		if err := r.cutField(head, f); err != nil {
			return err
		}
		head.text("\r\n", EscapeNone, "")
	}
	if !t.sized {
		head.text("\r\n", EscapeNone, "")
	}
	t.head, t.body = head.end(), body.end()
	if len(t.boundary) > 0 {
		t.parts = bytes.Count(r.Body, t.boundary)
	}
	t.fixed = !head.has(call.Path)
	call.Template, call.Bytes, call.Inserts, call.HeadLen, call.Path = t, nil, nil, 0, head.shown(call.Path)
	return nil
}

// shown is a text with names instead of markers.
func (c *cutter) shown(s string) string {
	for at, placeholder := c.next(s, 0); placeholder != nil; at, placeholder = c.next(s, 0) {
		s = s[:at] + "${" + placeholder.Name + "}" + s[at+c.length:]
	}
	return s
}

// cutField adds a header's value. What basic auth hides in base64 is cut before it is hidden.
func (r Request) cutField(c *cutter, f Pair) error {
	name := strings.ToLower(f.Name)
	switch name {
	case "connection", "keep-alive", "te", "trailer", "upgrade":
		if c.has(f.Value) {
			return &InputError{"header " + f.Name, f.Value, "write it out: it rules the connection"}
		}
	case "authorization":
		user, password := r.credentials()
		if c.has(user) || c.has(password) {
			c.text("Basic ", EscapeNone, "")
			c.add(piece{value: noValue, open: true})
			c.text(user, escapeUser, "user")
			c.text(":", EscapeNone, "")
			c.text(password, EscapeNone, "password")
			c.add(piece{value: noValue, close: true})
			return nil
		}
	}
	escape := escapeField
	switch name {
	case "cookie":
		escape = escapeCookie
	case "host":
		escape = escapeHost
	}
	c.text(f.Value, escape, "header "+f.Name)
	return nil
}

// credentials returns those of basic auth, from the option or the URL.
func (r Request) credentials() (user, password string) {
	if r.User != "" || r.Password != "" {
		return r.User, r.Password
	}
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		password, _ = u.User.Password()
		return u.User.Username(), password
	}
	return "", ""
}

// Fill appends the request with its values to dst, ready to write, and returns the length of
// its head. It allocates nothing once dst is large enough. An error names the value that cannot
// stand at its place; then dst is unchanged.
func (c *Call) Fill(dst []byte, values [][]byte) (filled []byte, head int, err error) {
	t, start := c.Template, len(dst)
	b, err := fill(dst, t.head, values, MaxHeadBytes)
	if err != nil {
		return dst, 0, err
	}
	if !t.sized {
		if len(b)-start > MaxHeadBytes {
			return dst, 0, headTooLarge(len(b) - start)
		}
		return t.unsized(b, dst, start, values)
	}
	// The body's length stands before it: room is left for as many digits as it seems.
	seems := 0
	for i := range t.body {
		p := &t.body[i]
		if seems += len(p.literal); p.value != noValue {
			seems += len(values[p.value])
		}
	}
	digits, at := countDigits(seems+t.inserted), len(b)
	b = append(b, (zeros + "\r\n\r\n")[maxDigits-digits:]...)
	from := len(b)
	if b, err = fill(b, t.body, values, MaxRequestBody); err != nil {
		return dst, 0, err
	}
	if len(t.boundary) > 0 && bytes.Count(b[from:], t.boundary) != t.parts {
		return dst, 0, &InputError{"body", "a value in it", "it must not hold the boundary of the parts"}
	}
	return t.finish(b, dst, start, at, digits, from)
}

// unsized appends a body whose length the head does not tell.
func (t *Template) unsized(b, dst []byte, start int, values [][]byte) ([]byte, int, error) {
	head := len(b) - start
	var err error
	switch {
	case t.encode != nil:
		b, err = t.encode(b, values)
	default:
		b, err = fill(b, t.body, values, MaxRequestBody)
	}
	if n := len(b) - start - head; err == nil && n > MaxRequestBody {
		err = bodyTooLarge(n)
	}
	if err != nil {
		return dst, 0, err
	}
	return b, head, nil
}

// finish writes the length of a body that begins at from.
func (t *Template) finish(b, dst []byte, start, at, digits, from int) ([]byte, int, error) {
	n := len(b) - from
	if n > MaxRequestBody {
		return dst, 0, bodyTooLarge(n)
	}
	all := n + t.inserted
	if more := countDigits(all) - digits; more > 0 {
		b = append(b, zeros[:more]...)
		copy(b[from+more-4:], b[from-4:from+n])
		from, digits = from+more, digits+more
	}
	for i := at + digits - 1; i >= at; i-- {
		b[i] = '0' + byte(all%10)
		all /= 10
	}
	if from-start > MaxHeadBytes {
		return dst, 0, headTooLarge(from - start)
	}
	return b, from - start, nil
}

// Placed appends the inserts of a request with its values, in the places that Fill gave them. No
// value in such a body is escaped: a form has its values as they are.
func (c *Call) Placed(dst []Insert, values [][]byte) []Insert {
	at := 0
	for i := range c.Template.body {
		p := &c.Template.body[i]
		at += len(p.literal)
		switch {
		case p.insert != nil:
			dst = append(dst, Insert{at, p.insert})
		case p.value != noValue:
			at += len(values[p.value])
		}
	}
	return dst
}

func countDigits(n int) int {
	digits := 1
	for n >= 10 && digits < maxDigits {
		n, digits = n/10, digits+1
	}
	return digits
}

// fill appends pieces, until they have more than most bytes.
func fill(b []byte, pieces []piece, values [][]byte, most int) ([]byte, error) {
	start, secret := len(b), 0
	for i := range pieces {
		p := &pieces[i]
		b = append(b, p.literal...)
		switch {
		case p.open:
			secret = len(b)
		case p.close:
			plain := len(b)
			b = base64.StdEncoding.AppendEncode(b, b[secret:])
			b = b[:secret+copy(b[secret:], b[plain:])]
		case p.value != noValue:
			v := values[p.value]
			if refused := p.escape.refuses(v); refused != "" {
				return b, p.refuse(v, refused)
			}
			b = p.escape.append(b, v)
		}
		if len(b)-start > most {
			return b, nil // the caller checks the length
		}
	}
	return b, nil
}

// refuse does not show a value that may be secret.
func (p *piece) refuse(v []byte, why string) error {
	shown := strconv.Itoa(len(v)) + " bytes"
	if strings.HasPrefix(p.place, "path") {
		shown = string(v)
	}
	return &InputError{"${" + p.name + "}", shown, "it cannot stand in the " + p.place + ": it has " + why}
}

// At returns the parts of the call that Fill has rendered, for another protocol.
func (c *Call) At(filled Message) Call {
	out := *c
	out.Bytes, out.HeadLen, out.Inserts, out.Template = filled.Bytes, filled.Head, filled.Inserts, nil
	if !c.Template.fixed {
		line, _, _ := bytes.Cut(filled.Bytes[:filled.Head], []byte("\r\n"))
		out.Path = string(line[len(c.Method)+1 : len(line)-len(" HTTP/1.1")])
	}
	return out
}
