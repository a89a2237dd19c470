package http1

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// holes are markers for values 0, 1, ...
func holes(n int) []Placeholder {
	all := make([]Placeholder, n)
	for i := range all {
		all[i] = Placeholder{Word: fmt.Sprintf("v0123456789abcdef%08xv", i), Var: i, Name: string(rune('a' + i))}
	}
	return all
}

func compiled(t testing.TB, r Request) *Call {
	t.Helper()
	call, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return &call
}

// everywhere is a request with a hole in each place where one may be.
func everywhere() (Request, []Placeholder) {
	h := holes(8)
	return Request{
		Method: "POST", URL: "http://h/a/" + h[0].Word + "/b?x=" + h[1].Word + "&y=1",
		Params: []Pair{{"p", h[2].Word}}, Headers: []Pair{{"X-Own", "<" + h[3].Word + ">"}},
		Cookies: []Pair{{"c", h[4].Word}}, User: h[5].Word, Password: "pw-" + h[6].Word,
		Body: []byte(`{"k":"` + h[7].Word + `"}`), ContentType: "application/json",
		Placeholders: h, Escape: EscapeJSON,
	}, h
}

func TestFill(t *testing.T) {
	h := holes(2)
	for _, tt := range []struct {
		name   string
		in     Request
		values []string
		want   string
	}{
		{"path and query", Request{Method: "GET", URL: "http://h/" + h[0].Word + "?q=" + h[1].Word}, []string{"a/b c", "ä&= "},
			"GET /a%2Fb%20c?q=%C3%A4%26%3D+ HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\n\r\n"},
		{"a header, and a host", Request{Method: "GET", URL: "http://h/", Headers: []Pair{{"Host", h[0].Word + ".test"}, {"X", h[1].Word}}}, []string{"shop", "\"x\" y"},
			"GET / HTTP/1.1\r\nHost: shop.test\r\nX: \"x\" y\r\nUser-Agent: hyperscale\r\n\r\n"},
		{"basic auth, cookies", Request{Method: "GET", URL: "http://h/", User: "u" + h[0].Word, Password: h[1].Word, Cookies: []Pair{{"a", "1"}, {"b", h[1].Word}}}, []string{"ser", "p:w"},
			"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nAuthorization: Basic dXNlcjpwOnc=\r\nCookie: a=1; b=p:w\r\n\r\n"},
		{"a bearer", Request{Method: "GET", URL: "http://h/", Bearer: h[0].Word}, []string{"t", ""},
			"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nAuthorization: Bearer t\r\n\r\n"},
		{"json grows by escapes", Request{Method: "POST", URL: "http://h/", Body: []byte(`["` + h[0].Word + `"]`), Escape: EscapeJSON}, []string{"\"\n\xff", ""},
			"POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nContent-Length: 15\r\n\r\n[\"\\\"\\u000A\uFFFD\"]"},
		{"a form", Request{Method: "POST", URL: "http://h/", Body: []byte("a=" + h[0].Word + "&b=" + h[1].Word), Escape: EscapeForm}, []string{"&b=2", " "},
			"POST / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nContent-Length: 14\r\n\r\na=%26b%3D2&b=+"},
		{"a body that is empty", Request{Method: "PUT", URL: "http://h/", Body: []byte(h[0].Word)}, []string{"", ""},
			"PUT / HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nContent-Length: 0\r\n\r\n"},
		{"only the head", Request{Method: "POST", URL: "http://h/" + h[0].Word, Body: []byte("same")}, []string{"x", ""},
			"POST /x HTTP/1.1\r\nHost: h\r\nUser-Agent: hyperscale\r\nContent-Length: 4\r\n\r\nsame"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Placeholders = h
			call := compiled(t, tt.in)
			got, head, err := call.Fill([]byte("before"), [][]byte{[]byte(tt.values[0]), []byte(tt.values[1])})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("before"+tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if call.Bytes != nil || strings.Contains(call.Path, "v0123") {
				t.Errorf("before it is filled: %q, %q", call.Path, call.Bytes)
			}
			at := call.At(Message{Bytes: got[6:], Head: head})
			if want := strings.Index(tt.want, "\r\n\r\n") + 4; head != want || at.HeadLen != want || at.Path != strings.Fields(tt.want)[1] {
				t.Errorf("head of %d bytes, want %d; path %s", head, want, at.Path)
			}
		})
	}
}

func TestFillRefuses(t *testing.T) {
	h := holes(1)
	for _, tt := range []struct {
		in    Request
		value string
		want  string
	}{
		{Request{URL: "http://h/a/" + h[0].Word}, "..", `${a} = "..": it cannot stand in the path: it has only dots`},
		{Request{URL: "http://h/", Headers: []Pair{{"X", h[0].Word}}}, "a\r\nB: c", `${a} = "7 bytes": it cannot stand in the header X: it has a control character`},
		{Request{URL: "http://h/", Bearer: h[0].Word}, "a\x00", `header Authorization`},
		{Request{URL: "http://h/", Cookies: []Pair{{"c", h[0].Word}}}, "a; b=c", `ends a cookie`},
		{Request{URL: "http://h/", Headers: []Pair{{"Host", h[0].Word}}}, "a/b", `ends a host`},
		{Request{URL: "http://h/", User: h[0].Word}, "a:b", `it has a colon`},
		{Request{URL: "http://h/", Headers: []Pair{{"X", h[0].Word}}}, strings.Repeat("x", 70000), `below 64 KiB`},
		{Request{URL: "http://h/" + h[0].Word, Body: []byte("x")}, strings.Repeat("x", 70000), `below 64 KiB`},
		{Request{URL: "http://h/", Body: []byte("--BOUND\r\n\r\n" + h[0].Word + "\r\n--BOUND--\r\n"), Boundary: "BOUND"}, "\r\n--BOUND--\r\n", `boundary`},
		{Request{URL: "http://h/", Body: []byte("BO" + h[0].Word + "D--BOUND--\r\n"), Boundary: "BOUND"}, "UN", `boundary`},
	} {
		tt.in.Method, tt.in.Placeholders = "POST", h
		dst, _, err := compiled(t, tt.in).Fill([]byte("before"), [][]byte{[]byte(tt.value)})
		if err == nil || !strings.Contains(err.Error(), tt.want) || string(dst) != "before" {
			t.Errorf("%.60q in %q: got %v, want %q; %.20q is left", tt.value, tt.in.URL, err, tt.want, dst)
		}
	}
	for want, r := range map[string]Request{
		"the host":              {URL: "http://" + h[0].Word + "/"},
		"rules the connection":  {URL: "http://h/", Headers: []Pair{{"Connection", h[0].Word}}},
		"go into values only":   {URL: "http://h/", Headers: []Pair{{h[0].Word, "x"}}},
		"computed from the bod": {URL: "http://h/", Headers: []Pair{{"Content-Length", h[0].Word}}},
	} {
		r.Method, r.Placeholders = "POST", h
		if _, err := r.Compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// hostile draws values of which some want out of their place.
func hostile() *rapid.Generator[string] {
	texts := []string{"\r\n", "\r\nX: y", "\r\n\r\nGET /other HTTP/1.1\r\nHost: h\r\n\r\n", "\"", "\\", "&b=", "%0d%0a", "#", "?", "/", "..", " ", "\t", "\x00", "\xff", "ä", "\u2028", ";", ",", ":", "a", "</script>", "--BOUND", "Content-Length: 0"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 0, 6).Draw(t, "texts"), "")
	})
}

// Whatever the values are: another implementation reads one request, and gets each value
// back from its place; or Fill refuses.
func TestValuesStayInTheirPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, h := everywhere()
		call, err := r.Compile()
		if err != nil {
			t.Fatal(err)
		}
		v := make([][]byte, len(h))
		for i := range v {
			v[i] = []byte(hostile().Draw(t, "value"))
		}
		raw, _, err := call.Fill(nil, v)
		if err != nil {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(raw))
		got, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", raw, err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil || reader.Buffered() > 0 {
			t.Fatalf("%q: %v, %d bytes left", raw, err, reader.Buffered())
		}
		user, password, _ := got.BasicAuth()
		var doc map[string]string
		if err := json.Unmarshal(body, &doc); err != nil || len(doc) != 1 {
			t.Fatalf("%q: %v, %v", body, doc, err)
		}
		segments := strings.Split(got.URL.EscapedPath(), "/")
		if len(segments) != 4 {
			t.Fatalf("%q: %d segments", got.URL.EscapedPath(), len(segments))
		}
		segment, _ := url.PathUnescape(segments[2])
		cookie := ""
		if len(got.Header["Cookie"]) == 1 {
			cookie = strings.TrimPrefix(got.Header["Cookie"][0], "c=")
		}
		places := []string{
			segment, got.URL.Query().Get("x"), got.URL.Query().Get("p"),
			strings.TrimSuffix(strings.TrimPrefix(got.Header.Get("X-Own"), "<"), ">"),
			cookie, user, strings.TrimPrefix(password, "pw-"), doc["k"],
		}
		for i := range places {
			want := string(v[i])
			if i == 7 {
				want = strings.ToValidUTF8(want, "\uFFFD")
				places[i] = strings.ReplaceAll(places[i], "\uFFFD\uFFFD", "\uFFFD")
				want = strings.ReplaceAll(want, "\uFFFD\uFFFD", "\uFFFD")
			}
			if places[i] != want {
				t.Fatalf("place %d: %q, want %q in %q", i, places[i], want, raw)
			}
		}
		if len(got.URL.Query()) != 3 || len(got.Header) > 6 {
			t.Fatalf("%v, %v", got.URL.Query(), got.Header)
		}
	})
}

// Forms and parts give their values back too.
func TestValuesStayInTheirBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := holes(2)
		v := [][]byte{[]byte(hostile().Draw(t, "a")), []byte(hostile().Draw(t, "b"))}
		r := Request{Method: "POST", URL: "http://h/", Placeholders: h}
		parts := rapid.Bool().Draw(t, "parts")
		if parts {
			r.Boundary, r.ContentType = "BOUND", "multipart/form-data; boundary=BOUND"
			for i, name := range []string{"a", "b"} {
				r.Body = append(r.Body, "--BOUND\r\nContent-Disposition: form-data; name=\""+name+"\"\r\n\r\n"+h[i].Word+"\r\n"...)
			}
			r.Body = append(r.Body, "--BOUND--\r\n"...)
		} else {
			r.Escape, r.ContentType = EscapeForm, "application/x-www-form-urlencoded"
			r.Body = []byte("a=" + h[0].Word + "&b=" + h[1].Word)
		}
		call, err := r.Compile()
		if err != nil {
			t.Fatal(err)
		}
		raw, head, err := call.Fill(nil, v)
		if err != nil {
			return
		}
		var form map[string][]string
		if parts {
			read, err := multipart.NewReader(bytes.NewReader(raw[head:]), "BOUND").ReadForm(1 << 20)
			if err != nil {
				t.Fatalf("%q: %v", raw[head:], err)
			}
			form = read.Value
		} else if form, err = url.ParseQuery(string(raw[head:])); err != nil {
			t.Fatalf("%q: %v", raw[head:], err)
		}
		want := map[string][]string{"a": {string(v[0])}, "b": {string(v[1])}}
		if diff := cmp.Diff(want, form); diff != "" {
			t.Fatalf("%q: %s", raw[head:], diff)
		}
	})
}

// FuzzFill puts any value into every place: the result is one request of ours.
func FuzzFill(f *testing.F) {
	f.Add("a", "b\r\nC: d")
	f.Add("..", "\xff\"")
	r, h := everywhere()
	call, err := r.Compile()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		v := make([][]byte, len(h))
		for i := range v {
			v[i] = []byte([]string{a, b}[i%2])
		}
		raw, head, err := call.Fill(nil, v)
		if err != nil {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(raw))
		got, err := http.ReadRequest(reader)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", raw, err)
		}
		if body, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(body, raw[head:]) || reader.Buffered() > 0 {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

func TestFillAllocatesNothing(t *testing.T) {
	r, h := everywhere()
	call := compiled(t, r)
	v := make([][]byte, len(h))
	for i := range v {
		v[i] = []byte("value-1")
	}
	var b []byte
	if n := testing.AllocsPerRun(100, func() { b, _, _ = call.Fill(b[:0], v) }); n != 0 {
		t.Errorf("%v allocations a request, want none", n)
	}
}

func BenchmarkFill(b *testing.B) {
	h := holes(2)
	all, many := everywhere()
	for _, bb := range []struct {
		name string
		in   Request
	}{
		{"header", Request{Method: "GET", URL: "http://h/me", Bearer: h[0].Word, Placeholders: h}},
		{"json", Request{Method: "POST", URL: "http://h/login", Body: []byte(`{"user":"` + h[0].Word + `","password":"` + h[1].Word + `"}`), ContentType: "application/json", Escape: EscapeJSON, Placeholders: h}},
		{"everywhere", all},
	} {
		b.Run(bb.name, func(b *testing.B) {
			call := compiled(b, bb.in)
			v := make([][]byte, len(many))
			for i := range v {
				v[i] = []byte("value-12345678")
			}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out, _, _ = call.Fill(out[:0], v)
			}
		})
	}
}

// A filled request is sent over HTTP/2 as one that was written out.
func TestFilledPath(t *testing.T) {
	h := holes(2)
	call := compiled(t, Request{Method: "GET", URL: "http://h/a/" + h[0].Word + "?q=" + h[1].Word, Placeholders: h})
	if call.Path != "/a/${a}?q=${b}" {
		t.Errorf("for people: %s", call.Path)
	}
	raw, head, err := call.Fill(nil, [][]byte{[]byte("x y"), []byte("z&")})
	if err != nil {
		t.Fatal(err)
	}
	if got := call.At(Message{Bytes: raw, Head: head}); got.Path != "/a/x%20y?q=z%26" || got.Template != nil || string(got.Bytes) != string(raw) {
		t.Errorf("%+v", got)
	}
}
