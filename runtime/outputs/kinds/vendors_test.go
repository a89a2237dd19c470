package kinds_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/outputs/push"
)

func init() {
	for name, f := range map[string]func(t *testing.T) outputstest.Place{
		"datadog": newDatadog, "newrelic": newNewRelic, "honeycomb": newHoneycomb,
	} {
		places[name] = f
	}
}

// vendorPoint is what a double of bench/vendors shows of a point that it took.
type vendorPoint struct {
	Name, Type     string
	Labels         map[string]string
	Nanos, Width   int64
	Value          float64
	Values, Counts []float64
}

func pointsTaken(page string, job string) (all []vendorPoint, err error) {
	a, err := http.Get("http://" + page)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }()
	var got []vendorPoint
	err = json.NewDecoder(a.Body).Decode(&got)
	for _, p := range got {
		if p.Labels["run"] == job {
			all = append(all, p)
		}
	}
	return all, err
}

// valueKey is the key of a row by what it counted: services of metrics change names.
func valueKey(r *outputs.Row) string {
	if !model.Has(r, true) {
		return meaningless
	}
	name, value := "requests.started", 0.0
	switch {
	case r.Threshold != nil:
		if name = "threshold.met"; r.Threshold.Met {
			value = 1
		}
	case r.Kind == outputs.RowLost:
		name, value = "requests.lost", float64(r.Figures.Begun)
	default:
		value = float64(r.Figures.Begun)
	}
	return fmt.Sprint(name, "|", value, "|", r.At().Unix())
}

// byValue counts the points that stand for a row. With a distribution, a row is there as often as that of the two which is there
// more often, and not at all if one of them is absent. Rows that differ have labels that differ.
func byValue(job string, all []vendorPoint) (map[string]int, error) {
	stored := map[string]int{meaningless: withoutMeaning(job)}
	distributions, series := map[string]int{}, map[string]string{}
	for i := range all { // New Relic's intervals have their begin as time
		if p := &all[i]; p.Type == "count" || p.Type == "summary" {
			p.Nanos += p.Width
		}
	}
	rowOf := func(p *vendorPoint) string { return fmt.Sprint(p.Labels, p.Nanos) }
	for i := range all {
		if p := &all[i]; strings.HasSuffix(p.Name, "request.duration") {
			distributions[rowOf(p)]++
		}
	}
	for i := range all {
		p := &all[i]
		name := strings.TrimPrefix(strings.Replace(p.Name, ".datacenter.", ".", 1), "hyperscale.")
		if name != "requests.started" && name != "requests.lost" && name != "threshold.met" {
			continue
		}
		key := fmt.Sprint(name, "|", p.Value, "|", p.Nanos/1e9)
		if was, ok := series[rowOf(p)+name]; ok && was != key {
			return nil, fmt.Errorf("%s and %s have the same labels %v", was, key, p.Labels)
		}
		series[rowOf(p)+name] = key
		stored[key]++
	}
	for row, key := range series {
		if strings.HasSuffix(row, "requests.started") {
			n := distributions[strings.TrimSuffix(row, "requests.started")]
			if stored[key] = max(stored[key], n); n == 0 {
				stored[key] = 0
			}
		}
	}
	return stored, nil
}

// newVendor is a double of bench/vendors behind the proxy; name makes a place of its address.
func newVendor(t *testing.T, program string, half func([]byte) ([]byte, int, []byte), name func(url string) string) (p *place, page string) {
	addresses := vendorstest.Start(t, program)
	p = &place{Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), half), behind: addresses[0], key: valueKey, name: name}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		all, err := pointsTaken(addresses[1], job)
		if err != nil {
			return nil, err
		}
		return byValue(job, all)
	}
	return p, addresses[1]
}

// saysWhatIsWrong checks places, and wants a remedy and no secret.
func saysWhatIsWrong(t *testing.T, k outputs.Kind, places map[string]string) {
	t.Helper()
	for place, want := range places {
		set, err := outputs.Parse(&k, place)
		var s outputs.Sink
		if err == nil {
			s, err = k.Open(set)
		}
		if err == nil {
			err = s.Check(t.Context())
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
}

func newDatadog(t *testing.T) outputstest.Place {
	t.Setenv("DD_KEY", "dd-key")
	p, _ := newVendor(t, "datadog", nil, func(url string) string { return url + ",api_key_env=DD_KEY,datacenters=true" })
	return p
}

func TestDatadogSaysWhatIsWrong(t *testing.T) {
	p := newDatadog(t).(*place)
	t.Setenv("WRONG_KEY", "hush-hush")
	saysWhatIsWrong(t, push.Datadog(), map[string]string{
		p.URL() + ",api_key_env=WRONG_KEY":  "each site of Datadog has keys of its own",
		p.URL():                             "give api_key_file",
		p.URL() + "/api,api_key_env=DD_KEY": "without a path",
		p.URL() + ",api_key_env=ABSENT_KEY": "set it, or use api_key_file",
	})
}

// Datadog has the counts of each window with its length, and each request of a distribution, or the thousandths of many.
func TestDatadogFigures(t *testing.T) {
	t.Setenv("DD_KEY", "dd-key")
	p, page := newVendor(t, "datadog", nil, func(url string) string { return url + ",api_key_env=DD_KEY" })
	rows := outputstest.Rows("figures")[:2]
	rows[0].Datacenter, rows[1].Datacenter = "", ""
	rows[1].Figures = manyRequests(5000)
	s := open(t, push.Datadog(), p.Name())
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	all, err := pointsTaken(page, "figures")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, p := range all {
		switch p.Name {
		case "hyperscale.requests.started":
			if p.Type != "1" || p.Width != 10e9 {
				t.Errorf("a count of type %s and %d ns", p.Type, p.Width)
			}
			found[fmt.Sprint("started ", p.Value)]++
		case "hyperscale.users.active":
			if p.Type != "3" {
				t.Errorf("a gauge of type %s", p.Type)
			}
		case "hyperscale.request.duration":
			found[fmt.Sprintf("%d values to %.3g", len(p.Values), p.Values[len(p.Values)-1])]++
			if len(p.Values) == 1001 && (p.Values[990] < 4.95 || p.Values[990] > 4.97 || p.Values[500] < 2.5 || p.Values[500] > 2.51) {
				t.Errorf("p50 %v, p99 %v", p.Values[500], p.Values[990])
			}
		}
	}
	if fmt.Sprint(found) != "map[1 values to 0.001:1 1001 values to 5:1 started 1:1 started 5000:1]" {
		t.Fatal(found)
	}
}

// manyRequests took 1, 2, 3 ... n ms.
func manyRequests(n uint64) *outputs.Figures {
	var h stats.Histogram
	for ms := uint64(1); ms <= n; ms++ {
		h.Record(ms * 1_000_000)
	}
	return &outputs.Figures{Begun: n, OK: n, ActiveUsers: 3, Latency: h.Wire()}
}

func newNewRelic(t *testing.T) outputstest.Place {
	t.Setenv("NR_KEY", "nr-key")
	p, _ := newVendor(t, "newrelic", nil, func(url string) string { return url + ",api_key_env=NR_KEY" })
	return p
}

func TestNewRelicSaysWhatIsWrong(t *testing.T) {
	p := newNewRelic(t).(*place)
	t.Setenv("WRONG_KEY", "hush-hush")
	saysWhatIsWrong(t, push.NewRelic(), map[string]string{
		p.URL() + ",api_key_env=WRONG_KEY":       "correct the credentials",
		p.URL():                                  "give api_key_file",
		p.URL() + "/other,api_key_env=NR_KEY":    "correct the address and its path",
		p.URL() + ",api_key_env=ABSENT_KEY":      "set it, or use api_key_file",
		"metric-api.newrelic.com,api_key_env=K2": "is no address",
	})
}

// New Relic has a window's counts and its summary since its begin, and its quantiles at its end.
func TestNewRelicFigures(t *testing.T) {
	t.Setenv("NR_KEY", "nr-key")
	p, page := newVendor(t, "newrelic", nil, func(url string) string { return url + ",api_key_env=NR_KEY" })
	row := outputstest.Rows("figures")[20]
	row.Figures = manyRequests(5000)
	s := open(t, push.NewRelic(), p.Name())
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: []outputs.Row{row}}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	all, err := pointsTaken(page, "figures")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"requests.started": 5000, "users.active": 3, "request.duration": 5000, "request.duration.p50": 2.5, "request.duration.p99": 4.95, "request.duration.p999": 4.995}
	found := 0
	for _, p := range all {
		name := strings.TrimPrefix(strings.TrimPrefix(p.Name, "hyperscale."), "datacenter.")
		v, ok := want[name]
		if !ok {
			continue
		}
		found++
		if p.Value < v || p.Value > v*1.004 {
			t.Errorf("%s is %v, want %v", name, p.Value, v)
		}
		if begin := row.Started.Add(row.From).UnixNano(); p.Type == "gauge" && p.Nanos != row.At().UnixNano() || p.Type != "gauge" && (p.Nanos != begin || p.Width != 10e9) {
			t.Errorf("%s, a %s, is of %d and wide %d", name, p.Type, p.Nanos, p.Width)
		}
		if name == "request.duration" && fmt.Sprintf("%.0f", p.Values) != "[12502 0 5]" { // sum, min, max
			t.Errorf("summary %v", p.Values)
		}
	}
	if found != len(want) {
		t.Fatalf("%d of %d metrics in %v", found, len(want), all)
	}
}

// honeycombKey is a row's key in its event.
func honeycombKey(r *outputs.Row) string {
	key := fmt.Sprint(r.Kind, "|", r.Datacenter, "|", r.Workflow, "|", r.Step, "|", r.From.Milliseconds(), "|", r.To.Milliseconds())
	if r.Figures != nil {
		key += fmt.Sprint("|", r.Figures.Begun)
	}
	if r.Threshold != nil {
		key += "|" + r.Threshold.Expression
	}
	return key
}

func newHoneycomb(t *testing.T) outputstest.Place {
	t.Setenv("HC_KEY", "hc-key")
	p, page := newVendor(t, "honeycomb", nil, func(url string) string { return url + ",dataset=my load,api_key_env=HC_KEY" })
	p.key = honeycombKey
	p.stored = func(job string) (map[string]int, error) {
		all := map[string]int{}
		for _, e := range eventsTaken(t, page, job) {
			text := func(name string) string {
				if v, ok := e[name]; ok {
					return fmt.Sprint(v)
				}
				return ""
			}
			key := strings.Join([]string{text("row"), text("datacenter"), text("workflow"), text("step"), text("from_ms"), text("to_ms")}, "|")
			for _, name := range []string{"begun", "threshold"} {
				if v := text(name); v != "" {
					key += "|" + v
				}
			}
			all[key]++
		}
		return all, nil
	}
	return p
}

// eventsTaken are the fields of a job's events.
func eventsTaken(t *testing.T, page, job string) (all []map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(serverstest.Ask(t, http.MethodGet, "http://"+page)))
	d.UseNumber()
	var got []struct {
		Time string
		Data map[string]any
	}
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if e.Data["run"] == job {
			e.Data["time"] = e.Time
			all = append(all, e.Data)
		}
	}
	return all
}

// The event that the service rejects is a dead letter, alone.
func TestHoneycombRejectsTheEventAlone(t *testing.T) {
	p := newHoneycomb(t).(*place)
	rows := outputstest.Rows("alone")[:4]
	rows[2].Tags = []message.Tag{{Name: "refuse", Value: "it"}}
	s := open(t, push.Honeycomb(), p.Name())
	out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
	if out.Verdict != outputs.VerdictRejected || fmt.Sprint(out.Rows) != "[2]" || !strings.Contains(out.Why, "the double rejects this one") {
		t.Fatalf("%+v", out)
	}
	stored, err := p.Stored("alone")
	if err != nil || len(stored) != 3 || stored[honeycombKey(&rows[3])] != 1 {
		t.Fatal(stored, err)
	}
}

func TestHoneycombSaysWhatIsWrong(t *testing.T) {
	p := newHoneycomb(t).(*place)
	t.Setenv("WRONG_KEY", "hush-hush")
	saysWhatIsWrong(t, push.Honeycomb(), map[string]string{
		p.URL() + ",api_key_env=WRONG_KEY":        "correct the credentials",
		p.URL() + ",dataset=a/b,api_key_env=HC_K": "without a slash",
		p.URL(): "give api_key_file",
	})
}
