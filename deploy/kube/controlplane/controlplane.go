package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The components, in the order of their start.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

var components = []string{Etcd, APIServer, ControllerManager, Scheduler}

// startMax bounds the start of each component. On two busy cores the API server takes half a minute.
const startMax = 3 * time.Minute

// Admin is a user who may do everything, and its group.
const (
	Admin  = "admin"
	Admins = "system:masters"
)

// Config is what a test may choose.
type Config struct {
	// Address is where all components listen; empty: 127.0.0.1. A node in a network namespace needs one that it reaches.
	Address string
	// Only names the components that run; empty: all. Without a controller manager no object makes another.
	Only []string
	// Flags are further flags by component: the last one of a name counts.
	Flags map[string][]string
}

// Cluster is a running control plane.
type Cluster struct {
	URL string // of the API server

	config    Config
	binaries  string
	only      []string // the components that run, in the order of their start
	dir       string
	ports     map[string]int
	authority *authority
	processes map[string]*process
}

// Binaries is the folder with the components: HYPERSCALE_KUBE_BIN, or out/kube of this repository. Without one of these the test
// skips itself, or fails if HYPERSCALE_KUBE is 1.
func Binaries(t testing.TB, components ...string) string {
	t.Helper()
	folder := os.Getenv("HYPERSCALE_KUBE_BIN")
	if folder == "" {
		folder = filepath.Join(root(t), "out", "kube")
	}
	for _, name := range components {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			Missing(t, "%v: build it with `make kube-binaries`", err)
		}
	}
	return folder
}

// Missing skips a test that lacks something, or fails it if HYPERSCALE_KUBE is 1.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("HYPERSCALE_KUBE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skip("SKIPPED: " + fmt.Sprintf(format, args...))
}

// root is the folder of this repository: that of the nearest Makefile.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := folder; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "Makefile")); err == nil {
			return at
		}
	}
	t.Fatalf("no folder above %s has a Makefile", folder)
	return ""
}

// Start starts all components, and stops them when the test ends.
func Start(t testing.TB, c Config) *Cluster {
	t.Helper()
	only := components
	if len(c.Only) > 0 {
		only = c.Only
	}
	binaries := Binaries(t, only...)
	if c.Address == "" {
		c.Address = "127.0.0.1"
	}
	cluster := &Cluster{config: c, binaries: binaries, only: only, dir: t.TempDir(), ports: map[string]int{}, processes: map[string]*process{}}
	for _, name := range append([]string{peers}, components...) {
		cluster.ports[name] = freePort(t, c.Address)
	}
	cluster.URL = "https://" + cluster.address(APIServer)
	a, err := newAuthority(cluster.dir, c.Address)
	if err != nil {
		t.Fatal(err)
	}
	cluster.authority = a
	cluster.Kubeconfig(t, Admin, Admins)
	for _, name := range []string{ControllerManager, Scheduler} {
		cluster.Kubeconfig(t, "system:"+name)
	}
	if err := os.WriteFile(cluster.path("audit.yaml"), []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.stop(t) })
	for _, name := range only {
		cluster.Resume(t, name)
	}
	return cluster
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) address(component string) string {
	return net.JoinHostPort(c.config.Address, fmt.Sprint(c.ports[component]))
}

// Config is that of a client with a certificate for a user and its groups.
func (c *Cluster) Config(t testing.TB, user string, groups ...string) *rest.Config {
	t.Helper()
	pair, err := c.authority.client(user, groups)
	if err != nil {
		t.Fatal(err)
	}
	return &rest.Config{
		Host: c.URL, QPS: 1000, Burst: 1000,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.certificate, CertData: pair.certificate, KeyData: pair.key},
	}
}

// Kubeconfig writes the file of a client with a certificate for a user and its groups, and returns its path.
func (c *Cluster) Kubeconfig(t testing.TB, user string, groups ...string) string {
	t.Helper()
	config, path := c.Config(t, user, groups...), c.path(user+".kubeconfig")
	file := clientcmdapi.NewConfig()
	file.Clusters["test"] = &clientcmdapi.Cluster{Server: c.URL, CertificateAuthorityData: config.CAData}
	file.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["test"], file.CurrentContext = &clientcmdapi.Context{Cluster: "test", AuthInfo: user}, "test"
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// CA is the path of the authority's certificate, for clients without a kubeconfig.
func (c *Cluster) CA() string { return c.path(authorityFile) }

// Client is one that may do everything.
func (c *Cluster) Client(t testing.TB) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config(t, Admin, Admins))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Dynamic is one that may do everything with objects of any kind.
func (c *Cluster) Dynamic(t testing.TB) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config(t, Admin, Admins))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Kubectl runs kubectl as one that may do everything, with a text as its input. It returns what it wrote to both outputs.
func (c *Cluster) Kubectl(t testing.TB, input string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		Missing(t, "%v: install it", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startMax) // cleanups use it, too
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", c.path(Admin + ".kubeconfig"), "--cache-dir", c.path("kubectl")}, args...)...)
	cmd.Stdin = bytes.NewBufferString(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Apply applies objects as text, and fails the test unless the API server takes them all.
func (c *Cluster) Apply(t testing.TB, text string) string {
	t.Helper()
	out, err := c.Kubectl(t, text, "apply", "-f", "-")
	if err != nil {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
	return out
}

// Restricted creates a namespace in which the restricted profile of pod security is enforced.
func (c *Cluster) Restricted(t testing.TB, name string) {
	t.Helper()
	c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n  labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/enforce-version: latest}\n", name))
	if !c.running(ControllerManager) { // which would make it
		c.Apply(t, fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: %s}\n", name))
	}
	Within(t, time.Minute, "the namespace has a ServiceAccount", func() bool {
		_, err := c.Client(t).CoreV1().ServiceAccounts(name).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
}

// Within fails a test unless something holds before a time is over.
func Within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
