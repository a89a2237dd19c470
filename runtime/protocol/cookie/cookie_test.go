package cookie_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/protocol/cookie"
)

const now = 1_800_000_000

func origin(target string) cookie.Origin {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	return cookie.Origin{Secure: u.Scheme == "https", Host: u.Hostname(), Path: u.RequestURI()}
}

// Each story sets cookies ("FROM field", in turn) and asks which ones go to a place.
func TestJar(t *testing.T) {
	tests := []struct {
		why  string
		set  string // lines
		ask  string
		want string
	}{
		{"a cookie goes back", "http://a.example/x/y a=b", "http://a.example/x/z", "a=b"},
		{"not above its folder", "http://a.example/x/y a=b", "http://a.example/", ""},
		{"a path that only looks alike", "http://a.example/x/y a=b", "http://a.example/xy", ""},
		{"the query is no path", "http://a.example/x?q=/y/z a=b", "http://a.example/", "a=b"},
		{"a path that is said", "http://a.example/x a=b; Path=/deep", "http://a.example/deep/er?q", "a=b"},
		{"a path that is none", "http://a.example/x/y a=b; Path=deep", "http://a.example/x", "a=b"},
		{"host only", "http://a.example/ a=b", "http://w.a.example/", ""},
		{"a domain and what is below it", "http://w.a.example/ a=b; Domain=.A.example", "http://x.a.example/", "a=b"},
		{"another domain", "http://w.a.example/ a=b; Domain=b.example", "http://b.example/", ""},
		{"a domain below", "http://a.example/ a=b; Domain=w.a.example", "http://w.a.example/", ""},
		{"a public suffix", "http://a.co.uk/ a=b; Domain=co.uk", "http://b.co.uk/", ""},
		{"a public suffix that is the host", "http://co.uk/ a=b; Domain=co.uk", "http://co.uk/", "a=b"},
		{"and not below it", "http://co.uk/ a=b; Domain=co.uk", "http://b.co.uk/", ""},
		{"a name that ends alike", "http://a.example/ a=b; Domain=a.example", "http://ba.example/", ""},
		{"addresses match themselves", "http://127.0.0.1/ a=b; Domain=127.0.0.1", "http://127.0.0.1:8080/", "a=b"},
		{"and nothing below", "http://1.127.0.0.1/ a=b; Domain=0.0.1", "http://2.127.0.0.1/", ""},
		{"localhost", "http://localhost/ a=b; Domain=localhost", "http://localhost/", "a=b"},
		{"secure ones go by https", "https://a.example/ a=b; Secure", "https://a.example/", "a=b"},
		{"and not by http", "https://a.example/ a=b; Secure", "http://a.example/", ""},
		{"http sets none", "http://a.example/ a=b; Secure", "https://a.example/", ""},
		{"http hides none", "https://a.example/ a=b; Secure\nhttp://a.example/ a=evil", "https://a.example/", "a=b"},
		{"a prefix holds", "https://a.example/ __Host-a=b; Secure; Path=/", "https://a.example/", "__Host-a=b"},
		{"a prefix without secure", "https://a.example/ __Secure-a=b", "https://a.example/", ""},
		{"a prefix with a domain", "https://a.example/ __host-a=b; Secure; Path=/; Domain=a.example", "https://a.example/", ""},
		{"a prefix that hides in a value", "https://a.example/ =__Host-a=b", "https://a.example/", ""},
		{"the same again", "http://a.example/ a=1\nhttp://a.example/ a=2", "http://a.example/", "a=2"},
		{"longer paths first, then older", "http://a.example/ a=1; Path=/\nhttp://a.example/ b=2; Path=/\nhttp://a.example/ c=3; Path=/x\nhttp://a.example/ a=4; Path=/", "http://a.example/x", "c=3; a=4; b=2"},
		{"max-age", "http://a.example/ a=b; Max-Age=10", "http://a.example/", "a=b"},
		{"max-age that is over", "http://a.example/ a=b; Max-Age=0", "http://a.example/", ""},
		{"max-age above expires", "http://a.example/ a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://a.example/", "a=b"},
		{"deleted", "http://a.example/ a=b\nhttp://a.example/ a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://a.example/", ""},
		{"a date of old", "http://a.example/ a=b; expires=Sunday, 06-Nov-94 08:49:37 GMT", "http://a.example/", ""},
		{"a date to come", "http://a.example/ a=b; expires=Wed, 21 Oct 2065 07:28:00 GMT", "http://a.example/", "a=b"},
		{"a date that is none", "http://a.example/ a=b; expires=soon", "http://a.example/", "a=b"},
		{"max-age that is none", "http://a.example/ a=b; Max-Age=1e9", "http://a.example/", "a=b"},
		{"without a name", "http://a.example/ lonely", "http://a.example/", "lonely"},
		{"with equal signs", "http://a.example/ a=b=c==", "http://a.example/", "a=b=c=="},
		{"quotes stay", "http://a.example/ a=\"b c\"", "http://a.example/", "a=\"b c\""},
		{"blanks go", "http://a.example/  a =\tb ;path=/", "http://a.example/", "a=b"},
		{"nothing", "http://a.example/ =", "http://a.example/", ""},
		{"a control character", "http://a.example/ a=b\x01c", "http://a.example/", ""},
		{"too large", "http://a.example/ a=" + strings.Repeat("x", 4096), "http://a.example/", ""},
		{"hosts in any case", "http://A.Example/ a=b", "http://a.eXample/", "a=b"},
	}
	for _, test := range tests {
		var j cookie.Jar
		for line := range strings.SplitSeq(test.set, "\n") {
			from, field, _ := strings.Cut(line, " ")
			j.Set(now, origin(from), []byte(field))
		}
		if got := string(j.Append(nil, now, origin(test.ask), nil)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}

// Time passes only when the test sets it.
func TestExpiry(t *testing.T) {
	var j cookie.Jar
	at := origin("http://a.example/")
	j.Set(now, at, []byte("a=1; Max-Age=10"))
	j.Set(now, at, []byte("b=2"))
	j.Set(now, at, []byte("c=3; Max-Age=99999999999999"))
	for _, test := range []struct {
		after int64
		want  string
	}{{9, "a=1; b=2; c=3"}, {10, "b=2; c=3"}, {400*86400 - 1, "b=2; c=3"}, {400 * 86400, "b=2"}} {
		if got := string(j.Append(nil, now+test.after, at, nil)); got != test.want {
			t.Errorf("after %d s: got %q, want %q", test.after, got, test.want)
		}
	}
	if j.Clear(); j.Len() != 0 || len(j.Append(nil, now, at, nil)) != 0 {
		t.Error("cleared, and not empty")
	}
}

// What the request itself sends stands above the jar's.
func TestOwnCookies(t *testing.T) {
	var j cookie.Jar
	at := origin("http://a.example/")
	j.Set(now, at, []byte("a=1"))
	j.Set(now, at, []byte("ab=2"))
	if got := string(j.Append([]byte("x"), now, at, []byte("z=1; a=3"))); got != "xab=2" {
		t.Errorf("got %q", got)
	}
}

// After a flood the jar is within its bounds, and still has its used and secure cookies.
func TestFlood(t *testing.T) {
	var j cookie.Jar
	at := origin("https://a.example/")
	j.Set(now, at, []byte("good=1; Secure"))
	for i := range 200 {
		j.Set(now, at, fmt.Appendf(nil, "c%d=%d", i, i))
	}
	if got := string(j.Append(nil, now, at, nil)); j.Len() != cookie.DomainMax || !strings.HasPrefix(got, "good=1; ") || !strings.HasSuffix(got, "c199=199") {
		t.Errorf("%d cookies: %s", j.Len(), got)
	}
	for i := range 1000 {
		from := at
		from.Host = fmt.Sprintf("h%d.example", i)
		j.Set(now, from, []byte("a=b"))
	}
	if j.Len() != cookie.CookiesMax {
		t.Errorf("%d cookies, want %d", j.Len(), cookie.CookiesMax)
	}
	if got := string(j.Append(nil, now, at, nil)); got != "good=1" {
		t.Errorf("of the secure ones %q is left", got)
	}
}

// Dates are those of the standard library, whatever the layout.
func TestDates(t *testing.T) {
	at := origin("http://a.example/")
	for i := range int64(4000) {
		when := now - 86400*300 + i*15013
		for _, layout := range []string{time.RFC1123, time.RFC850, time.ANSIC, "Mon, 02-Jan-2006 15:04:05 GMT"} {
			var j cookie.Jar
			j.Set(when-1, at, []byte("a=b; Expires="+time.Unix(when, 0).UTC().Format(layout)))
			if len(j.Append(nil, when-1, at, nil)) == 0 || len(j.Append(nil, when, at, nil)) != 0 {
				t.Fatalf("%s does not expire at %d", time.Unix(when, 0).UTC().Format(layout), when)
			}
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add("a=b; Domain=a.example; Path=/x; Secure; Max-Age=5; Expires=Wed, 21 Oct 2065 07:28:00 GMT", "w.a.example", "/x/y?z", true)
	f.Add("__Host-a=b; path=/", "127.0.0.1", "", false)
	f.Fuzz(func(t *testing.T, field, host, path string, secure bool) {
		var j cookie.Jar
		at := cookie.Origin{Secure: secure, Host: host, Path: path}
		j.Set(now, at, []byte(field))
		got := string(j.Append(nil, now, at, nil))
		for i := range len(got) {
			if c := got[i]; c < ' ' && c != '\t' || c == 0x7f || c == ';' {
				t.Fatalf("%q goes into a field", got)
			}
		}
		if !secure && strings.HasPrefix(strings.ToLower(got), "__host-") {
			t.Fatalf("%q was set without TLS", got)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	var j cookie.Jar
	at := origin("https://www.shop.example/cart/1")
	for i := range 4 {
		j.Set(now, at, fmt.Appendf(nil, "name%d=some-value-%d; Domain=shop.example; Path=/", i, i))
	}
	buffer := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buffer = j.Append(buffer[:0], now, at, nil)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	var j cookie.Jar
	at := origin("https://shop.example/cart/1")
	j.Set(now, at, []byte("a=b; Path=/"))
	buffer := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buffer = j.Append(buffer[:0], now, at, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
