package push

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
)

// sumOf adds up a field of a job's windows.
func sumOf(t testing.TB, address, field, job string) string {
	t.Helper()
	s := serverstest.InfluxQuery(t, address, fmt.Sprintf("SELECT sum(%s) FROM hyperscale_window WHERE run='%s'", field, job))
	if len(s) != 1 {
		return "nothing"
	}
	return s[0].Values[0][1].(json.Number).String()
}

// A field that has another type there is a row that never fits: it alone is rejected.
func TestInfluxRejectsTheRowAlone(t *testing.T) {
	address := serverstest.Influx(t)
	r, err := http.Post("http://"+address+"/write?db=load", "text/plain", strings.NewReader("hyperscale_window,run=other status_418=\"teapot\" 1\n"))
	if err != nil || r.StatusCode != http.StatusNoContent {
		t.Fatal(err, r)
	}
	_ = r.Body.Close()
	// InfluxDB compares types within the shard of a moment.
	rows := windows("conflict", "pay", 8)
	for i := range rows {
		rows[i].Started = time.UnixMilli(0).UTC()
	}
	rows[5].Figures.Statuses = []message.StatusCount{{Status: 418, Count: 1}}
	s := open(t, Influx(), "http://"+address+",database=load")
	got := play(t, s, rows, 3)
	if got.delivered != 7 || got.rejected != 1 || !strings.Contains(got.why, "field type conflict") {
		t.Fatalf("%+v", got)
	}
	if sum := sumOf(t, address, "begun", "conflict"); sum != "30" { // 36 without the sixth
		t.Fatalf("InfluxDB has %s requests", sum)
	}
}

// What a person names comes back from InfluxDB as a tag, and makes no row of its own.
func TestInfluxKeepsNamesInTheirPlaces(t *testing.T) {
	address := serverstest.Influx(t)
	s := open(t, Influx(), "http://"+address+",database=load")
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		rows := windows(fmt.Sprintf("names%d", n), rapid.String().Draw(t, "step"), 3)
		hostile := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab\\,= "'\n\r\t#]{0,8}`), rapid.SampledFrom([]string{"a\\", "a\nhyperscale_window begun=1000i", "a,b=c d=1", `"`, `\"`, "é", "#"}))
		for i := range rows {
			rows[i].Workflow = hostile.Draw(t, "workflow")
			rows[i].Tags = []message.Tag{{Name: "k" + hostile.Draw(t, "tag"), Value: hostile.Draw(t, "value")}}
			rows[i].Figures.Errors = []message.ErrorCount{{Kind: hostile.Draw(t, "error"), Count: 2}}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if out := s.Deliver(ctx, outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("%+v", out)
		}
	})
	found := serverstest.InfluxQuery(t, address, "SELECT sum(begun) FROM hyperscale_window GROUP BY run")
	if len(found) != n {
		t.Fatalf("%d jobs went in, %d came out", n, len(found))
	}
	for _, s := range found {
		if s.Values[0][1].(json.Number).String() != "6" {
			t.Fatalf("job %s has %v requests, 6 went in", s.Tags["run"], s.Values[0][1])
		}
	}
	if m := serverstest.InfluxQuery(t, address, "SHOW MEASUREMENTS"); len(m[0].Values) != 1 {
		t.Fatalf("measurements %v", m)
	}
}

func TestInfluxTwoAgainstVictoriaMetrics(t *testing.T) {
	address := serverstest.Victoria(t)
	for _, place := range []string{",bucket=load,org=mine", ",database=load"} {
		s := open(t, Influx(), "http://"+address+place)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		job := "vm" + place[1:4]
		rows := windows(job, `a "quoted", step=1`, 8)
		if got := play(t, s, append(rows, rows[:3]...), 1); got.delivered != 11 {
			t.Fatalf("%+v", got)
		}
		export := "http://" + address + "/api/v1/export?match[]=" + url.QueryEscape(`{__name__="hyperscale_window_begun",run="`+job+`"}`) + "&start=1&reduce_mem_usage=1"
		var text string
		for range 50 { // it shows what it has after a moment
			serverstest.Ask(t, http.MethodGet, "http://"+address+"/internal/force_flush")
			if text = serverstest.Ask(t, http.MethodGet, export); text != "" {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		at := map[float64]bool{}
		for line := range strings.Lines(text) { // a series may have several: a repeated point is in another part
			var series struct {
				Metric map[string]string
				Values []float64
			}
			if err := json.Unmarshal([]byte(line), &series); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if series.Metric["step"] != "a ＂quoted＂, step=1" || series.Metric["workflow"] != "buy" {
				t.Fatalf("labels %v", series.Metric)
			}
			for _, v := range series.Values {
				at[v] = true
			}
		}
		if len(at) != 8 {
			t.Fatalf("values %v in %s", at, text)
		}
	}
}

func TestInfluxSaysWhatIsWrong(t *testing.T) {
	address := serverstest.Influx(t)
	s := open(t, Influx(), "http://"+address+",database=absent")
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "create the database") {
		t.Fatal(err)
	}
	k := Influx()
	for place, want := range map[string]string{
		"http://h:1":                          "give database=NAME",
		"http://h:1,database=a,bucket=b":      "give database=NAME",
		"h:1,database=a":                      "is no address",
		"http://me@h:1,database=a":            "an address with a user",
		"http://h:1,database=a,user=me":       "password_file",
		"http://h:1,bucket=a,user=me":         "token_file",
		"http://h:1,bucket=a,token=secret":    "token_file",
		"http://h:1,database=a,password_env=": "password_env",
	} {
		set, err := outputs.Parse(&k, place)
		if err == nil {
			_, err = k.Open(set)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "=secret") {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
}
