package lines

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// netdataConfig leaves an agent its server of StatsD, and its page.
const netdataConfig = `[global]
	run as user = %[1]s
[db]
	mode = ram
[directories]
	config = %[2]s
	cache = %[2]s/cache
	lib = %[2]s/lib
	log = %[2]s/log
[plugins]
	timex = no
	tc = no
	idlejitter = no
	proc = no
	diskspace = no
	cgroups = no
	slabinfo = no
	checks = no
	enable running new plugins = no
	netdata monitoring = no
[health]
	enabled = no
[ml]
	enabled = no
[registry]
	enabled = no
[web]
	bind to = 127.0.0.1:%[3]d
[statsd]
	bind to = udp:127.0.0.1:%[4]d
`

// ask reads a page of Netdata.
func ask(t *testing.T, url string, to any) bool {
	t.Helper()
	a, err := http.Get(url)
	if err != nil {
		return false
	}
	defer func() { _ = a.Body.Close() }()
	b, err := io.ReadAll(a.Body)
	return err == nil && a.StatusCode == http.StatusOK && json.Unmarshal(b, to) == nil
}

// Netdata has the sum of each counter and the newest value of each gauge, and steps that differ in capitals alone are two.
func TestNetdata(t *testing.T) {
	agent, err := exec.LookPath("netdata")
	if err != nil {
		t.Skip("SKIPPED: netdata is not installed") // some distributions have none
	}
	folder := t.TempDir()
	for _, name := range []string{"cache", "lib", "log"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	user, err := exec.Command("id", "-un").Output()
	if err != nil {
		t.Fatal(err)
	}
	page, port := hostiletest.FreePort(t), hostiletest.FreePort(t)
	config := fmt.Sprintf(netdataConfig, strings.TrimSpace(string(user)), folder, page, port)
	if err := os.WriteFile(filepath.Join(folder, "netdata.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	base := fmt.Sprintf("http://127.0.0.1:%d/api/v1/", page)
	start(t, fmt.Sprintf("127.0.0.1:%d", page), exec.Command(agent, "-D", "-c", folder+"/netdata.conf"))
	s := open(t, Netdata(), fmt.Sprintf("127.0.0.1:%d", port))
	first := window(10)
	first.Step = "probe"
	var charts map[string]struct {
		Dimensions map[string]struct{ Value float64 }
	}
	for deadline := time.Now().Add(time.Minute); len(charts) == 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) { // its socket opens after its page
		deliver(t, s, first)
		ask(t, base+"allmetrics?format=json", &charts)
	}
	small, large := window(30), window(12)
	small.Step, large.Step = "home page_é", "Home page_é"
	if out := deliver(t, s, small, large); out.Verdict != outputs.VerdictDelivered {
		t.Fatalf("%+v", out)
	}
	want := map[string]float64{}
	for step, n := range map[string]float64{"home_20page_5f_c3_a9": 30, "_48ome_20page_5f_c3_a9": 12} {
		want["statsd_hyperscale.checkout_2estar._all.buy."+step+".requests.started_counter"] = n
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		got := map[string]float64{}
		for chart := range want {
			var values [][]any
			var data struct{ Data [][]any }
			if ask(t, base+"data?format=json&after=-120&chart="+chart, &data) {
				values = data.Data
			}
			for _, row := range values {
				if v, ok := row[1].(float64); ok {
					got[chart] += v
				}
			}
		}
		whole := true
		for chart, n := range want {
			whole = whole && got[chart] > n-0.01 && got[chart] < n+0.01
		}
		if whole {
			break
		}
		if time.Now().After(deadline) {
			ask(t, base+"allmetrics?format=json", &charts)
			t.Fatalf("%v, want %v, of %v", got, want, charts)
		}
	}
	charts = nil
	ask(t, base+"allmetrics?format=json", &charts)
	if v := charts["statsd_hyperscale.checkout_2estar._all.buy.home_20page_5f_c3_a9.users.active_gauge"].Dimensions["gauge"].Value; v != float64(small.Figures.ActiveUsers) || v == 0 {
		t.Fatalf("%v users of %d", v, small.Figures.ActiveUsers)
	}
}

// Paths for a server that knows no capitals stay different, and have what names charts.
func TestLow(t *testing.T) {
	for name, want := range map[string]string{"aA": "a_41", "a_41": "a_5f41", "a%A": "a_25_41", "aé": "a_c3_a9", "_a": "_5fa"} {
		if got := low("p." + Node(name)); got != "p."+want {
			t.Errorf("%q is %q, want %q", name, got, "p."+want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.OneOf(rapid.StringMatching(`[aA_%e4E]{0,6}`), rapid.String())
		a, b := Node(names.Draw(t, "a")), Node(names.Draw(t, "b"))
		one, other := low("p."+a+".x"), low("p."+b+".x")
		if (one == other) != (a == b) || strings.Trim(one, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
			t.Fatalf("%q is %q, %q is %q", a, one, b, other)
		}
	})
}
