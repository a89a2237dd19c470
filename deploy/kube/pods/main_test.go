package pods

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/deploy/kube/controlplane"
	"hyperscale/deploy/kube/world"
)

func TestMain(m *testing.M) { world.Main(m) }

// cell is a control plane with nodes whose pods run.
type cell struct {
	*world.World
	control *controlplane.Cluster
	t       *testing.T
}

// start starts both, makes the namespace and its Secret, and applies nothing.
func start(t *testing.T, nodes int) *cell {
	t.Helper()
	world.Need(t)
	c := &cell{t: t, control: controlplane.Start(t, controlplane.Config{})}
	c.World = world.Start(t, c.control.Client(t), nodes)
	c.control.Restricted(t, world.Space)
	c.kubectl("-n", world.Space, "create", "secret", "generic", world.SecretName, "--from-file=cluster="+c.Secret)
	return c
}

// kubectl runs a command that must succeed.
func (w *cell) kubectl(args ...string) string {
	w.t.Helper()
	out, err := w.control.Kubectl(w.t, "", args...)
	if err != nil {
		w.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// apply applies the overlay.
func (w *cell) apply() {
	w.t.Helper()
	w.kubectl("apply", "-k", w.Overlay())
}

// metric sums the lines of a pod's metrics that begin so, up to their value.
func (w *cell) metric(pod, line string) (sum float64) {
	w.t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get("http://" + w.Pods.Pod(pod).Status.PodIP + ":9400/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), line) {
			continue
		}
		value := strings.Fields(lines.Text())
		n, err := strconv.ParseFloat(value[len(value)-1], 64)
		if err != nil {
			w.t.Fatalf("%s: %v", lines.Text(), err)
		}
		sum += n
	}
	return sum
}
