package stats_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"hyperscale/core/stats"
)

func TestFoldRequest(t *testing.T) {
	all := map[string]string{
		"http://h":                           "GET /",
		"http://h/":                          "GET /",
		"http://h/users/42/cart?id=7#x":      "GET /users/{id}/cart",
		"http://h:8080/v1/items/item-7.json": "GET /v1/items/item-{id}.json",
		"http://h/a/7f3a99b0":                "GET /a/{id}",
		"http://h/6f1b2c3d-1111-4222-8333-abcdefabcdef/x": "GET /{id}/x",
		"http://h/t/eyJhbGciOiJIUzI1NiIs0":                "GET /t/{id}",
		"http://h/feed/decade":                            "GET /feed/decade",
		"http://h/a%20b/2024-01-02":                       "GET /a%20b/{id}",
		"http://h/the-long-article-about-2-things":        "GET /the-long-article-about-{id}-things",
		"/only/9": "GET /only/{id}",
		"http://h/" + strings.Repeat("long/", 40): "GET /" + strings.Repeat("long/", 18) + "l...",
	}
	for _, url := range slices.Sorted(maps.Keys(all)) {
		want := all[url]
		if got := string(stats.FoldRequest(nil, "GET", url)); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

// TestFoldedNamesAreFew: paths that differ in their numbers alone share a name, which is bounded.
func TestFoldedNamesAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,6}`), 1, 5).Draw(t, "words")
		path := func(what string) string {
			var b strings.Builder
			for i, w := range words {
				b.WriteString("/" + w)
				if i%2 == 0 {
					b.WriteString("/" + rapid.StringMatching(`[1-9][0-9]{0,9}`).Draw(t, what))
				}
			}
			return b.String()
		}
		a, b := string(stats.FoldRequest(nil, "GET", "http://h"+path("a"))), string(stats.FoldRequest(nil, "GET", "https://other:1"+path("b")+"?x=1"))
		if a != b || len(a) > 110 || !utf8.ValidString(a) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// TestFoldText: failures that differ in numbers and ids alone are one kind, of bounded length.
func TestFoldText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`status: got 503, want 200`, `status: got {n}, want {n}`},
		{`total: got 4.50, want less than -3`, `total: got {n}, want less than -{n}`},
		{`got "order 3f2a9c10", want in it "u17@x"`, `got "order {id}", want in it "u{n}@x"`},
		{`id: got "6f1b2c3d-1111-4222-8333-abcdefabcdef"`, `id: got "{id}"`},
		{`got "pending", want "paid"`, `got "pending", want "paid"`},
		{`got 250ms, want less than 1.5s`, `got {n}ms, want less than {n}s`},
		{`it: got 12345678901234567890`, `it: got {n}`},
		{`got [1, 2.5, "é"]`, `got [{n}, {n}, "é"]`},
		{`got "` + strings.Repeat("é", 60) + `", want "short"`, `got "` + strings.Repeat("é", 47) + "..."},
	} {
		if got := stats.FoldText(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzFoldRequest(f *testing.F) {
	f.Add("GET", "http://h/%zz/%2")
	f.Add("", "é/é7%")
	f.Fuzz(func(t *testing.T, method, url string) {
		if len(method) > 32 {
			return
		}
		if got := stats.FoldRequest(nil, method, url); len(got) > 32+110+len("...") {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}

func BenchmarkFoldRequest(b *testing.B) {
	b.ReportAllocs()
	var name []byte
	for b.Loop() {
		name = stats.FoldRequest(name[:0], "GET", "http://127.0.0.1:8080/users/4711/cart/items?page=3")
	}
}
