package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/live"
	"hyperscale/runtime/view"
)

// outage is a fault as three readers meet it: the page of a gate, the rule of Prometheus that fires, and the manual's section.
// All three have the words.
type outage struct {
	name  string // of the alert, and of the section
	rule  string
	words []string
}

// outages are the words that page, alert and manual share.
var outages = []outage{
	{"member-dead", "HyperscaleMemberDead", []string{"took", "the load goes on"}},
	{"sink-lost", "HyperscaleSinkLost", []string{"given up"}},
	{"disk-low", "HyperscaleDiskLow", []string{"of the volume", "free", "refuses new work"}},
	{"certificate-expires", "HyperscaleCertificateExpires", []string{"certificate", "has ended", "reject new streams"}},
}

// drill is a cluster with certificates, small disks, a sink and a Prometheus.
type drill struct {
	*apis
	disks      map[string]*disk
	prometheus string
}

// newDrill makes what the nodes need.
func newDrill(t *testing.T, sink string) *drill {
	t.Helper()
	d := &drill{apis: withAPI(t), disks: map[string]*disk{}}
	run(t, command.ExitGood, "certs", "new", d.path("certs"), "gate:gate-1", "gate:gate-2", "gate:gate-3", "manager@here", "worker@here", "operator:ann")
	d.trust = func(id string) []string {
		if role, _, _ := strings.Cut(id, "-"); role != "gate" {
			id = role + "-here"
		}
		return d.certs(id)
	}
	for i, variable := range []string{"HYPERSCALE_TLS_CERT", "HYPERSCALE_TLS_KEY", "HYPERSCALE_TLS_CA"} { // of commands
		t.Setenv(variable, d.certs("ann")[2*i+1])
	}
	config := write(t, "sinks.yaml", fmt.Sprintf("outputs:\n  hook: {kind: webhook, address: %q, window: 1s, default: true}\n", sink))
	d.more = append(d.more, "--config", config, "--set", "gate.output_timeout=3s", "--api-client-cert", d.certs("ann")[1], "--api-client-key", d.certs("ann")[3])
	for id := range d.gates {
		d.disks[id] = newDisk(t, d.path(id), 8<<20)
	}
	return d
}

// certs are the flags of a certificate.
func (d *drill) certs(name string) []string {
	at := d.path("certs")
	return []string{"--tls-cert", filepath.Join(at, name+".crt"), "--tls-key", filepath.Join(at, name+".key"), "--tls-ca", filepath.Join(at, "ca.crt")}
}

// expire gives a gate a certificate that ends soon.
func (d *drill) expire(id string, in time.Duration) {
	d.t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(d.path("certs"), name))
		require.NoError(d.t, err)
		return b
	}
	issuer, err := certs.ReadIssuer(read("ca.crt"), read("ca.key"))
	require.NoError(d.t, err)
	now := time.Now()
	certificate, key, err := issuer.Issue(&certs.Request{Name: id, Role: "gate", Cluster: "default", Environment: "default", Node: id, From: now.Add(-time.Hour), Until: now.Add(in)})
	require.NoError(d.t, err)
	files := d.certs(id)
	for at, b := range map[string][]byte{files[3]: key, files[1]: certificate} {
		require.NoError(d.t, os.WriteFile(at+".new", b, 0o600))
		require.NoError(d.t, os.Rename(at+".new", at))
	}
}

// watchedBy starts a Prometheus that scrapes the gates and judges the rules of deploy/.
func (d *drill) watchedBy() {
	d.t.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			d.t.Fatal("prometheus is missing: install it")
		}
		d.t.Skip("prometheus is not installed")
	}
	rules, err := filepath.Abs("../../deploy/prometheus/alerts.yaml")
	require.NoError(d.t, err)
	var targets []string
	for id := range d.gates {
		targets = append(targets, d.admins[id])
	}
	url, stop, err := runPrometheus(d.path("prometheus"), fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - {job_name: gates, static_configs: [{targets: [%s]}]}\n", rules, strings.Join(targets, ",")))
	if stop != nil {
		d.t.Cleanup(stop)
	}
	require.NoError(d.t, err)
	d.prometheus = url
}

// fires waits until a rule fires, and returns its summary and its remedy.
func (d *drill) fires(rule string) (summary, remedy, manual string) {
	d.t.Helper()
	eventually(d.t, rule+" fires", 2*patience, func() bool {
		answer, err := http.Get(d.prometheus + "/api/v1/alerts")
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }() // it is read
		var got struct {
			Data struct {
				Alerts []struct {
					Labels, Annotations map[string]string
					State               string
				}
			}
		}
		if json.NewDecoder(answer.Body).Decode(&got) != nil {
			return false
		}
		for _, a := range got.Data.Alerts {
			if a.Labels["alertname"] == rule && a.State == "firing" {
				summary, remedy, manual = a.Annotations["summary"], a.Annotations["remedy"], a.Annotations["manual"]
				return true
			}
		}
		return false
	})
	return summary, remedy, manual
}

// page is all text that a job's page shows at a gate when it is opened; empty while the gate has none.
func (d *drill) page(gate, job string) string {
	ctx, cancel := context.WithTimeout(d.t.Context(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.at[gate]+"/v1/jobs/"+job+"/view", nil)
	require.NoError(d.t, err)
	r.Header.Set("Authorization", "Bearer "+d.tokens["viewer"])
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = w.Body.Close() }() // it was only read
	lines := bufio.NewScanner(w.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v live.View
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); !ok || json.Unmarshal([]byte(data), &v) != nil {
			continue
		}
		text := v.State + "\n"
		for _, m := range v.Marks {
			text += m.Text + "\n"
		}
		for _, s := range v.Sinks {
			text += fmt.Sprintf("sink %s %s: %s, %d lost: %s\n", s.Name, s.Kind, s.State, s.Lost, s.Why)
		}
		return text
	}
	return ""
}

// cluster is all text of alerts that a gate's page of the cluster shows.
func (d *drill) cluster(gate string) string {
	w := d.call(d.t.Context(), gate, "viewer", http.MethodGet, "/v1/cluster", "")
	var c view.Cluster
	d.read(w, http.StatusOK, &c)
	return strings.Join(c.Warnings, "\n")
}

// agree demands the shared words of an outage from the alert and the manual, and that these two are the same sentence. What
// the page said has them too.
func (d *drill) agree(o outage, manual string, page func() string) {
	t := d.t
	t.Helper()
	begun := time.Now()
	shown := ""
	defer func() {
		if t.Failed() {
			t.Logf("the page of %s: %s", o.name, shown)
		}
	}()
	eventually(t, fmt.Sprintf("the page has %q", o.words), 2*patience, func() bool {
		shown = page()
		return !slices.ContainsFunc(o.words, func(w string) bool { return !strings.Contains(shown, w) })
	})
	summary, remedy, place := d.fires(o.rule)
	require.Equal(t, "docs/operations.md#"+o.name, place)
	_, section, found := strings.Cut(manual, "\n#### "+o.name+"\n")
	section, _, _ = strings.Cut(section, "\n####")
	section, _, _ = strings.Cut(section, "\n<!--")
	require.True(t, found, "the manual has no section %s", o.name)
	require.Contains(t, section, summary, "the manual has the sentence of the alert")
	require.Contains(t, section, remedy, "and its remedy")
	for _, w := range o.words {
		require.Contains(t, summary, w, "the alert has the words of the page:\n%s", shown)
	}
	t.Logf("%s after %v: %s", o.rule, time.Since(begun).Round(100*time.Millisecond), strings.ReplaceAll(strings.TrimSpace(shown), "\n", " / "))
}

// TestOutageDrill breaks a cluster in four ways. Each time the page, the alert of a real Prometheus over the gates' metrics and
// the manual tell it in the same words: a change of one of them alone fails here.
func TestOutageDrill(t *testing.T) {
	begun := time.Now()
	manual, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	var gone atomic.Bool
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if gone.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer hook.Close()
	target, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	d := newDrill(t, hook.URL)
	d.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	d.watchedBy()
	d.up()
	eventually(t, "the level rises: gates count take-overs from then on", patience, func() bool {
		return start(t, "upgrade", "--finalize", "--gate", list(d.gates)).code() == command.ExitGood
	})

	wait := start(t, "submit", file, "--gate", list(d.gates), "--set", "target="+target, "--duration", "15s", "--wait", "--ui", "none", "--out-wait", "20s")
	job := wait.await(`^([0-9a-z]{26})\n`)
	owner := d.owner(job, "")
	others := slices.DeleteFunc([]string{"gate-1", "gate-2", "gate-3"}, func(id string) bool { return id == owner })
	watcher, victim := others[0], others[1]
	d.disks[victim].leave(6) // percent: the alert wants half a minute of it

	// The owner is killed, and the page of another gate goes on.
	eventually(t, "the page shows load", patience, func() bool { return strings.HasPrefix(d.page(watcher, job), "RUNNING") })
	d.nodes[owner].kill()
	gone.Store(true)
	d.agree(outages[0], string(manual), func() string { return d.page(watcher, job) })

	// The sink takes nothing more, and its time after the end of the job is over.
	d.agree(outages[1], string(manual), func() string { return d.page(watcher, job) })
	require.Contains(t, run(t, command.ExitGood, "status", job, "--gate", d.gates[watcher]).out.String(), "sink hook (webhook): given up")
	require.NotZero(t, wait.code(), "a job whose sink lacks rows ends well")

	// The disk fills up.
	d.disks[victim].fill()
	eventually(t, "the gate refuses", patience, func() bool {
		p := start(t, "submit", file, "--gate", d.gates[victim], "--set", "target="+target, "--duration", "100ms")
		return p.code() != command.ExitGood && matches("free space under --data", p.err.String())
	})
	d.expire(victim, 12*time.Second)
	d.agree(outages[2], string(manual), func() string { return d.cluster(victim) })

	// The certificate ends.
	d.agree(outages[3], string(manual), func() string { return d.cluster(victim) })
	eventually(t, "the certificate has expired", patience, func() bool {
		return start(t, "status", "--cluster", "--gate", d.gates[victim]).code() != command.ExitGood
	})
	require.Contains(t, d.cluster(victim), "certificate-expires", "the page tells it still")
	t.Logf("the drill took %v", time.Since(begun).Round(time.Second))
}
