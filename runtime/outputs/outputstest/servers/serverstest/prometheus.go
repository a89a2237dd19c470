package serverstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// Prometheus starts Prometheus, which takes remote writes and scrapes nothing.
func Prometheus(t testing.TB) (address string) {
	t.Helper()
	program := Need(t, "prometheus")
	address = hostiletest.FreeAddress(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ready := "http://" + address + "/-/ready"
	Run(t, ready, program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.enable-remote-write-receiver", "--web.listen-address="+address)
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if a, err := http.Get(ready); err == nil {
			_ = a.Body.Close()
			if a.StatusCode == http.StatusOK {
				return address
			}
		}
	}
	t.Fatal("Prometheus is not ready")
	return ""
}

// PrometheusSeries is one series of an answer, with each of its samples.
type PrometheusSeries struct {
	Labels  map[string]string
	Samples map[int64]string // values by their time in milliseconds since 1970
}

// PrometheusSamples asks for each sample of a selector in the ten minutes before a time.
func PrometheusSamples(t testing.TB, address, selector string, until time.Time) (all []PrometheusSeries) {
	t.Helper()
	q := url.Values{"query": {selector + "[10m]"}, "time": {fmt.Sprintf("%.3f", float64(until.UnixMilli())/1000)}}
	text := Ask(t, http.MethodGet, "http://"+address+"/api/v1/query?"+q.Encode())
	var got struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, r := range got.Data.Result {
		s := PrometheusSeries{Labels: r.Metric, Samples: map[int64]string{}}
		for _, v := range r.Values {
			at := int64(v[0].(float64)*1000 + 0.5)
			if s.Samples[at] != "" {
				t.Fatalf("%v has two samples at %d", r.Metric, at)
			}
			s.Samples[at], _ = v[1].(string)
		}
		all = append(all, s)
	}
	return all
}
