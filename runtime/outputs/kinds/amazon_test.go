package kinds_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/push"
)

func init() {
	for name, f := range map[string]func(t *testing.T) outputstest.Place{
		"cloudwatch": newCloudWatch, "lambda": newLambda, "timestream": newTimestream,
	} {
		places[name] = f
	}
}

// newAmazon is the double of Amazon's services behind the proxy.
func newAmazon(t *testing.T, what, more string) (p *place, page string) {
	t.Setenv("MY_SECRET", "test-secret/with+signs")
	return newVendor(t, "amazon", nil, func(url string) string {
		return what + ",endpoint=" + url + ",region=eu-west-1,access_key=AKIDTEST,secret_key_env=MY_SECRET" + more
	})
}

func newCloudWatch(t *testing.T) outputstest.Place {
	p, _ := newAmazon(t, "Load/Tests", ",datacenters=true,dimensions=run test datacenter workflow step kind")
	return p
}

// wrongCredentials are what each of these kinds says of them.
func wrongCredentials(t *testing.T, k outputs.Kind, p *place, more map[string]string) {
	t.Helper()
	t.Setenv("WRONG_SECRET", "hush-hush")
	more[strings.Replace(p.Name(), "MY_SECRET", "WRONG_SECRET", 1)] = "InvalidSignatureException"
	more[strings.Replace(p.Name(), "AKIDTEST", "AKIDOTHER", 1)] = "correct the credentials and the region"
	more[strings.Replace(p.Name(), "eu-west-1", "us-east-1", 1)] = "the service answered 403"
	more[strings.Replace(p.Name(), "endpoint=http", "endpoint=ftp", 1)] = "is no address"
	saysWhatIsWrong(t, k, more)
}

func TestCloudWatchSaysWhatIsWrong(t *testing.T) {
	p := newCloudWatch(t).(*place)
	wrongCredentials(t, push.CloudWatch(), p, map[string]string{
		strings.Replace(p.Name(), "Load/Tests", "AWS/EC2", 1):                                    "is no namespace",
		strings.Replace(p.Name(), "run test datacenter workflow step kind", "test step kind", 1): "add datacenter to dimensions=",
		strings.Replace(p.Name(), " step kind", " step", 1):                                      "add kind",
	})
}

// CloudWatch has a window's counts, and its distribution in at most 150 values whose quantiles are the window's.
func TestCloudWatchFigures(t *testing.T) {
	p, page := newAmazon(t, "Load", ",dimensions=run step kind,resolution=1")
	row := outputstest.Rows("figures")[0]
	row.Figures = manyRequests(5000)
	row.Step = "größe :%\n"
	s := open(t, push.CloudWatch(), p.Name())
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: []outputs.Row{row}}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	all, err := pointsTaken(page, "figures")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range all {
		found[p.Name] = true
		if p.Labels["step"] != "gr%C3%B6%C3%9Fe :%25%0A" || p.Labels["workflow"] != "" || p.Width != 1e9 || p.Nanos != row.At().UnixNano() {
			t.Errorf("%+v", p)
		}
		switch p.Name {
		case "hyperscale.requests.started":
			if p.Value != 5000 || p.Type != "Count" {
				t.Errorf("%+v", p)
			}
		case "hyperscale.request.duration":
			count, p99 := 0.0, 0.0
			for i, n := range p.Counts {
				if count += n; count >= 4950 && p99 == 0 {
					p99 = p.Values[i]
				}
			}
			if count != 5000 || p99 < 4.95 || p99 > 4.97 || len(p.Values) > 150 || p.Type != "Seconds" {
				t.Errorf("%v requests in %d values, p99 %v %s", count, len(p.Values), p99, p.Type)
			}
		}
	}
	if !found["hyperscale.requests.started"] || !found["hyperscale.request.duration"] {
		t.Fatal(found)
	}
}

// A batch whose metrics are more than a request takes is sent in several, once each.
func TestCloudWatchManyMetrics(t *testing.T) {
	p, page := newAmazon(t, "Load", ",dimensions=run datacenter step kind,datacenters=true")
	var rows []outputs.Row
	for range 3 {
		rows = append(rows, outputstest.Rows("many")[:39]...)
	}
	s := open(t, push.CloudWatch(), p.Name())
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	all, err := pointsTaken(page, "many")
	n := 0
	for _, p := range all {
		if strings.HasSuffix(p.Name, "requests.started") {
			n++
		}
	}
	if err != nil || n != len(rows) || len(all) < 1000 {
		t.Fatalf("%d rows of %d in %d metrics, %v", n, len(rows), len(all), err)
	}
}

func newLambda(t *testing.T) outputstest.Place {
	p, page := newAmazon(t, "load results", ",qualifier=live")
	p.key = (*outputs.Row).Key
	p.stored = func(job string) (map[string]int, error) {
		var got []json.RawMessage
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, "http://"+page)), &got); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for _, raw := range got {
			row, err := outputs.ParseJSON(raw)
			if err != nil {
				return nil, err
			}
			if row.Job == job {
				all[row.Key()]++
			}
		}
		return all, nil
	}
	return p
}

// A function that failed may have kept rows.
func TestLambdaFails(t *testing.T) {
	p := newLambda(t).(*place)
	s := open(t, push.Lambda(), p.Name())
	rows := outputstest.Rows("j")[:2]
	rows[1].Test = "fail"
	out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
	if out.Verdict != outputs.VerdictUnclear || !strings.Contains(out.Why, "Unhandled") || !strings.Contains(out.Why, "timed out after 3.00 seconds") {
		t.Fatalf("%+v", out)
	}
}

func TestLambdaSaysWhatIsWrong(t *testing.T) {
	p := newLambda(t).(*place)
	wrongCredentials(t, push.Lambda(), p, map[string]string{strings.Replace(p.Name(), "load results", "absent", 1): "create it, or correct its name and the region"})
}

// timestreamKey is a row's key in its record.
func timestreamKey(r *outputs.Row) string {
	key := fmt.Sprint(r.Kind, "|", r.At().UnixMilli())
	if r.Figures != nil {
		key += fmt.Sprint("|", r.Figures.Begun)
	}
	if r.Threshold != nil {
		key += "|" + r.Threshold.Expression
	}
	return key
}

func newTimestream(t *testing.T) outputstest.Place {
	p, page := newAmazon(t, "load/rows", "")
	p.key = timestreamKey
	p.stored = func(job string) (map[string]int, error) {
		var got []struct {
			Kind, Time           string
			Dimensions, Measures map[string]string
		}
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, "http://"+page)), &got); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for _, r := range got {
			key := r.Kind + "|" + r.Time
			for _, more := range []string{r.Measures["begun"], r.Dimensions["threshold"]} {
				if more != "" {
					key += "|" + more
				}
			}
			if r.Dimensions["run"] == job {
				all[key]++
			}
		}
		return all, nil
	}
	return p
}

func TestTimestreamSaysWhatIsWrong(t *testing.T) {
	p := newTimestream(t).(*place)
	wrongCredentials(t, push.Timestream(), p, map[string]string{
		strings.Replace(p.Name(), "load/rows", "load/absent", 1): "create it, or correct its name and the region",
		strings.Replace(p.Name(), "load/rows", "load", 1):        "write DATABASE/TABLE",
	})
}

// An older version of a row that is there counts as delivered, a newer one replaces it, and another value of the same version
// is what the service has.
func TestTimestreamVersions(t *testing.T) {
	p := newTimestream(t).(*place)
	s := open(t, push.Timestream(), p.Name())
	for _, step := range []struct{ revision, begun uint64 }{{5, 50}, {4, 40}, {5, 51}, {6, 60}} {
		row := outputstest.Rows("versions")[0]
		row.Version.Set(0, step.revision)
		row.Figures.Begun = step.begun
		if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: []outputs.Row{row}}); out.Verdict != outputs.VerdictDelivered {
			t.Fatalf("revision %d: %+v", step.revision, out)
		}
	}
	stored, err := p.Stored("versions")
	if err != nil || len(stored) != 2 {
		t.Fatal(stored, err)
	}
	for key := range stored {
		if !strings.HasSuffix(key, "|50") && !strings.HasSuffix(key, "|60") {
			t.Error(key)
		}
	}
}

// A record that breaks a limit is rejected alone.
func TestTimestreamRejectsTheRecordAlone(t *testing.T) {
	p := newTimestream(t).(*place)
	s := open(t, push.Timestream(), p.Name())
	rows := outputstest.Rows("alone")[:3]
	rows[1].Job = strings.Repeat("é", 2000) // cut, and kept
	rows[2].Workflow, rows[2].Step, rows[2].Test, rows[2].Job, rows[2].Datacenter, rows[2].StepKind = "", "", "", "", "", 0
	out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
	if out.Verdict != outputs.VerdictRejected || fmt.Sprint(out.Rows) != "[2]" || !strings.Contains(out.Why, "not whole") {
		t.Fatalf("%+v", out)
	}
}
