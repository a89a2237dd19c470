package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// secretCount is how many secrets the workflow below has.
const secretCount = 40

// secretValue is the value of a secret, with what escapings change.
func secretValue(n int) string {
	if n == 38 { // a user's name has no colon, a cookie no semicolon
		return "line38one\"<&>\nline38two"
	}
	if n == 26 { // a path's name keeps words without digits
		return "Correct/horse&batteryStaple"
	}
	return fmt.Sprintf("Zq%02d&\"é+/=%%<'w%dxV", n, n*7919)
}

// echo is a target that says back all that it is sent.
type echo struct {
	mu   sync.Mutex
	seen strings.Builder
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a torn request ends its step, too
	decoded, _ := url.QueryUnescape(r.RequestURI)
	user, password, _ := r.BasicAuth()
	text := fmt.Sprintf("%s\n%s\n%v\n%s\n%s %s\n", r.RequestURI, decoded, r.Header, body, user, password)
	if form, err := url.ParseQuery(string(body)); err == nil {
		text += fmt.Sprint(form)
	}
	e.mu.Lock()
	e.seen.WriteString(text)
	e.mu.Unlock()
	switch {
	case strings.Contains(r.URL.Path, "/moved"):
		w.Header().Set("Location", "ftp://u:"+url.QueryEscape(r.Header.Get("X-Moved"))+"@h/?t="+url.QueryEscape(r.Header.Get("X-Moved")))
		w.WriteHeader(http.StatusFound)
	case strings.Contains(r.URL.Path, "/guarded"):
		w.Header().Set("WWW-Authenticate", `Digest realm="r", nonce="n", qop="auth"`)
		w.WriteHeader(http.StatusUnauthorized)
	case strings.Contains(r.URL.Path, "/torn"):
		panic(http.ErrAbortHandler)
	case strings.Contains(r.URL.Path, "/bad"):
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = io.WriteString(w, text) // a client that is gone reads nothing
}

const secretFile = `
target = param("target")
marked = param("marked", secret = True)
s = [secret("s" + ("0" + str(i))[-2:]) for i in range(41)]
at = target + "/"

def sends(vu):
    vu.vars["kept"] = s[27]
    vu.http.get(at + "f/" + s[26])
    vu.http.get(at, headers = {"X-A": vu.vars["kept"], "X-B": "a %s b" % s[28], "X-C": "{}-{}".format(s[29], 1), "X-D": ",".join([s[30], "x"])})
    vu.http.post(at, json = {"a": [{"b": s[31]}]})
    vu.http.get(at, headers = aws.sign("GET", at, region = "r", service = "s", access_key = "a", secret_key = s[25], session_token = s[32]))
    vu.http.get(at, headers = {"X-E": jwt.sign({"a": 1}, s[24])})
    r = vu.http.post(at, form = {"a": s[33], "b": marked})
    vu.log("echo " + r.text())
    vu.log({"a": s[33]})
    return r

def fails(vu):
    fail("it said " + vu.http.post(at, body = s[34]).text())

def breaks(vu):
    return vu.http.post(at, body = s[35]).json()["x"]

def wrong(vu):
    vu.vars["wrong"] = s[36]
    return vu.http.get(at, params = {"n": len(vu.vars["wrong"])})

def looks(vu, sends):
    return "not " + vu.http.get(at, params = {"a": s[36]}).text()

def begins(vu):
    vu.log("setup " + vu.http.post(at, body = s[37]).text())

def ends(vu):
    vu.log("teardown " + vu.http.post(at, body = s[38]).text())

workflow(
    name = "all", vus = 2, rate = "20/s", duration = "2s", timeout = "5s",
    http = http.client(headers = {"X-Client": s[18]}),
    setup = begins, teardown = ends,
    steps = [
        step("path", http.get(at + "bad/" + s[1] + "/x")),
        step("query", http.get(at + "bad?a=" + s[2] + "&b=1", params = {"c": s[3]})),
        step("headers", http.get(at, headers = {"X-One": s[4], "X-Two": [s[5], "x"], "X-Three": "z" + s[6]})),
        step("basic", http.get(at + "bad", auth = http.basic(s[7], s[8]))),
        step("digest", http.get(at + "guarded", auth = http.digest("ann", s[8]))),
        step("bearer", http.get(at + "bad", auth = http.bearer(s[9]))),
        step("text", http.post(at, body = "<" + s[10] + ">"), expect = [body_contains("never")]),
        step("json", http.post(at, json = {"a": s[11], "b": [s[12]]}), expect = [json_is("$.a", "never")]),
        step("form", http.post(at, form = {"a": s[13]})),
        step("multipart", http.post(at, multipart = {"a": s[14], "b": http.part(s[15])})),
        step("graphql", graphql.query(at, query = "query a($a: String) { b(a: $a) }", variables = {"a": s[16]}, headers = {"X-G": s[17]})),
        step("user", http.get(at.replace("://", "://u:%s@") % s[19])),
        step("coded", http.get(at, headers = {"X-64": base64.encode(s[20]), "X-Hex": hex.encode(s[21]), "X-Mac": hmac(s[23], "d")}, params = {"u": url.encode(s[22])})),
        step("torn", http.get(at + "torn/" + s[39])),
        step("moved", http.get(at + "moved", headers = {"X-Moved": s[40]}, redirects = 3)),
        step("fails", fails), step("breaks", breaks), step("wrong", wrong),
        step(sends), check(looks, after = ["sends"]),
    ],
    thresholds = ["errors < 100%"],
)
`

// TestFortySecretsAreWrittenNowhere looks for each of them, in each form, in all that commands
// and nodes print, log, serve and write; only the target gets them. The disks of gates and
// managers have them for as long as they keep the job: there it looks at permissions.
func TestFortySecretsAreWrittenNowhere(t *testing.T) {
	t.Parallel()
	target := &echo{}
	server := httptest.NewServer(target)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := write(t, "all.star", secretFile)
	var lines strings.Builder
	for n := range secretCount + 1 {
		if n != 38 { // it has two lines
			fmt.Fprintf(&lines, "s%02d=%s\n", n, secretValue(n))
		}
	}
	values := filepath.Join(t.TempDir(), "values") // the user's own: not among the outputs
	if err := os.WriteFile(values, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	given := func(cmd *exec.Cmd) {
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HYPERSCALE_SECRET_S38="+secretValue(38), "HYPERSCALE_SET_MARKED="+secretValue(99), "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "github.md"))
	}
	args := []string{"--set", "target=" + server.URL, "--secret-file", values}
	outs := func(name string) (all []string) {
		for _, kind := range []string{"json", "csv", "xml", "junit", "prometheus", "html"} {
			all = append(all, "--out", kind+"="+name+"."+kind)
		}
		return all
	}
	var said []*process
	command := func(code int, args ...string) *process {
		p := startAs(t, given, args...)
		said = append(said, p)
		if got := p.code(); got != code {
			t.Fatalf("%s: exit code %d, want %d\n%s\n%s", p.name, got, code, tail(p.err.String(), 4000), tail(p.out.String(), 4000))
		}
		return p
	}

	command(0, "validate", file, "--set", "target="+server.URL)
	command(0, append([]string{"run", file, "--cores", "1", "--ui", "ci", "--log-level", "debug", "--with-source", "--trace", "1/1=run.trace"}, append(args, outs("run")...)...)...)
	for n := 1; n <= secretCount; n++ {
		if !strings.Contains(target.seen.String(), secretValue(n)) && n != 23 && n != 24 && n != 25 { // those only sign
			seen := false
			for _, form := range secretForms(secretValue(n)) {
				seen = seen || strings.Contains(target.seen.String(), form)
			}
			if !seen {
				t.Errorf("the target never got secret %d", n)
			}
		}
	}
	info, err := os.Stat(filepath.Join(dir, "run.trace"))
	if err != nil || info.Size() < 50_000 || info.Mode().Perm() != 0o600 {
		t.Fatalf("the samples of requests are %v, %v", info, err)
	}
	debug := startAs(t, given, append([]string{"run", file, "--debug"}, args...)...)
	said = append(said, debug)
	debug.code()
	command(0, "report", "run.json", "--out", "html=again.html")
	command(0, "compare", "run.json", "run.json", "--out", "html=compared.html")

	if err := os.Mkdir(filepath.Join(dir, "cluster"), 0o700); err != nil {
		t.Fatal(err)
	}
	ours := trustFile(t, secretValue(97))
	c := &cluster{t: t, dir: filepath.Join(dir, "cluster"), workers: make([]*process, 1), admins: map[string]string{}, trust: []string{"--cluster-secret", ours}}
	c.begin()
	said = append(said, c.refusals(ours)...)
	submit := append([]string{"submit", file, "--gate", c.gateAddr, "--cluster-secret", ours, "--wait", "--ui", "ci", "--log-level", "debug", "--journal", "submit.jsonl"}, append(args, outs("submit")...)...)
	killed := startAs(t, given, submit...)
	said = append(said, killed, c.gate, c.manager, c.workers[0])
	job := killed.await(`(?m)^([a-z0-9]{26})$`)
	killed.await("RUNNING")
	watch := startAs(t, given, "watch", job, "--gate", c.gateAddr, "--cluster-secret", ours, "--ui", "ci", "--out", "json=watch.json")
	said = append(said, watch)
	for _, pid := range children(c.workers[0].cmd.Process.Pid) {
		if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil {
			dump(t, filepath.Join(dir, "environ-"+strconv.Itoa(pid)), fmt.Sprintf("/proc/%d/environ", pid))
		}
		_ = syscall.Kill(pid, syscall.SIGABRT) // it prints what it does
	}
	command(0, "status", "--cluster", "--gate", c.gateAddr, "--cluster-secret", ours)
	command(0, "status", job, "--gate", c.gateAddr, "--cluster-secret", ours)
	for id, admin := range c.admins {
		for _, page := range []string{"metrics", "healthz", "readyz"} {
			if r, err := http.Get("http://" + admin + "/" + page); err == nil {
				b, _ := io.ReadAll(r.Body) // what came is looked at
				_ = r.Body.Close()
				if err := os.WriteFile(filepath.Join(dir, id+"-"+page), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	killed.code()
	watch.code()

	for i, p := range said {
		findSecrets(t, fmt.Sprintf("stdout of %d, %s", i, p.name), p.out.String())
		findSecrets(t, fmt.Sprintf("stderr of %d, %s", i, p.name), p.err.String())
	}
	looked := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name, _ := filepath.Rel(dir, path); strings.HasPrefix(name, "cluster/gate-1/") || strings.HasPrefix(name, "cluster/manager-1/") {
			info, err := os.Stat(path)
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: others may read the secrets: mode %o", name, info.Mode().Perm())
			}
			return err
		}
		b, err := os.ReadFile(path)
		findSecrets(t, path, string(b))
		looked++
		return err
	})
	if err != nil || looked < 20 {
		t.Errorf("%d files: %v", looked, err)
	}
}

// trustFile returns a file with the secret of a cluster.
func trustFile(t *testing.T, secret string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trust") // the user's own: not among the outputs
	if err := os.WriteFile(file, []byte("# of a test\n"+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// refusals provokes what nodes and clients say of secrets: another one, none, one that is too weak,
// a file that becomes of no use while a node has it, garbage. It returns who says it.
func (c *cluster) refusals(ours string) []*process {
	t := c.t
	t.Helper()
	theirs := trustFile(t, secretValue(96))
	others := start(t, "worker", "--id", "stranger", "--listen", "127.0.0.1:0", "--data", c.path("stranger"), "--datacenter", "here", "--managers", c.managerAddr, "--cluster-secret", theirs)
	others.await("the peer's secret is")
	none := start(t, "worker", "--id", "open", "--listen", "127.0.0.1:0", "--data", c.path("open"), "--datacenter", "here", "--managers", c.managerAddr)
	none.await("the peer's secret is")
	weak := run(t, command.ExitFailed, "datacenters", "--gate", c.gateAddr, "--cluster-secret", trustFile(t, secretValue(95)[:15]))
	weak.says("has 1[56] bytes, must have at least 16")
	c.manager.await("a connection was refused.*the peer's secret is")

	before, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.ReplaceAll(string(before), secretValue(97), secretValue(94)+"\n"+secretValue(94))
	for _, text := range []string{spoilt, string(before)} {
		if err := os.WriteFile(ours, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text == spoilt {
			c.gate.await("the cluster's secrets changed and are of no use")
		} else {
			c.gate.await(`msg="the cluster's secrets changed"`)
		}
	}
	return []*process{others, none, weak}
}

// TestSecretsStayOnThisMachine: they are not sent to a gate elsewhere, and a gate that others
// reach rejects them.
func TestSecretsStayOnThisMachine(t *testing.T) {
	t.Parallel()
	file := write(t, "one.star", `workflow(name = "w", steps = [step("s", http.get("http://127.0.0.1:1/", headers = {"X": secret("token")}))])`)
	given := func(cmd *exec.Cmd) { cmd.Env = append(os.Environ(), "HYPERSCALE_SECRET_TOKEN=hunter2") }
	far := startAs(t, given, "submit", file, "--gate", "192.0.2.1:9000")
	if far.code() != command.ExitUsage || !strings.Contains(far.err.String(), "secrets stay on this machine") {
		t.Errorf("%d, %s", far.code(), far.err.String())
	}
	own := hostiletest.FreeAddress(t)
	_, port, _ := strings.Cut(own, ":")
	start(t, "gate", "--id", "g", "--listen", "0.0.0.0:"+port, "--advertise", own, "--insecure", "--data", t.TempDir()).await(upLine)
	open := startAs(t, given, "submit", file, "--gate", own)
	if open.code() == 0 || !strings.Contains(open.err.String(), "program.secrets = 1 must be 0 while the gates listen beyond this machine") {
		t.Errorf("%d, %s", open.code(), open.err.String())
	}
}

// secretForms are a value as texts may have it.
func secretForms(value string) []string {
	quoted, _ := json.Marshal(value) // a text has JSON
	path := strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	all := []string{value, url.QueryEscape(value), path, url.PathEscape(value), strings.ToLower(path), string(quoted[1 : len(quoted)-1]), html.EscapeString(value),
		strings.Trim(strconv.Quote(value), `"`), base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)), hex.EncodeToString([]byte(value))}
	all = append(all, strings.ToUpper(hex.EncodeToString([]byte(value))))
	return slices.Concat(all, inBase64(value), strings.Split(value, "\n"))
}

// inBase64 is the part of a value's encoding that does not depend on what stands around it, for each
// place where it may begin.
func inBase64(value string) (all []string) {
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		all = append(all, text[(8*before+5)/6:(before+len(value))*8/6])
	}
	return all
}

// plain is the longest part of a value that no quotation changes, however often a text is quoted.
func plain(value string) (longest string) {
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

func findSecrets(t *testing.T, where, text string) {
	t.Helper()
	for n := range 100 {
		value := secretValue(n)
		for _, form := range append(secretForms(value), value[:8], plain(value)) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s has secret %d: %q", where, n, text[max(0, at-80):min(len(text), at+80)])
				break
			}
		}
	}
}

// dump copies a file that has no size.
func dump(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
