package google

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// machine is a service of Google's with the metadata server beside it, which counts tokens.
type machine struct {
	*httptest.Server
	tokens atomic.Int64
	lasts  int // seconds
}

// newMachine serves a service to requests that have the newest token.
func newMachine(t *testing.T, service http.HandlerFunc) *machine {
	m := &machine{lasts: 3600}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/computeMetadata/"):
			if r.Header.Get("Metadata-Flavor") != "Google" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, m.tokens.Add(1), m.lasts)
		case r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", m.tokens.Load()):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("no such token: " + r.Header.Get("Authorization")))
		default:
			service(w, r)
		}
	}))
	t.Cleanup(m.Close)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(m.URL, "http://"))
	return m
}

// open opens a kind at a place with options.
func open(t testing.TB, k outputs.Kind, place string) outputs.Sink {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

func batch(n int) outputs.Batch {
	return outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("google")[n : n+3]}
}

func TestTokenIsKeptUntilItIsRejected(t *testing.T) {
	m := newMachine(t, func(http.ResponseWriter, *http.Request) {})
	s := open(t, GCS(), "gs://b,endpoint="+m.URL)
	for i := range 3 {
		if out := s.Deliver(t.Context(), batch(i)); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	if n := m.tokens.Load(); n != 1 {
		t.Fatalf("%d tokens for three batches", n)
	}
	m.tokens.Add(1) // it was replaced elsewhere
	if out := s.Deliver(t.Context(), batch(3)); out.Verdict != outputs.VerdictDenied || strings.Contains(out.Why, "token-1") {
		t.Fatal(out)
	}
	if out := s.Deliver(t.Context(), batch(3)); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("the rejected token is used again: %+v", out)
	}
	m.lasts = 0
	m.tokens.Add(1)
	_ = s.Deliver(t.Context(), batch(3))
	before := m.tokens.Load()
	for i := range 2 {
		if out := s.Deliver(t.Context(), batch(i)); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	if n := m.tokens.Load(); n != before+2 {
		t.Fatalf("%d tokens for two batches, though none lasts", n-before)
	}
}

func TestCheckWantsTheRightToWriteAgain(t *testing.T) {
	may := []string{"storage.objects.create", "storage.objects.delete"}
	m := newMachine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/storage/v1/b/b/iam/testPermissions" || len(r.URL.Query()["permissions"]) != 2 {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"permissions": may})
	})
	s := open(t, GCS(), "gs://b/x,endpoint="+m.URL)
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, may = range [][]string{{"storage.objects.create"}, {"storage.objects.delete"}, nil} {
		if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "grant it the role Storage Object User") {
			t.Fatalf("with %q alone: %v", may, err)
		}
	}
}

// What ends by itself is tried again, what a person must change is not.
func TestJudge(t *testing.T) {
	status, body := 0, ""
	m := newMachine(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	s := open(t, GCS(), "gs://b,endpoint="+m.URL)
	said := func(reason string) string {
		return `{"error":{"code":1,"message":"it says so","errors":[{"reason":"` + reason + `"}]}}`
	}
	for _, c := range []struct {
		status int
		body   string
		want   outputs.Verdict
		why    string
	}{
		{403, said("rateLimitExceeded"), outputs.VerdictAgain, "rateLimitExceeded: it says so"},
		{403, said("forbidden"), outputs.VerdictDenied, "forbidden: it says so"},
		{403, said("insufficientPermissions"), outputs.VerdictDenied, "scope cloud-platform"},
		{429, "", outputs.VerdictAgain, "429"},
		{503, said("backendError"), outputs.VerdictAgain, "backendError"},
		{400, said("invalid"), outputs.VerdictRejected, "invalid"},
		{413, "", outputs.VerdictSmaller, "413"},
		{404, said("notFound"), outputs.VerdictRejected, "create the bucket"},
		{302, "", outputs.VerdictRejected, "follow no redirect"},
	} {
		status, body = c.status, c.body
		out := s.Deliver(t.Context(), batch(0))
		if out.Verdict != c.want || !strings.Contains(out.Why, c.why) || c.want == outputs.VerdictAgain && out.After.Seconds() != 7 {
			t.Errorf("%d %s: %+v", c.status, c.body, out)
		}
	}
}

// FuzzAccount: no key file makes it panic, and no error has the key.
func FuzzAccount(f *testing.F) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	good, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key": text, "token_uri": "https://h/token"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(strings.Replace(string(good), "https", "http", 1)))
	f.Add([]byte(`{"type":"service_account","client_email":"x","private_key":"-----BEGIN PRIVATE KEY-----"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAccount(b)
		if err != nil {
			if strings.Contains(err.Error(), text[30:80]) {
				t.Fatal(err)
			}
			return
		}
		if body, err := a.grant("scope", begun); err != nil || !strings.HasPrefix(body, "assertion=") {
			t.Fatalf("%s %v", body, err)
		}
		if u := a.tokenURL; !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
			t.Fatal(u)
		}
	})
}

var begun = outputstest.Rows("x")[0].Started

// FuzzToken: what a server answers becomes a token that a head can have, or an error without it.
func FuzzToken(f *testing.F) {
	f.Add([]byte(`{"access_token":"ya29.c","token_type":"Bearer","expires_in":3599}`))
	f.Add([]byte(`{"access_token":"a\nb","token_type":"bearer","expires_in":-1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		token, lasts, err := parseToken(b)
		if err == nil && (token == "" || strings.ContainsAny(token, "\r\n \x00") || lasts < 0) {
			t.Fatalf("%q %v", token, lasts)
		}
		if err != nil && token != "" {
			t.Fatal(token, err)
		}
	})
}

// A server of tokens may repeat what asked it: neither the body nor the signed token in it is in what people see.
func TestNoTextRepeatsWhatAsksForAToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	signed := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed = r.FormValue("assertion")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "bad "+signed)
	}))
	defer server.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	account, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key": string(text), "token_uri": server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, account, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, GCS(), "gs://b,key_file="+file+",endpoint="+server.URL)
	out := s.Deliver(t.Context(), batch(0))
	if out.Verdict != outputs.VerdictDenied || len(signed) < 100 || strings.Contains(out.Why, signed[:40]) || !strings.Contains(out.Why, "***") {
		t.Fatalf("%+v", out)
	}
}
