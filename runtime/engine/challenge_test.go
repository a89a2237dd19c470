package engine

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hyperscale/core/message"
)

// statusesOf are the answers of a row, by status.
func statusesOf(s message.StepStats) map[string]uint64 {
	all := map[string]uint64{}
	for _, c := range s.Statuses {
		all[fmt.Sprint(c.Status)] = c.Count
	}
	return all
}

func challengedOf(s message.StepStats) (n uint64) {
	for _, c := range s.Statuses {
		n += c.Challenged
	}
	return n
}

// Each challenge is a request that the target counts: the row has it in what was sent and in its
// statuses. A nonce of this target serves 100 requests, and each user has its own.
func TestChallengesAreCounted(t *testing.T) {
	for _, c := range []struct {
		name, version, path, password string
		function                      bool
		ok, failed, challenged        uint64
	}{
		{"a step", "1.1", "digest", "pass", false, 500, 0, 6},
		{"MD5", "1.1", "digest-md5?q=a%20b", "pass", false, 500, 0, 6},
		{"a function", "1.1", "digest", "pass", true, 500, 0, 6},
		{"HTTP/2", "2", "digest?q=1", "pass", false, 500, 0, 6},
		{"a function over HTTP/2", "2", "digest", "pass", true, 500, 0, 6},
		{"a wrong password", "1.1", "digest", "nope", false, 0, 500, 500},
		{"a wrong password over HTTP/2", "2", "digest", "nope", true, 0, 500, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := serve(t, nil)
			call := `http.get("TARGET/` + c.path + `", auth = http.digest("user", "` + c.password + `"))`
			file := `
workflow(name = "test", http = http.client(version = "` + c.version + `"), steps = [step("a", ` + call + `)], vus = 2, vu_iterations = 250)`
			if c.function {
				file = `
def a(vu):
    return vu.` + call + `
workflow(name = "test", http = http.client(version = "` + c.version + `"), steps = [step(a)], vus = 2, vu_iterations = 250)`
			}
			r := run(t, t.Context(), Config{Workflow: loadFile(t, server.URL(), file), VUs: 2, Duration: DurationMax})
			row := r.Stats.Steps[len(r.Stats.Steps)-1]
			arrived(server, row.Sent)
			seen := server.Stats()
			want := map[string]uint64{"401": c.challenged + c.failed, "200": c.ok}
			maps.DeleteFunc(want, func(_ string, n uint64) bool { return n == 0 })
			if got := statusesOf(row); !maps.Equal(got, want) || !maps.Equal(seen.Statuses, want) {
				t.Errorf("statuses are %v, the target's %v, want %v", got, seen.Statuses, want)
			}
			if row.OK != c.ok || row.Failed != c.failed || challengedOf(row) != c.challenged || row.Sent != seen.Requests || row.Started != c.ok+c.failed {
				t.Errorf("ok, failed, challenged, sent are %d, %d, %d, %d; the target saw %d", row.OK, row.Failed, challengedOf(row), row.Sent, seen.Requests)
			}
			var failures uint64
			for _, e := range row.Errors {
				failures += e.Count
			}
			if failures != c.failed {
				t.Errorf("errors: %+v", row.Errors)
			}
		})
	}
}

// guard is a server with digest authentication that has nothing of the target's or of
// runtime/protocol/digest.
type guard struct {
	mu     sync.Mutex
	offer  func(n int, path string) string // the n-th challenge
	hash   func() hash.Hash
	sess   bool
	made   int
	last   map[string]string // nonce count by nonce
	faults []string
	heads  []string // Authorization of each request
}

var pairs16 = regexp.MustCompile(`(\w+)=("[^"]*"|[^ ,]+)`)

func (g *guard) sum(text string) string {
	h := g.hash()
	h.Write([]byte(text))
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	given := r.Header.Get("Authorization")
	g.heads = append(g.heads, given)
	if strings.HasPrefix(r.URL.Path, "/moved") {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
		return
	}
	if strings.HasPrefix(given, "Digest ") {
		p := map[string]string{}
		for _, m := range pairs16.FindAllStringSubmatch(given, -1) {
			p[m[1]] = strings.Trim(m[2], `"`)
		}
		first := g.sum("ann:" + p["realm"] + ":it's secret")
		if g.sess {
			first = g.sum(first + ":" + p["nonce"] + ":" + p["cnonce"])
		}
		good := p["response"] == g.sum(first+":"+p["nonce"]+":"+p["nc"]+":"+p["cnonce"]+":auth:"+g.sum(r.Method+":"+r.RequestURI)) && p["uri"] == r.RequestURI && strings.Contains(g.offer(0, r.URL.Path), `realm="`+p["realm"]+`"`)
		if good && p["nc"] <= g.last[p["nonce"]] {
			g.faults = append(g.faults, "count "+p["nc"]+" again")
		}
		if g.last[p["nonce"]] = p["nc"]; good && !strings.HasPrefix(r.URL.Path, "/never") {
			return
		}
	}
	g.made++
	w.Header().Set("Set-Cookie", "seen=yes")
	if offer := g.offer(g.made, r.URL.Path); offer != "" {
		w.Header().Set("WWW-Authenticate", offer)
	}
	w.WriteHeader(http.StatusUnauthorized)
}

func TestChallenges(t *testing.T) {
	offer := func(more string) func(int, string) string {
		return func(n int, _ string) string {
			return fmt.Sprintf(`Digest realm="r", nonce="n%d", qop="auth"%s`, n, more)
		}
	}
	const auth = `auth = http.digest("ann", "it's secret")`
	for _, c := range []struct {
		name, steps      string
		hash             func() hash.Hash
		sess             bool
		offer            func(int, string) string
		ok, failed, asks uint64 // of all steps
		kind, why        string // of the failure
	}{
		{"SHA-256", `step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.post("TARGET/b?c=d", body = "x", ` + auth + `))`, sha256.New, false, offer(", algorithm=SHA-256"), 2, 0, 1, "", ""},
		{"MD5-sess", `step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.get("TARGET/b", ` + auth + `))`, md5.New, true, offer(", algorithm=MD5-sess"), 2, 0, 1, "", ""},
		{"SHA-256-sess", `step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.get("TARGET/b", ` + auth + `))`, sha256.New, true, offer(", algorithm=SHA-256-sess"), 2, 0, 1, "", ""},
		{"values", `step("t", http.get("TARGET/t", ` + auth + `)), step("a", http.get("TARGET/${x}", ` + auth + `)), step("b", http.get("TARGET/b", params = {"q": "${x}"}, auth = http.digest("${user}", "it's secret")))`, md5.New, false, offer(""), 3, 0, 1, "", ""},
		{"side by side", `parallel(step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.get("TARGET/b", ` + auth + `))), step("c", http.get("TARGET/c", ` + auth + `))`, md5.New, false, offer(""), 3, 0, 2, "", ""},
		{"auth-int alone", `step("a", http.get("TARGET/a", ` + auth + `))`, md5.New, false, func(int, string) string { return `Digest realm="r", nonce="n", qop="auth-int"` }, 0, 1, 1, "challenge", "auth-int"},
		{"no digest", `step("a", http.get("TARGET/a", ` + auth + `))`, md5.New, false, func(int, string) string { return `Basic realm="r"` }, 0, 1, 0, "status 401", "answered 401"},
		{"no challenge", `step("a", http.get("TARGET/a", ` + auth + `, retry = retry(1, on = ["status"])))`, md5.New, false, func(int, string) string { return "" }, 0, 2, 0, "status 401", "answered 401"},
		{"stale for ever", `step("a", http.get("TARGET/never", ` + auth + `))`, md5.New, false, offer(", stale=true"), 0, 1, 2, "status 401", "answered 401"},
		{"stale once", `step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.get("TARGET/never", ` + auth + `))`, md5.New, false, offer(""), 1, 1, 2, "status 401", "answered 401"},
		{"garbage", `step("a", http.get("TARGET/a", ` + auth + `))`, md5.New, false, func(int, string) string { return `Digest realm="` }, 0, 1, 1, "challenge", "malformed"},
		{"a redirect", `step("a", http.get("TARGET/a", ` + auth + `)), step("b", http.get("TARGET/moved?to=/x", redirects = 2, ` + auth + `))`, md5.New, false, offer(""), 2, 0, 1, "", ""},
		{"to another origin", `step("a", http.get("TARGET/moved?to=http://LOCAL/x", redirects = 2, ` + auth + `))`, md5.New, false, offer(""), 0, 1, 0, "status 401", "answered 401"},
		{"two realms", `step("a", http.get("TARGET/a/1", ` + auth + `)), step("b", http.get("TARGET/b/1", ` + auth + `)), step("c", http.get("TARGET/a/2", ` + auth + `)), step("d", http.get("TARGET/b/2", ` + auth + `))`, md5.New, false,
			func(n int, path string) string {
				return fmt.Sprintf(`Digest realm="%s", nonce="n%d", qop="auth"`, path[:2], n)
			}, 4, 0, 2, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &guard{hash: c.hash, sess: c.sess, offer: c.offer, last: map[string]string{}}
			s := httptest.NewServer(g)
			defer s.Close()
			steps := strings.ReplaceAll(c.steps, "LOCAL", strings.Replace(s.Listener.Addr().String(), "127.0.0.1", "localhost", 1))
			file := `
workflow(name = "test", feed = feed.list([{"x": "a b/?", "user": "ann"}]), steps = [` + steps + `])`
			r := run(t, t.Context(), Config{Workflow: loadFile(t, s.URL, file), VUs: 1})
			var sum message.StepStats
			statuses, challenged := uint64(0), uint64(0)
			for _, row := range r.Stats.Steps {
				sum.OK, sum.Failed, sum.Sent, challenged = sum.OK+row.OK, sum.Failed+row.Failed, sum.Sent+row.Sent, challenged+challengedOf(row)
				sum.Errors = append(sum.Errors, row.Errors...)
				for _, n := range statusesOf(row) {
					statuses += n
				}
			}
			if sum.OK != c.ok || sum.Failed != c.failed || challenged != c.asks {
				t.Errorf("ok, failed, challenged are %d, %d, %d, want %d, %d, %d: %+v", sum.OK, sum.Failed, challenged, c.ok, c.failed, c.asks, sum.Errors)
			}
			if seen := uint64(len(g.heads)); sum.Sent != seen || statuses != seen {
				t.Errorf("%d sent and %d statuses, the server saw %d", sum.Sent, statuses, seen)
			}
			if len(g.faults) > 0 {
				t.Errorf("the server says %v", g.faults)
			}
			if c.why != "" && (len(sum.Errors) != 1 || sum.Errors[0].Kind != c.kind || !strings.Contains(sum.Errors[0].Example, c.why)) {
				t.Errorf("errors are %+v, want one of %s with %q", sum.Errors, c.kind, c.why)
			}
			if c.why == "" && len(sum.Errors) > 0 {
				t.Errorf("errors are %+v", sum.Errors)
			}
		})
	}
}

// Nothing but the proof authorizes a request.
func TestDigestStandsAlone(t *testing.T) {
	for call, want := range map[string]string{
		`http.get("http://a:b@127.0.0.1:1/", auth = http.digest("ann", "x"))`:                              "choose digest or a user in the URL",
		`http.get("http://127.0.0.1:1/", headers = {"authorization": "x"}, auth = http.digest("ann", ""))`: "leave out it or the header",
		`http.get("http://127.0.0.1:1/", auth = http.digest("a:b", "x"))`:                                  "no colon",
	} {
		_, err := Run(t.Context(), Config{Workflow: loadFile(t, "", `workflow(name = "test", steps = [step("a", `+call+`)])`), VUs: 1, Timeout: 1e9})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", call, err)
		}
	}
}
