package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/runtime/api"
	"hyperscale/runtime/report"
)

// countedFile counts its iterations and misses its threshold if no error may happen.
const countedFile = `
target = param("target", default = "", help = "server under test")
most = param("most", default = "1%", help = "errors that the threshold allows")
workflow(
    name = "load", vus = 1, iterations = 40, timeout = "5s", steps = [step("home", http.get(target + "/"))],
    thresholds = ["home.errors < " + most],
)
`

// over are the flags that lead to the API of gates with the token of a role.
func (a *apis) over(role string, gates ...string) []string {
	a.t.Helper()
	file := a.path(role + ".token")
	require.NoError(a.t, os.WriteFile(file, []byte(a.tokens[role]+"\n"), 0o600))
	var urls []string
	for _, g := range gates {
		urls = append(urls, "http://"+a.at[g])
	}
	return []string{"--api", strings.Join(urls, ","), "--token-file", file}
}

// whole reads a result file, less what no two runs share.
func whole(t *testing.T, file string) *report.Result {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	r := new(report.Result)
	require.NoError(t, json.Unmarshal(b, r))
	return r
}

// TestCommandsOverAPI: the commands print, write and end over HTTP as over a gate's own port.
func TestCommandsOverAPI(t *testing.T) {
	t.Parallel()
	url := serveTarget(t)
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	file, gates := write(t, "counted.star", countedFile), []string{"--gate", list(a.gates)}
	for _, c := range []struct {
		name, most string
		code       int
	}{{"met", "1%", command.ExitGood}, {"missed", "0%", command.ExitThreshold}} {
		var texts []string
		var results []*report.Result
		for i, way := range [][]string{gates, a.over("submitter", "gate-2", "gate-3")} {
			out := a.path(c.name + string(rune('0'+i)) + ".json")
			p := run(t, c.code, slices.Concat([]string{"submit", file, "--set", "target=" + url, "--set", "most=" + c.most, "--seed", "7", "--wait", "--ui", "none", "--out", "json=" + out}, way)...)
			results = append(results, whole(t, out))
			text, _, _ := strings.Cut(p.out.String(), "\ngenerator\n") // which has lines of what was measured in time
			texts = append(texts, text)
		}
		was, now := results[0], results[1]
		require.Equal(t, was.Outcome, now.Outcome)
		was.Run.Command, now.Run.Command = nil, nil
		require.Equal(t, was.Run, now.Run)
		require.Equal(t, uint64(40), now.Totals.Started)
		require.Equal(t, was.Totals.Started, now.Totals.Started)
		require.Equal(t, shape(texts[0]), shape(texts[1]), "the summaries differ in figures alone")
	}

	viewer := a.over("viewer", "gate-1")
	var jobs struct{ Jobs []struct{ Job string } }
	p := run(t, command.ExitGood, append([]string{"jobs", "--json"}, viewer...)...)
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &jobs))
	require.Len(t, jobs.Jobs, 4)
	job := jobs.Jobs[0].Job
	for _, words := range [][]string{{"status", job}, {"status", job, "--details"}, {"datacenters"}, {"jobs", "--dead"}, {"status", "--cluster"}} {
		direct := run(t, command.ExitGood, slices.Concat(words, []string{"--gate", a.gates["gate-1"]})...)
		over := run(t, command.ExitGood, slices.Concat(words, viewer)...)
		require.Equal(t, shape(direct.out.String()), shape(over.out.String()), "%v", words)
	}
	run(t, command.ExitThreshold, slices.Concat([]string{"watch", job, "--ui", "none"}, viewer)...)
	results := a.path("results")
	export := func(code int, way []string, says string) *process {
		p := run(t, code, slices.Concat([]string{"results", "export", results}, way)...)
		require.Contains(t, p.out.String(), says)
		return p
	}
	export(command.ExitGood, viewer, "4 results written, 0 were there, 0 missing, 0 jobs have not ended")
	for i := range jobs.Jobs {
		r := whole(t, results+"/"+jobs.Jobs[i].Job+".json")
		require.Equal(t, uint64(40), r.Totals.Started)
		require.Empty(t, r.StartedAt, "gates have no common clock")
	}
	require.NoError(t, os.Remove(results+"/"+jobs.Jobs[1].Job+".json"))
	export(command.ExitGood, gates, "1 result written, 3 were there, 0 missing")
	require.NoError(t, os.WriteFile(results+"/"+job+".json", []byte("mine"), 0o600))
	export(command.ExitFailed, gates, "0 results written, 3 were there, 1 missing").says("is not the result of job " + job)
	mine, err := os.ReadFile(results + "/" + job + ".json")
	require.NoError(t, err)
	require.Equal(t, "mine", string(mine))
	scraped := get(t, "http://"+a.admins["gate-1"]+"/metrics")
	require.Regexp(t, `hyperscale_api_requests_total\{code="200",route="POST /v1/ask"\} [1-9]`, scraped)
	require.Contains(t, scraped, "hyperscale_api_request_duration_seconds_bucket{route=")
	for _, c := range []struct {
		words []string
		code  int
		says  string
	}{
		{slices.Concat([]string{"submit", file, "--set", "target=" + url}, viewer), command.ExitFailed, "JobSubmit needs the role submitter, and a-viewer is a viewer: use a token of that role"},
		{slices.Concat([]string{"status", (message.JobID{9}).String()}, viewer), command.ExitUsage, "unknown job"},
		{append(viewer, "jobs", "--gate", a.gates["gate-1"]), command.ExitUsage, "--gate is of gates' own ports, and --api asks none of them"},
		{[]string{"jobs", "--api", "http://" + a.at["gate-1"]}, command.ExitUsage, "--token-file is missing"},
		{[]string{"jobs", "--token-file", "x"}, command.ExitUsage, "--token-file goes with --api"},
		{[]string{"jobs", "--api", "http://gates.example.org", "--token-file", viewer[3]}, command.ExitUsage, "tokens leave no machine in clear text"},
		{[]string{"jobs", "--api", "http://" + a.at["gate-1"], "--token-file", file}, command.ExitUsage, "--token-file .* has no token"},
		{[]string{"jobs", "--api", "http://" + a.at["gate-1"], "--token-file", write(t, "wrong", "wrong")}, command.ExitFailed, "the token is unknown or has ended"},
		{slices.Concat([]string{"cancel", job, "--key", "k", "--gate", a.gates["gate-1"]}), command.ExitUsage, "--key goes with --api"},
	} {
		run(t, c.code, c.words...).says(c.says)
	}
}

// shape is a text without its figures and the width of its columns.
func shape(text string) string {
	text = regexp.MustCompile(`[0-9a-z]{26}`).ReplaceAllString(text, "JOB")
	text = regexp.MustCompile(`[0-9][0-9.,]*( ?(µs|ms|s|MB|kB|KiB|B|/s|%))*`).ReplaceAllString(text, "N")
	return regexp.MustCompile(`[ ─═▁▂▃▄▅▆▇█⣀-⣿|-]+`).ReplaceAllString(text, " ")
}

// TestCancelOverAPI: an interrupt, a submitter's own job by its key, and a job of another.
func TestCancelOverAPI(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "5ms")
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	file, own := write(t, "load.star", loadFile), a.over("submitter", "gate-1", "gate-2")
	submit := func(more ...string) *process {
		return start(t, slices.Concat([]string{"submit", file, "--set", "target=" + url, "--duration", "60s"}, own, more)...)
	}
	out := a.path("interrupted.json")
	p := submit("--wait", "--ui", "none", "--out", "json="+out)
	job := p.await(`^([0-9a-z]{26})\n`)
	a.owner(job, "")
	p.signal(syscall.SIGINT)
	p.expect(command.ExitInterrupted)
	require.Equal(t, message.JobCancelled.String(), whole(t, out).Outcome)
	require.Equal(t, "here: interrupted", whole(t, out).Error)

	p = submit("--key", "build-1")
	job = p.await(`^([0-9a-z]{26})\n`)
	p.expect(command.ExitGood)
	again := submit("--key", "build-1") // its seed is the same
	require.Equal(t, job, again.await(`^([0-9a-z]{26})\n`), "the same key is the same job")
	again.expect(command.ExitGood)
	submit("--key", "build-1", "--seed", "8").expect(command.ExitUsage).says("this key was used for another payload")
	run(t, command.ExitFailed, slices.Concat([]string{"cancel", job}, own)...).says("a submitter cancels its own jobs")
	run(t, command.ExitFailed, slices.Concat([]string{"cancel", job, "--key", "build-2"}, own)...).says("a submitter cancels its own jobs")
	p = run(t, command.ExitGood, slices.Concat([]string{"cancel", job, "--key", "build-1"}, own)...)
	require.Equal(t, job+" CANCELLED\n", p.out.String())

	p = submit()
	job = p.await(`^([0-9a-z]{26})\n`)
	p = run(t, command.ExitGood, slices.Concat([]string{"cancel", job}, a.over("operator", "gate-3"))...)
	require.Equal(t, job+" CANCELLED\n", p.out.String())
}

// TestAPIOutlivesGates: the gate behind the API that a command asks is killed, then the owner of its job. The command
// moves to other gates, and its job ends once, with all that was sent.
func TestAPIOutlivesGates(t *testing.T) {
	t.Parallel()
	url := serveTarget(t, "--latency", "5ms")
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	out := a.path("result.json")
	p := start(t, slices.Concat([]string{"submit", write(t, "load.star", loadFile), "--set", "target=" + url, "--duration", "14s", "--wait", "--ui", "ci", "--out", "json=" + out},
		a.over("submitter", "gate-1", "gate-2", "gate-3"))...)
	job := p.await(`^([0-9a-z]{26})\n`)
	p.await(`RUNNING`)
	a.nodes["gate-1"].kill()
	delete(a.gates, "gate-1")
	owner := a.owner(job, "gate-1")
	watch := start(t, slices.Concat([]string{"watch", job, "--ui", "ci"}, a.over("viewer", "gate-1", owner))...)
	watch.await(`RUNNING`)
	p.expect(command.ExitGood)
	watch.expect(command.ExitGood)
	r := whole(t, out)
	require.Equal(t, message.JobCompleted.String(), r.Outcome)
	arrived(t, url, r)
	require.Len(t, regexp.MustCompile(`(?m)load.*COMPLETED`).FindAllString(p.err.String(), -1), 1, "%s", p.err.String())
}

// TestAPICompilesAfterAnUpgrade: the file of a gate's binary is replaced, then taken away. The gate compiles programs all the same.
func TestAPICompilesAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	a := withAPI(t)
	self, err := exec.LookPath("hyperscale")
	require.NoError(t, err)
	b, err := os.ReadFile(self)
	require.NoError(t, err)
	copied := a.path("hyperscale")
	require.NoError(t, os.WriteFile(copied, b, 0o755))
	p := startAs(t, func(c *exec.Cmd) { c.Path = copied }, "gate", "--id", "gate-1", "--data", a.path("gate-1"), "--listen", a.gates["gate-1"], "--api", "127.0.0.1:0", "--api-tokens", a.path("api.tokens"))
	a.at["gate-1"] = p.await(`msg=up .*api=(\S+)`)
	mistaken, err := json.Marshal(api.Submission{Files: map[string]string{"a.star": "workflow("}})
	require.NoError(t, err)
	for _, change := range []func() error{
		func() error { return nil },
		func() error {
			return errors.Join(os.WriteFile(a.path("new"), []byte("#!/bin/false\n"), 0o755), os.Rename(a.path("new"), copied))
		},
		func() error { return os.Remove(copied) },
	} {
		require.NoError(t, change())
		var said api.Failure
		a.read(a.call(t.Context(), "gate-1", "submitter", http.MethodPost, "/v1/jobs", string(mistaken), "Content-Type", "application/json"), http.StatusUnprocessableEntity, &said)
		require.Equal(t, "bad_program", said.Error.Code)
		require.Equal(t, "a.star", said.Error.Mistakes[0].File, "the child has read the program: %v", said.Error.Mistakes)
		require.NotContains(t, said.Error.Mistakes[0].Message, "ends the process")
	}
}

// TestCommandsByCertificate: a client's certificate asks the API in place of a token, with the role that it claims. The
// authority of the API's own certificate is a file.
func TestCommandsByCertificate(t *testing.T) {
	t.Parallel()
	a := withAPI(t)
	certs := a.path("certs")
	run(t, command.ExitGood, "certs", "new", certs, "gate", "operator:api", "viewer:wall")
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	cert := write(t, "api.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	key := write(t, "api.key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})))
	p := start(t, "gate", "--id", "gate-1", "--data", a.path("gate-1"), "--listen", a.gates["gate-1"], "--tls-cert", certs+"/gate.crt", "--tls-key", certs+"/gate.key", "--tls-ca", certs+"/ca.crt",
		"--api", "127.0.0.1:0", "--api-tokens", a.path("api.tokens"), "--api-cert", cert, "--api-key", key, "--api-client-cert", certs+"/api.crt", "--api-client-key", certs+"/api.key")
	url := "https://" + p.await(`msg=up .*api=(\S+)`)
	own := []string{"--api", url, "--api-ca", cert, "--tls-cert", certs + "/wall.crt", "--tls-key", certs + "/wall.key"}
	eventually(t, "the gate lists its jobs", patience, func() bool {
		return start(t, append([]string{"jobs"}, own...)...).code() == command.ExitGood
	})
	run(t, command.ExitFailed, append([]string{"cancel", (message.JobID{7}).String()}, own...)...).says("cert:wall is a viewer")
	run(t, command.ExitUsage, append([]string{"jobs", "--token-file", cert}, own...)...).says("--token-file and --tls-cert both name the caller")
	run(t, command.ExitFailed, slices.Concat([]string{"jobs", "--api", url}, a.over("viewer", "gate-1")[2:])...).says("certificate signed by unknown authority")
	run(t, command.ExitGood, slices.Concat([]string{"jobs", "--api", url, "--api-ca", cert}, a.over("viewer", "gate-1")[2:])...)
}
