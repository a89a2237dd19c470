package engine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// sendFiles sends two files in every way: as a body, in a form, with values beside them, by steps
// and functions.
const sendFiles = `
big = file("big.bin")
all = file.glob("up/*")
def raw(vu):
    return vu.http.post("TARGET/raw", body = big)
def form(vu):
    return vu.http.post("TARGET/form", multipart = {"a": "b", "f": [big, all[0]], "z": http.part(all[1], filename = "n")})
def one(vu):
    return vu.http.post("TARGET/up", body = all[0])
def other(vu):
    return vu.http.post("TARGET/up", body = all[1])
workflow(name = "test", feed = feed.list([{"who": "ann"}]), http = http.client(VERSION tls = tls(verify = False)), steps = [
    step("raw_step", http.post("TARGET/raw", body = big)),
    step("form_step", http.post("TARGET/form", multipart = {"a": "b", "f": [big, all[0]], "z": http.part(all[1], filename = "n")})),
    step("values", http.post("TARGET/values?${who}", multipart = {"who": "${who}", "f": big, "end": "<${who}>"})),
    step("moved", http.put("TARGET/moved?${who}", body = big, redirects = 2)),
    step("seen", http.post("TARGET/seen", body = big, redirects = 2)),
    step("again", http.post("TARGET/again", body = big, retry = retry(2, on = [503]))),
    step(raw), step(form), step(one), step(other),
])
`

// upload is a server that notes the digest of each body.
type upload struct {
	mu    sync.Mutex
	got   map[string]int // method, path, length as told, digests of its files or of the body
	again int
}

func (u *upload) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	said := fmt.Sprintf("%s %s", r.Method, r.URL.Path)
	if _, params, _ := strings.Cut(r.Header.Get("Content-Type"), "multipart/form-data"); params != "" {
		form, err := r.MultipartReader()
		for err == nil {
			part, wrong := form.NextPart()
			if err = wrong; err != nil {
				break
			}
			digest := sha256.New()
			n, wrong := io.Copy(digest, part)
			said += fmt.Sprintf(" %s(%s):%d:%x", part.FormName(), part.FileName(), n, digest.Sum(nil)[:4])
			err = wrong
		}
		if err != io.EOF {
			said += " " + err.Error()
		}
	} else {
		digest := sha256.New()
		n, err := io.Copy(digest, r.Body)
		said += fmt.Sprintf(" %d of %d:%x %v", n, r.ContentLength, digest.Sum(nil)[:4], err)
	}
	if len(said) > 500 {
		said = said[:500]
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.got[said]++
	switch r.URL.Path {
	case "/moved":
		http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
	case "/seen":
		http.Redirect(w, r, "/there", http.StatusSeeOther)
	case "/again":
		if u.again++; u.again == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// loadFiles loads a file with two files that do not travel and one that does.
func loadFiles(t testing.TB, url, text string, big, photo, small []byte) *workflow.Workflow {
	t.Helper()
	p, err := workflow.Load(message.Program{Main: "main.star", Seed: 1,
		Files: []message.File{{Name: "main.star", Data: []byte(strings.ReplaceAll(text, "TARGET", url))}, {Name: "up/small.jpg", Data: small}},
		Feeds: []message.FeedFile{
			{Name: "big.bin", Bytes: uint64(len(big)), Digest: sha256.Sum256(big), Whole: true},
			{Name: "up/photo.jpg", Bytes: uint64(len(photo)), Digest: sha256.Sum256(photo), Whole: true},
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files() {
		f.Map(map[string][]byte{"big.bin": big, "up/photo.jpg": photo}[f.Name])
	}
	return p.Workflow("test")
}

func digestOf(b []byte) string { d := sha256.Sum256(b); return fmt.Sprintf("%x", d[:4]) }

// A file arrives as it is, however it is sent: over any version, under TLS, behind redirects, in
// a second try, beside values; with its length.
func TestFilesArrive(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
	big[5<<20-1], big[70_000] = 'x', 'y'
	photo, small := bytes.Repeat([]byte("p"), 300<<10), []byte("small\r\n")
	for _, way := range []struct {
		name, version string
		tls, jar      bool
	}{
		{"HTTP/1.1", `version = "1.1",`, false, false},
		{"HTTP/1.1 under TLS", `version = "1.1",`, true, false},
		{"HTTP/2", `version = "2",`, false, false},
		{"HTTP/2 under TLS", `version = "2",`, true, false},
		{"HTTP/1.1 with cookies", `version = "1.1",`, false, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			u := &upload{got: map[string]int{}}
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if way.jar {
					http.SetCookie(w, &http.Cookie{Name: "c", Value: "d", Path: "/"})
				}
				u.ServeHTTP(w, r)
			}))
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(true)
			s.Config.Protocols.SetHTTP2(true)
			s.Config.Protocols.SetUnencryptedHTTP2(true)
			s.EnableHTTP2 = true
			if s.Start(); way.tls {
				s.Close()
				s = httptest.NewUnstartedServer(u)
				s.EnableHTTP2 = true
				s.StartTLS()
			}
			defer s.Close()
			w := loadFiles(t, s.URL, strings.ReplaceAll(sendFiles, "VERSION", way.version), big, photo, small)
			r := run(t, t.Context(), Config{Workflow: w, VUs: 3, Timeout: 20 * time.Second})
			if r.State != message.WorkflowCompleted {
				t.Fatalf("%v: %s", r.State, r.Error)
			}
			b, p, s1 := digestOf(big), digestOf(photo), digestOf(small)
			raw, form := fmt.Sprintf("%d of %[1]d:%s <nil>", len(big), b), fmt.Sprintf(" a():1:%s f(big.bin):%d:%s f(photo.jpg):%d:%s z(n):%d:%s", digestOf([]byte("b")), len(big), b, len(photo), p, len(small), s1)
			want := map[string]int{
				"POST /raw " + raw: 6, "POST /form" + form: 6,
				"POST /values" + fmt.Sprintf(" who():3:%s f(big.bin):%d:%s end():5:%s", digestOf([]byte("ann")), len(big), b, digestOf([]byte("<ann>"))): 3,
				"PUT /moved " + raw: 3, "PUT /there " + raw: 3, "POST /seen " + raw: 3, "GET /there 0 of 0:" + digestOf(nil) + " <nil>": 3, "POST /again " + raw: 4,
				fmt.Sprintf("POST /up %d of %[1]d:%s <nil>", len(photo), p): 3, fmt.Sprintf("POST /up %d of %[1]d:%s <nil>", len(small), s1): 3,
			}
			for said, n := range want {
				if u.got[said] != n {
					t.Errorf("%d times %s, want %d", u.got[said], said, n)
				}
			}
			for said, n := range u.got {
				if want[said] == 0 {
					t.Errorf("%d times %s, want none", n, said)
				}
			}
		})
	}
}

// Many users that send a file have no copies of it.
func TestFilesAreNotCopied(t *testing.T) {
	big := make([]byte, 32<<20)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer s.Close()
	w := loadFiles(t, s.URL, `
big = file("big.bin")
def raw(vu):
    return vu.http.post("TARGET/raw", body = big)
workflow(name = "test", feed = feed.list([{"who": "ann"}]), steps = [
    step("a", http.post("TARGET/${who}", body = big)), step("b", http.post("TARGET/", multipart = {"f": big, "who": "${who}"})), step(raw),
])`, big, []byte("p"), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 20, Timeout: 50 * time.Second})
	runtime.ReadMemStats(&after)
	if sent := r.Stats.Steps[0].BytesOut; r.State != message.WorkflowCompleted || sent < 20*32<<20 {
		t.Errorf("%v, %d bytes out", r.State, sent)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 { // one copy is 32 MiB; the server has its buffers
		t.Errorf("60 uploads of 32 MiB allocate %d KiB", made>>10)
	}
}

// A file that its process has not mapped fails the run before it sends anything.
func TestFilesThatAreNotMapped(t *testing.T) {
	p, err := workflow.Load(message.Program{Main: "main.star", Seed: 1,
		Files: []message.File{{Name: "main.star", Data: []byte(`workflow(name = "test", steps = [step("a", http.post("http://127.0.0.1:1/", body = file("x")))])`)}},
		Feeds: []message.FeedFile{{Name: "x", Bytes: 1, Digest: message.FileDigest{1}, Whole: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), Config{Workflow: p.Workflow("test"), VUs: 1, Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), `file "x" is not in memory`) {
		t.Errorf("got %v", err)
	}
}
