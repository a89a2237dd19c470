package serverstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"hyperscale/runtime/protocol/hostile/hostiletest"
)

// Influx starts InfluxDB 1.6 with a database.
func Influx(t testing.TB) (address string) {
	t.Helper()
	program := Need(t, "influxd")
	address = hostiletest.FreeAddress(t)
	folder := t.TempDir()
	config := fmt.Sprintf("reporting-disabled = true\nbind-address = %q\n[meta]\n dir = %q\n[data]\n dir = %q\n wal-dir = %q\n[monitor]\n store-enabled = false\n[http]\n bind-address = %q\n",
		hostiletest.FreeAddress(t), folder+"/meta", folder+"/data", folder+"/wal", address)
	file := filepath.Join(folder, "influxdb.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	Run(t, "http://"+address+"/ping", program, "-config", file)
	Ask(t, http.MethodPost, "http://"+address+"/query?q="+url.QueryEscape("CREATE DATABASE load"))
	return address
}

// InfluxSeries is one series of an answer of /query.
type InfluxSeries struct {
	Name    string
	Tags    map[string]string
	Columns []string
	Values  [][]any
}

// InfluxQuery asks the database load.
func InfluxQuery(t testing.TB, address, query string) []InfluxSeries {
	t.Helper()
	text := Ask(t, http.MethodGet, "http://"+address+"/query?db=load&epoch=ms&q="+url.QueryEscape(query))
	var got struct {
		Results []struct{ Series []InfluxSeries }
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&got); err != nil || len(got.Results) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return got.Results[0].Series
}

// Victoria starts VictoriaMetrics, which takes both APIs of InfluxDB.
func Victoria(t testing.TB) (address string) {
	t.Helper()
	program := Need(t, "victoria-metrics")
	address = hostiletest.FreeAddress(t)
	Run(t, "http://"+address+"/health", program, "-storageDataPath="+t.TempDir(), "-httpListenAddr="+address, "-retentionPeriod=100y", "-search.latencyOffset=0s")
	return address
}
