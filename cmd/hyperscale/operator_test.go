package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/api"
	"hyperscale/runtime/operator/operatortest"
)

// TestOperator: the command runs load tests of a double of the API server on a real cluster: one passes, and the load of one that is
// deleted stops. Two replicas make one job of each object.
func TestOperator(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(target.Close)
	a := withAPI(t)
	a.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	a.up()
	kube := operatortest.NewKube()
	kube.SetToken(func() string { return "MARKED-KUBE" })
	server := httptest.NewServer(kube)
	t.Cleanup(server.Close)
	for name, text := range map[string]string{"kube.token": "MARKED-KUBE", "gates.token": a.tokens["submitter"]} {
		require.NoError(t, os.WriteFile(a.path(name), []byte(text), 0o600))
	}
	var replicas []*process
	for _, gate := range []string{"gate-1", "gate-2"} {
		replicas = append(replicas, start(t, "operator", "--gates", "http://"+a.at[gate], "--token", a.path("gates.token"), "--kube", server.URL, "--kube-token", a.path("kube.token"), "--namespace", "shop", "--label", "prod", "--admin", "127.0.0.1:0"))
	}
	program := strings.Replace(loadFile, `duration = "1s"`, `duration = "1s", thresholds = ["errors < 1%"]`, 1)
	require.NotEqual(t, loadFile, program)
	kube.Files("shop", "load", map[string]string{"load.star": program})
	spec := func(duration string) operatortest.Object {
		return operatortest.Object{"program": map[string]any{"configMap": "load", "file": "load.star"}, "parameters": map[string]any{"target": target.URL}, "duration": duration}
	}
	kube.Apply("shop", "short", spec("2s"))
	condition := func(name, kind string) (status string) {
		all, _ := kube.Status("shop", name)["conditions"].([]any)
		for _, c := range all {
			if m := c.(map[string]any); m["type"] == kind {
				status, _ = m["status"].(string)
			}
		}
		return status
	}
	eventually(t, "the short one has ended", 3*patience, func() bool { return condition("short", "Finished") == "True" })
	status := kube.Status("shop", "short")
	require.Equal(t, "Completed", status["phase"], status)
	require.Equal(t, "True", condition("short", "ThresholdsMet"), status)
	require.Equal(t, requests.Load(), int64(status["progress"].(map[string]any)["requests"].(float64)), "the verdict has each request that the target got")
	uid := kube.Apply("shop", "long", spec("10m"))
	before := requests.Load()
	eventually(t, "the long one sends", 3*patience, func() bool { return requests.Load() > before+10 })
	deleted := time.Now()
	kube.Delete("shop", "long")
	last, quiet := deleted, int64(0)
	eventually(t, "the load has stopped", 3*patience, func() bool {
		if n := requests.Load(); n != quiet {
			last, quiet = time.Now(), n
		}
		return time.Since(last) > 5*time.Second
	})
	t.Logf("the load stopped %v after the deletion", last.Sub(deleted).Round(10*time.Millisecond))
	var page api.JobPage
	a.read(a.call(context.Background(), "gate-3", "viewer", http.MethodGet, "/v1/jobs?name=loadtest/prod/", ""), http.StatusOK, &page)
	require.Len(t, page.Jobs, 2, "one job of each object")
	require.Equal(t, "loadtest/prod/shop/long/"+uid, page.Jobs[0].Name)
	require.Equal(t, "CANCELLED", page.Jobs[0].State)
	for _, p := range replicas {
		at := p.await(`msg=up admin=(\S+)`)
		answer, err := http.Get("http://" + at + "/readyz")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
		p.signal(syscall.SIGTERM)
		p.expect(command.ExitGood)
		require.NotContains(t, p.err.String(), "MARKED-KUBE")
		require.NotContains(t, p.err.String(), a.tokens["submitter"])
	}
	judge(t, a.dir)
}

// TestOperatorFlags: each fault of the command line is said, with the remedy.
func TestOperatorFlags(t *testing.T) {
	bad := write(t, "bad.pem", "no certificate")
	whole := []string{"--gates", "https://gate:8443", "--token", "t", "--kube", "https://kube", "--kube-token", "k", "--namespace", "shop"}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "--gates and --token are required"},
		{[]string{"--gates", "https://gate:8443", "--token", "t"}, "this is no pod of Kubernetes: give the URL of the API server"},
		{whole[:len(whole)-2], "--namespace: this is no pod of Kubernetes"},
		{append(whole, "--gates-ca", bad), "has no certificate: give PEM"},
		{append(whole, "--kube-ca", "none.pem"), "--kube-ca: open none.pem"},
		{append(whole, "--label", "a/b"), `label "a/b": want 1 to 63 small letters`},
		{append(whole, "--namespace", "Shop"), `namespace "Shop"`},
		{append(whole, "--gates", "gate:8443"), "the gates: want scheme, host and port"},
		{append(whole, "--admin", "nowhere"), "--admin: listen tcp: address nowhere"},
	} {
		require.Contains(t, run(t, command.ExitUsage, append([]string{"operator"}, tt.args...)...).err.String(), tt.want)
	}
}
