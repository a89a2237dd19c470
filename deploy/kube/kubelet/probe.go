package kubelet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is one of the three probes of a container.
type kind int

const (
	startup kind = iota
	liveness
	readiness
	kinds
)

// health is what the probes of a container say since its process began.
type health struct {
	counters [kinds]counter
}

// counter counts equal results of one probe in a row.
type counter struct {
	probe *corev1.Probe // nil: the container has none
	known bool          // a row was long enough
	good  bool          // what it said
	last  bool
	row   int32
}

func newHealth(c *corev1.Container) *health {
	h := &health{}
	for k, probe := range [kinds]*corev1.Probe{startup: c.StartupProbe, liveness: c.LivenessProbe, readiness: c.ReadinessProbe} {
		h.counters[k].probe = probe
	}
	return h
}

// add counts a result.
func (h *health) add(k kind, good bool) {
	c := &h.counters[k]
	if c.row == 0 || c.last != good {
		c.last, c.row = good, 0
	}
	c.row++
	need := c.probe.FailureThreshold
	if good {
		need = c.probe.SuccessThreshold
	}
	if c.row >= max(need, 1) {
		c.known, c.good = true, good
	}
}

// due says whether a probe runs now: until the startup probe has succeeded it runs alone, and it never runs again.
func (h *health) due(k kind) bool {
	if h.counters[k].probe == nil {
		return false
	}
	return (k == startup) != h.started()
}

// started is true once the startup probe has succeeded.
func (h *health) started() bool {
	c := h.counters[startup]
	return c.probe == nil || c.known && c.good
}

// ready is false until the readiness probe has succeeded.
func (h *health) ready() bool {
	c := h.counters[readiness]
	return h.started() && (c.probe == nil || c.known && c.good)
}

// dead says which probe ends the container, if one does.
func (h *health) dead() (k kind, yes bool) {
	for _, k := range []kind{startup, liveness} {
		if c := h.counters[k]; c.probe != nil && c.known && !c.good {
			return k, true
		}
	}
	return 0, false
}

// result is that of one probe.
type result struct {
	kind kind
	good bool
}

// ask sends one probe: an HTTP request. A status from 200 to 399 is a success.
func ask(ctx context.Context, address string, c *corev1.Container, p *corev1.Probe) error {
	get := p.HTTPGet
	if get == nil {
		return fmt.Errorf("probe = %v: this kubelet knows httpGet alone", p.ProbeHandler)
	}
	port, err := portOf(c, get.Port)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(p.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(address, strconv.Itoa(int(port)))+get.Path, nil)
	if err != nil {
		return err
	}
	for _, h := range get.HTTPHeaders {
		r.Header.Set(h.Name, h.Value)
	}
	r.Header.Set("User-Agent", "kube-probe/1.36")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // it only explains the status
	_ = answer.Body.Close()                                   // it was only read
	if answer.StatusCode < 200 || answer.StatusCode > 399 {
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return nil
}

// portOf finds a port by its name or number.
func portOf(c *corev1.Container, port intstr.IntOrString) (int32, error) {
	if port.Type == intstr.Int {
		return port.IntVal, nil
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort, nil
		}
	}
	return 0, fmt.Errorf("port = %q: container %s has no port of that name", port.StrVal, c.Name)
}
