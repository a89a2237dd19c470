package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParsers reads what each program really wrote.
func TestParsers(t *testing.T) {
	us := time.Microsecond
	for _, c := range []struct {
		file     string
		read     parser
		requests uint64
		failed   uint64
		latency  map[string]time.Duration
	}{
		{"wrk.txt", readWrk, 67239, 0, map[string]time.Duration{"mean": 334850, "p50": 59 * us, "p90": 1180 * us, "p99": 3550 * us, "max": 5430 * us}},
		{"hey.txt", readHey, 20657, 0, map[string]time.Duration{"mean": 400 * us, "p50": 200 * us, "p90": 600 * us, "p95": 1100 * us, "p99": 4400 * us, "max": 21700 * us}},
		{"h2load.txt", readH2load, 35584, 0, map[string]time.Duration{"mean": 224 * us, "max": 175930 * us}},
		{"bombardier.json", readBombardier, 71221, 0, map[string]time.Duration{"mean": 110983, "p50": 76 * us, "p75": 104 * us, "p90": 152 * us, "p95": 216 * us, "p99": 1076 * us, "max": 7090 * us}},
		{"vegeta.json", readVegeta, 100, 0, map[string]time.Duration{"mean": 2445691, "p50": 386774, "p90": 7596840, "p95": 10937929, "p99": 35801471, "max": 40989409}},
		{"oha.json", readOha, 990, 12, map[string]time.Duration{"mean": 1500 * us, "p50": 1250 * us, "p90": 2 * time.Millisecond, "p95": 3 * time.Millisecond, "p99": 4 * time.Millisecond, "p999": 5 * time.Millisecond, "max": 6 * time.Millisecond}},
		{"k6.json", readK6, 459, 42, map[string]time.Duration{"mean": 223636, "p50": 150018, "p90": 291008, "p95": 553248, "p99": 1652359, "p999": 3930215, "max": 3949865}},
		{"hyperscale.json", readOurs, 124517, 0, map[string]time.Duration{"mean": 512679, "p50": 375807, "p90": 747519, "p95": 968703, "p99": 1982463, "p999": 12156927, "max": 16773185}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.read(text)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if got.Requests != c.requests || got.Failed != c.failed {
			t.Errorf("%s: %d good, %d failed; want %d, %d", c.file, got.Requests, got.Failed, c.requests, c.failed)
		}
		if !maps.Equal(got.Latency, c.latency) {
			t.Errorf("%s: got %v\nwant %v", c.file, got.Latency, c.latency)
		}
	}
}

// TestParsersRefuse gives each parser what another program wrote, and nothing.
func TestParsersRefuse(t *testing.T) {
	for name, read := range map[string]parser{"wrk": readWrk, "hey": readHey, "h2load": readH2load, "bombardier": readBombardier, "vegeta": readVegeta, "oha": readOha, "k6": readK6, "hyperscale": readOurs} {
		for _, text := range []string{"", "unable to connect to 127.0.0.1:1 Connection refused\n"} {
			if got, err := read([]byte(text)); err == nil {
				t.Errorf("%s reads %q as %+v", name, text, got)
			}
		}
	}
}

func TestErrorsAreCounted(t *testing.T) {
	got, err := readWrk([]byte("  1000 requests in 1.00s, 1MB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 100\n"))
	if err != nil || got.Requests != 900 || got.Failed != 110 {
		t.Errorf("wrk: %+v, %v; want 900 good, 110 failed", got, err)
	}
	got, err = readHey([]byte("Status code distribution:\n  [200]\t10 responses\n  [503]\t5 responses\n\nError distribution:\n  [7]\tGet \"http://x/\": EOF\n"))
	if err != nil || got.Requests != 10 || got.Failed != 12 {
		t.Errorf("hey: %+v, %v; want 10 good, 12 failed", got, err)
	}
}

// TestFailedJob is told as such: an engine that lacks something says what.
func TestFailedJob(t *testing.T) {
	_, err := readOurs([]byte(`{"outcome":"FAILED","error":"it does not know rate","workflows":[{"steps":[{"latency_ns":{"count":0}}]}]}`))
	if err == nil || !strings.Contains(err.Error(), "FAILED: it does not know rate") {
		t.Errorf("got %v", err)
	}
}

func TestChoose(t *testing.T) {
	got, err := choose("truth,memory")
	if err != nil || len(got) != 2 || got[0].name != "truth" || got[1].name != "memory" {
		t.Errorf("choose: %v, %v", got, err)
	}
	if _, err := choose("thruth"); err == nil || !strings.Contains(err.Error(), "there are plaintext") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestLateness(t *testing.T) {
	ms := time.Millisecond
	got := lateness([]time.Duration{50 * ms, 61 * ms, 70 * ms, 85 * ms}, 100)
	if want := []time.Duration{0, 0, ms, 5 * ms}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSysbenchIsRead(t *testing.T) {
	out := "SQL statistics:\n    queries performed:\n        read:                            25932\n        total:                           25932\n    transactions:                        25932  (12944.10 per sec.)\n" +
		"Latency (ms):\n         min:                                    0.07\n         avg:                                    4.94\n         max:                                   92.31\n         95th percentile:                       15.00\n         sum:                               128000.00\n"
	got, err := readSysbench([]byte(out))
	if err != nil || got.Requests != 25932 || got.Latency["mean"] != 4940*time.Microsecond || got.Latency["p95"] != 15*time.Millisecond || got.Latency["max"] != 92310*time.Microsecond {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := readSysbench([]byte("nothing")); err == nil {
		t.Error("a text that is no report is read")
	}
}

func TestRedisBenchmarkIsRead(t *testing.T) {
	out := "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n" +
		"\"GET\",\"100000.00\",\"0.300\",\"0.100\",\"0.250\",\"0.500\",\"0.750\",\"1.500\"\n"
	got, err := readRedisBenchmark([]byte(out), 7)
	if err != nil || got.Requests != 7 || got.Latency["p50"] != 250*time.Microsecond || got.Latency["max"] != 1500*time.Microsecond || got.Latency["mean"] != 300*time.Microsecond {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := readRedisBenchmark([]byte("nothing"), 7); err == nil {
		t.Error("a text that is no table is read")
	}
}

func TestPgbenchIsRead(t *testing.T) {
	got, err := readPgbench([]byte("number of transactions actually processed: 40471\nnumber of failed transactions: 2 (0.000%)\nlatency average = 6.321 ms\ninitial connection time = 95.1 ms\n"))
	if err != nil || got.Requests != 40471 || got.Failed != 2 || got.Latency["mean"] != 6321*time.Microsecond {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := readPgbench([]byte("nothing")); err == nil {
		t.Error("nothing is read as a result")
	}
}
