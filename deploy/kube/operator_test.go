package kube

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hyperscale/deploy/kube/controlplane"
)

const (
	account = "hyperscale-operator"
	user    = "system:serviceaccount:" + home + ":" + account
)

// bench is a control plane with the component operator, a cell, and operators between them.
type bench struct {
	*controlplane.Cluster
	cell   *cell
	target *target
}

// newBench starts all of it. The operators have the token of their ServiceAccount, with the rights of the component's Role alone.
func newBench(t *testing.T, operators int) *bench {
	t.Helper()
	b := &bench{Cluster: alone(t), cell: newCell(t), target: newTarget(t)}
	served(t, b.Cluster)
	for i := range operators {
		b.operator(t, i)
	}
	return b
}

// operator starts one, with a token as the kubelet would write it.
func (b *bench) operator(t *testing.T, i int) {
	t.Helper()
	token, err := b.Client(t).CoreV1().ServiceAccounts(home).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file := b.cell.path(fmt.Sprintf("kube-%d.token", i))
	if err := os.WriteFile(file, []byte(token.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "operator", "--gates="+b.cell.api, "--token="+b.cell.path("submitter.token"), "--label=prod",
		"--kube="+b.URL, "--kube-ca="+b.CA(), "--kube-token="+file, "--namespace="+home, "--admin=127.0.0.1:0").await(t, `msg=up admin=(\S+)`)
}

// program sends one request after the other.
const program = `
target = param("target", default = "", help = "server under test")
workflow(name = "load", vus = 1, duration = "1s", http = http.client(), steps = [step("home", http.get(target + "/"))], thresholds = ["errors < 1%"])
`

// loadTest is an object as text.
func (b *bench) loadTest(name, duration string) string {
	return fmt.Sprintf(`---
apiVersion: load.hyperscale.internal/v1alpha1
kind: LoadTest
metadata: {name: %s, namespace: %s}
spec:
  program: {inline: %q}
  parameters: {target: %q}
  duration: %s
`, name, home, program, b.target.url, duration)
}

// object reads a load test.
func (b *bench) object(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := b.Dynamic(t).Resource(loadTests).Namespace(home).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// phase is that of a load test's status.
func (b *bench) phase(t *testing.T, name string) string {
	t.Helper()
	phase, _, _ := unstructured.NestedString(b.object(t, name).Object, "status", "phase") // empty: it has none yet
	return phase
}

// condition is the status of one of a load test's conditions.
func (b *bench) condition(t *testing.T, name, kind string) string {
	t.Helper()
	all, _, _ := unstructured.NestedSlice(b.object(t, name).Object, "status", "conditions") // empty: it has none yet
	for _, c := range all {
		if m := c.(map[string]any); m["type"] == kind {
			return fmt.Sprint(m["status"])
		}
	}
	return ""
}

// asked is when the API server was asked to create or delete a load test.
func (b *bench) asked(t *testing.T, verb, name string) time.Time {
	t.Helper()
	for _, r := range b.Audit(t, controlplane.Admin) {
		if r.Object.Resource == loadTests.Resource && r.Object.Name == name && r.Verb == verb {
			return r.At
		}
	}
	t.Fatalf("the API server was not asked to %s the load test %s", verb, name)
	return time.Time{}
}

// rightful fails the test if the API server has rejected a request of the operators, and if they asked for what their Role does not name.
func (b *bench) rightful(t *testing.T) {
	t.Helper()
	verbs := map[string]int{}
	for _, r := range b.Audit(t, user) {
		verbs[strings.TrimSuffix(r.Object.Resource+"/"+r.Object.Subresource, "/")+" "+r.Verb]++
		if r.Answer.Code == 401 || r.Answer.Code == 403 {
			t.Errorf("%s %s was rejected: %d", r.Verb, r.URI, r.Answer.Code)
		}
	}
	if len(verbs) == 0 {
		t.Error("the operators asked for nothing")
	}
	t.Logf("the operators asked for %v", verbs)
}

// Bars of docs/deploy.md.
const (
	beginMax = 5 * time.Second
	endMax   = 3 * time.Second
	rightMax = 35 * time.Second
	pace     = 20 // requests in any second
)

// TestLoadTest: the load of an object begins and ends in time, its verdict counts each request of the target, and the same applied
// again changes nothing. Two operators make one job of each object, and need no other right than their Role's.
func TestLoadTest(t *testing.T) {
	b := newBench(t, 2)
	b.Apply(t, b.loadTest("short", "2s"))
	begun := b.target.begun(t)
	first := begun.Sub(b.asked(t, "create", "short"))
	t.Logf("first request %v after the API server was asked", first.Round(time.Millisecond))
	if first > beginMax {
		t.Errorf("the load began after %v, want %v", first, beginMax)
	}
	controlplane.Within(t, patience, "the short one has ended", func() bool { return b.condition(t, "short", "Finished") == "True" })
	short := b.object(t, "short")
	requests, _, _ := unstructured.NestedInt64(short.Object, "status", "progress", "requests") // 0: it has none
	if b.phase(t, "short") != "Completed" || b.condition(t, "short", "ThresholdsMet") != "True" || requests != b.target.count.Load() || requests == 0 {
		t.Errorf("status %v, want Completed, thresholds met, and %d requests", short.Object["status"], b.target.count.Load())
	}

	b.target.mark()
	b.Apply(t, b.loadTest("long", "10m"))
	b.target.begun(t)
	controlplane.Within(t, patience, "the long one runs", func() bool { return b.phase(t, "long") == "Running" })
	before := b.object(t, "long")
	if out := b.Apply(t, b.loadTest("long", "10m")+b.loadTest("short", "2s")); strings.Count(out, " unchanged\n") != 2 {
		t.Errorf("the same again: got %q, want 2 objects unchanged", out)
	}
	if after := b.object(t, "long"); after.GetGeneration() != before.GetGeneration() || after.GetUID() != before.GetUID() {
		t.Errorf("generation %d, UID %s: want %d, %s", after.GetGeneration(), after.GetUID(), before.GetGeneration(), before.GetUID())
	}
	if out, err := b.Kubectl(t, "", "delete", "loadtest", "long", "-n", home); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	last := b.target.quiet(t).Sub(b.asked(t, "delete", "long"))
	t.Logf("last request %v after the API server was asked to delete", last.Round(time.Millisecond))
	if last > endMax {
		t.Errorf("the load ended after %v, want %v", last, endMax)
	}
	b.ended(t, map[string]string{"short": "COMPLETED", "long": "CANCELLED"})
	b.rightful(t)
}

// ended waits until the jobs of all load tests have these states. Each load test has one job from the beginning to the end.
func (b *bench) ended(t *testing.T, want map[string]string) {
	t.Helper()
	controlplane.Within(t, patience, fmt.Sprintf("the jobs are %v", want), func() bool {
		got := map[string]string{}
		for name, all := range b.cell.jobs(t) {
			if len(all) != 1 {
				t.Fatalf("%s has jobs %v, want one", name, all)
			}
			got[name] = all[0].State
		}
		return maps.Equal(got, want)
	})
}

// TestRights: with the operator's token nothing else can be read or changed.
func TestRights(t *testing.T) {
	c := alone(t)
	served(t, c)
	for _, tt := range []struct {
		verb, what string
		want       bool
	}{
		{"list", "loadtests", true}, {"watch", "loadtests", true}, {"delete", "loadtests", true}, {"get", "configmaps", true}, {"patch", "loadtests --subresource=status", true},
		{"list", "secrets", false}, {"get", "secrets", false}, {"list", "configmaps", false}, {"create", "pods", false}, {"update", "loadtests", false}, {"list", "loadtests -n default", false}, {"get", "nodes", false},
	} {
		args := append([]string{"auth", "can-i", tt.verb}, strings.Fields(tt.what)...)
		out, err := c.Kubectl(t, "", append([]string{"-n", home, "--as", user}, args...)...)
		if got := err == nil; got != tt.want {
			t.Errorf("%s %s: got %v, want %v: %s", tt.verb, tt.what, got, tt.want, out)
		}
	}
}
