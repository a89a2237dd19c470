package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"GET http://ann:pw@a/x?q=1&r=${row}&s: answered 500":  "GET http://***@a/x?q=***&r=${row}&***: answered 500",
		"GET https://a/x: answered 500":                       "GET https://a/x: answered 500",
		"redirected to /cb?code=4711#tok, which is not there": "redirected to /cb?code=***#***, which is not there",
		"header Authorization: Bearer abc.def":                "header Authorization: ***",
		`{"authorization": "Bearer abc", "x": 1}`:             `{"authorization": "***`,
		"what is this? no address":                            "what is this? no address",
		`header X-Api-Key = "k123": a line break`:             `header X-Api-Key = "***`,
		"http://[::1]:80/?a":                                  "http://[::1]:80/?***",
		"nothing":                                             "nothing",
		"10/3 of what? 5/s":                                   "10/3 of what? 5/s",
		"dial tcp: lookup a on 127.0.0.53:53: no such host":   "dial tcp: lookup a on 127.0.0.53:53: no such host",
		"(http://a/?token=abc), see https://b/?c=d.":          "(http://a/?token=***), see https://b/?c=***.",
	} {
		var m *Mask
		if got := m.Example(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		} else if again := m.Example(got); again != got {
			t.Errorf("%q: masked twice it is %q", text, again)
		}
	}
	for head, want := range map[string]string{
		"Authorization: Bearer abc": " Bearer ***", "Authorization: abc": " ***", "Cookie: a=b; c=d": " a=***; c=***",
		"Set-Cookie: s=abc; Path=/; HttpOnly": " s=***; Path=/; HttpOnly", "X-Api-Key: k": " ***", "Accept: */*": " */*",
		"WWW-Authenticate: Basic realm=x": " Basic realm=x", "X-Session-Id: 7": " ***",
	} {
		name, value, _ := strings.Cut(head, ":")
		if got := Head(name, value); got != want {
			t.Errorf("%s: got %q, want %q", head, got, want)
		}
	}
	if got, want := (*Mask)(nil).Dump("GET /?a=b HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eDp5\r\n\r\nCookie: a"), "GET /?a=b HTTP/1.1\r\nHost: a\r\nAuthorization: Basic ***\r\n\r\nCookie: a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNoFormIsLeft: REDACT-1, whatever the value, its neighbours and how a text has it.
func TestNoFormIsLeft(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9 /+=&?"<>%\\-]{8,40}`), rapid.StringN(8, 40, 80)).Draw(rt, "value")
		before, after := rapid.StringMatching(`[a-z:]{0,7}`).Draw(rt, "before"), rapid.StringMatching(`[a-z:]{0,7}`).Draw(rt, "after")
		text := before + value + after
		quoted, err := json.Marshal(text)
		if err != nil {
			rt.Fatal(err)
		}
		mask := New([]string{"another value", value})
		for kind, in := range map[string]string{
			"plain": text, "query": url.QueryEscape(text), "path": url.PathEscape(text), "json": string(quoted), "go": strconv.Quote(text),
			"hex": hex.EncodeToString([]byte(text)), "cut": before + value[:len(value)-1] + "...", "excerpt": before + value[:max(8, len(value)/2)] + " and more", "quoted": "\"" + before + value[:5] + "\"...",
		} {
			got := mask.Line(in)
			if got == in || strings.Contains(got, value) {
				rt.Fatalf("%s: %q became %q", kind, in, got)
			}
			if again := mask.Line(got); again != got {
				rt.Fatalf("%s: %q masked again is %q", kind, got, again)
			}
		}
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			masked := mask.Values(e.EncodeToString([]byte(text)))
			if n := strings.Index(masked, Hidden); n < 0 || len(masked)-len(Hidden) > (len(before)+len(after)+5)*4/3+6 {
				rt.Fatalf("base64 of %q became %q", text, masked)
			}
		}
	})
}

// TestTwice: what a program escapes or encodes itself, a URL or a log of JSON escapes again.
func TestTwice(t *testing.T) {
	const value = "Zq&\"é+/=%<'w17dxV"
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(b), `"`)
	}
	steps := map[string]func(string) string{
		"query": url.QueryEscape, "path": url.PathEscape, "json": quote, "go": func(s string) string { return strings.Trim(strconv.Quote(s), `"`) },
	}
	mask := New([]string{value})
	for a, first := range steps {
		for b, second := range steps {
			if got := mask.Values("at " + second(first(value)) + " end"); got != "at *** end" {
				t.Errorf("%s in %s: %q", a, b, got)
			}
		}
		for before := range 3 {
			in := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + first(value)))
			for _, text := range []string{in, url.QueryEscape(in)} {
				if got := mask.Values(text); !strings.Contains(got, Hidden) || len(got) > len("eHh4***xxxx%3D%3D") {
					t.Errorf("%s in base64 behind %d bytes: %q", a, before, got)
				}
			}
		}
	}
}

func TestStatsAreMasked(t *testing.T) {
	s := message.Stats{Logs: []string{"token hunter2"}, Steps: []message.StepStats{{Errors: []message.ErrorCount{{Kind: "not hunter2", Example: "GET http://a/?q=hunter2"}}}}}
	New([]string{"hunter2"}).Stats(&s)
	if s.Logs[0] != "token ***" || s.Steps[0].Errors[0].Kind != "not ***" || s.Steps[0].Errors[0].Example != "GET http://a/?q=***" {
		t.Errorf("got %+v", s)
	}
	if New([]string{"abc"}) != nil {
		t.Error("a value of three bytes is hidden")
	}
}

// TestExcerptsHideFirst: REDACT-3, wherever the cut falls.
func TestExcerptsHideFirst(t *testing.T) {
	const secret = "geheim"
	for before := range 24 {
		text := strings.Repeat("x", before) + secret + strings.Repeat("y", 20)
		got := Excerpt(text, 16, "", secret)
		if strings.ContainsAny(got, "gehim") {
			t.Errorf("%d bytes before the secret: %q has a part of it", before, got)
		}
		if want := before < 16; strings.Contains(got, Hidden) != want || !strings.HasSuffix(got, "...") {
			t.Errorf("%d bytes before the secret: %q, want the secret hidden is %v, and dots", before, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "short": "short", "0123456789012345": "0123456789012345", "01234567890123456": "0123456789012345...",
		"abcd": "***", "geheimgeheimgeheim": "*********", "a geheim b geheim c": "a *** b *** c",
	} {
		if got := Excerpt(text, 16, secret, "abc", "bcd"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := New([]string{"hunter2"}).Example("refused hunt...: give another one"); got != "refused ***...: give another one" {
		t.Errorf("the beginning of a value before dots: %q", got)
	}
}
