package sign

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// vector is one of AWS's published requests.
type vector struct {
	name, line string
	heads      [][2]string
	body       string
	signed     string
	signature  string
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	b, err := os.ReadFile("testdata/aws4.txt")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(b), "== ") {
		text, end, ok := strings.Cut(part, "\n-- ")
		if !ok {
			continue
		}
		head, body, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(head, "\n")
		v := vector{name: lines[0], line: lines[1], body: body}
		for _, l := range lines[2:] {
			name, value, _ := strings.Cut(l, ":")
			v.heads = append(v.heads, [2]string{name, value})
		}
		v.signed, v.signature, _ = strings.Cut(strings.TrimSpace(end), " ")
		all = append(all, v)
	}
	return all
}

func TestVectorsOfAWS(t *testing.T) {
	all := vectors(t)
	if len(all) != 32 {
		t.Fatalf("%d vectors", len(all))
	}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, v := range all {
		method, rest, _ := strings.Cut(v.line, " ")
		target := strings.TrimSuffix(rest, " HTTP/1.1")
		path, query, _ := strings.Cut(target, "?")
		r := &http.Request{Method: method, URL: &url.URL{Scheme: "https", Path: path, RawQuery: query}, Header: http.Header{}}
		c := AWS{Key: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "service"}
		for _, h := range v.heads {
			switch strings.ToLower(h[0]) {
			case "host":
				r.Host = h[1]
			case "x-amz-security-token":
				c.Token = h[1]
			case "content-length": // Go writes it by itself
			default:
				r.Header.Add(h[0], h[1])
			}
		}
		c.Sign(r, []byte(v.body), at)
		got := r.Header.Get("Authorization")
		if !strings.HasSuffix(got, ", SignedHeaders="+v.signed+", Signature="+v.signature) {
			request, _ := c.canonical(r, hexDigest([]byte(v.body)))
			t.Errorf("%s: %s, want %s\n%s", v.name, got, v.signature, request)
		}
	}
}

// FuzzAWS: any request can be signed, in one line, and nothing of the secret is in it.
func FuzzAWS(f *testing.F) {
	f.Add("/a b/../%2F", "x=%zz&&=&a", "value\x00", "body")
	f.Fuzz(func(t *testing.T, path, query, value, body string) {
		const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
		for _, service := range []string{"s3", "monitoring"} {
			r := &http.Request{Method: "PUT", URL: &url.URL{Host: "h", Path: path, RawQuery: query}, Header: http.Header{"X-Amz-Meta": {value}}}
			c := AWS{Key: "K", Secret: secret, Region: "r", Service: service}
			c.Sign(r, []byte(body), time.Unix(0, 0))
			first := r.Header.Get("Authorization")
			if strings.ContainsAny(first, "\r\n") || strings.Contains(first, secret[:10]) {
				t.Fatalf("%q", first)
			}
			r.Header.Set("User-Agent", "another")
			c.Sign(r, []byte(body), time.Unix(0, 0))
			if again := r.Header.Get("Authorization"); again != first {
				t.Fatalf("%q and %q", first, again)
			}
			c.Sign(r, append(bytes.Clone([]byte(body)), 'x'), time.Unix(0, 0))
			if r.Header.Get("Authorization") == first {
				t.Fatal("another body has the same signature")
			}
		}
	})
}
