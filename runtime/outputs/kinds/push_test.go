package kinds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/core/output"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/outputs/push"
)

func init() {
	for name, f := range map[string]func(t *testing.T) outputstest.Place{
		"influxdb": newInflux, "otlp": newOTLP, "webhook": newHook, "s3": newS3, "clickhouse": newClickHouse,
	} {
		places[name] = f
	}
}

// open opens a kind at a place with options.
func open(t testing.TB, k outputs.Kind, place string) outputs.Sink {
	t.Helper()
	s, err := outputs.Parse(&k, place)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := k.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

// place is a kind's place in a test, behind the proxy that misbehaves.
type place struct {
	*outputstest.Proxy
	behind  string // the server itself
	options string
	name    func(url string) string // nil: the address and the options
	key     func(r *outputs.Row) string
	stored  func(job string) (map[string]int, error)
}

func (p *place) Name() string {
	if p.name != nil {
		return p.name(p.URL())
	}
	return p.URL() + p.options
}
func (p *place) Key(r *outputs.Row) string                 { return p.key(r) }
func (p *place) Stored(job string) (map[string]int, error) { return p.stored(job) }

// asPictured is a name as line protocol can have it.
func asPictured(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '＼'
		case r == '"':
			return '＂'
		case r < ' ':
			return 0x2400 + r
		}
		return r
	}, s)
}

func newInflux(t *testing.T) outputstest.Place { return influxPlace(t, ",database=load") }

// influxPlace is InfluxDB 1 behind the proxy, as a kind of its lines names it.
func influxPlace(t *testing.T, options string) *place {
	address := serverstest.Influx(t)
	p := &place{Proxy: outputstest.NewProxy(serverstest.To(address), influxHalf), options: options}
	t.Cleanup(p.Close)
	p.key = func(r *outputs.Row) string {
		threshold, sequence, begun := "", "", ""
		if r.Threshold != nil {
			threshold = r.Threshold.Expression
		}
		if r.Event != nil {
			sequence = fmt.Sprint(r.Event.Sequence)
		}
		if r.Figures != nil {
			begun = fmt.Sprint(r.Figures.Begun)
		}
		return fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%s", "hyperscale_"+r.Kind.String(), asPictured(r.Datacenter), r.Workflow, asPictured(r.Step), asPictured(threshold), sequence, fmt.Sprint(r.At().UnixMilli()), begun)
	}
	p.stored = func(job string) (map[string]int, error) {
		all := map[string]int{}
		for _, s := range serverstest.InfluxQuery(t, address, fmt.Sprintf("SELECT * FROM /.*/ WHERE run='%s' GROUP BY *", job)) {
			for _, values := range s.Values {
				at, begun := "", ""
				for i, column := range s.Columns {
					switch {
					case column == "time":
						at = values[i].(json.Number).String()
					case column == "begun" && values[i] != nil:
						begun = values[i].(json.Number).String()
					}
				}
				all[fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%s", s.Name, s.Tags["datacenter"], s.Tags["workflow"], s.Tags["step"], s.Tags["threshold"], s.Tags["sequence"], at, begun)]++
			}
		}
		return all, nil
	}
	return p
}

// influxHalf accepts half of the lines, as for points that are too old.
func influxHalf(body []byte) ([]byte, int, []byte) {
	lines := bytes.SplitAfter(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	if len(lines) < 2 {
		return body, http.StatusNoContent, nil
	}
	return bytes.Join(lines[:len(lines)/2], nil), http.StatusBadRequest, []byte(`{"error":"partial write: points beyond retention policy dropped=1"}`)
}

// meaningless is the key of rows that metrics do not tell of: they count as delivered, and are nowhere.
const meaningless = "meaningless"

func metricKey(r *outputs.Row) string {
	if !model.Has(r, true) {
		return meaningless
	}
	name := "hyperscale.requests.started"
	value := ""
	switch {
	case r.Threshold != nil:
		name, value = "hyperscale.threshold.met", r.Threshold.Expression
	case r.Kind == outputs.RowLost:
		name = "hyperscale.requests.lost"
	}
	if r.Datacenter != "" {
		name = strings.Replace(name, "hyperscale.", "hyperscale.datacenter.", 1)
	}
	return strings.Join([]string{name, value, r.Datacenter, r.Workflow, r.Step, strconv.FormatInt(r.At().UnixNano(), 10)}, "|")
}

// withoutMeaning are the rows of a job that metrics do not tell of.
func withoutMeaning(job string) (n int) {
	rows := outputstest.Rows(job)
	for i := range rows {
		if !model.Has(&rows[i], true) {
			n++
		}
	}
	return n
}

func newOTLP(t *testing.T) outputstest.Place {
	addresses := vendorstest.Start(t, "otlp")
	p := &place{Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), nil), options: ",temporality=delta", key: metricKey}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		all := map[string]int{meaningless: withoutMeaning(job)}
		for key, n := range otlpCount(t, addresses[1]) {
			if strings.HasPrefix(key, job+"|") {
				all[strings.TrimPrefix(key, job+"|")] = n
			}
		}
		return all, nil
	}
	return p
}

func TestOTLPCumulative(t *testing.T) {
	p := newOTLP(t).(*place)
	p.options = ",temporality=cumulative"
	outputstest.Cruelty(t, push.OTLP(), p)
}

// otlpCount says how often the collector has each point that stands for a row.
func otlpCount(t *testing.T, page string) map[string]int {
	all := map[string]int{}
	for _, m := range vendorstest.OTLPTaken(t, page, "") {
		name := strings.Replace(m.Name, "hyperscale.datacenter.", "hyperscale.", 1)
		if name != "hyperscale.requests.started" && name != "hyperscale.requests.lost" && name != "hyperscale.threshold.met" {
			continue
		}
		for _, p := range append(m.Sum.DataPoints, m.Gauge.DataPoints...) {
			all[strings.Join([]string{p.Attribute("run"), m.Name, p.Attribute("threshold"), p.Attribute("datacenter"), p.Attribute("workflow"), p.Attribute("step"), p.TimeUnixNano}, "|")]++
		}
	}
	return all
}

// hook is a server of webhooks, which asks openssl whether a signature is right.
type hook struct {
	mu   sync.Mutex
	rows []outputs.Row
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	seconds, signature, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("X-Hyperscale-Signature"), "t="), ",v1=")
	verify := exec.Command("openssl", "dgst", "-sha256", "-hmac", "hook-key", "-r")
	verify.Stdin = io.MultiReader(strings.NewReader(seconds+"."), bytes.NewReader(body))
	text, err := verify.Output()
	if err != nil || !strings.HasPrefix(string(text), signature+" ") || len(signature) != 64 {
		http.Error(w, "the signature is wrong, not one by hook-key", http.StatusUnauthorized)
		return
	}
	var got struct {
		Schema string
		Rows   []json.RawMessage
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Schema != "hyperscale.rows/1" {
		http.Error(w, "no rows", http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, raw := range got.Rows {
		row, err := outputs.ParseJSON(raw)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.rows = append(h.rows, row)
	}
}

func newHook(t *testing.T) outputstest.Place {
	serverstest.Need(t, "openssl")
	h := &hook{}
	t.Setenv("HOOK_KEY", "hook-key")
	p := &place{Proxy: outputstest.NewProxy(h, nil), options: "/in?a=b,key_env=HOOK_KEY", key: (*outputs.Row).Key}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		all := map[string]int{}
		for i := range h.rows {
			if h.rows[i].Job == job {
				all[h.rows[i].Key()]++
			}
		}
		return all, nil
	}
	return p
}

func TestWebhookHidesItsKey(t *testing.T) {
	s := open(t, push.Webhook(), newHook(t).Name())
	t.Setenv("HOOK_KEY", "another")
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "correct the credentials") {
		t.Fatal(err)
	}
}

func newS3(t *testing.T) outputstest.Place {
	addresses := vendorstest.Start(t, "aws")
	t.Setenv("MY_SECRET", "test-secret/with+signs")
	p := &place{Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), nil), key: (*outputs.Row).Key}
	p.name = func(url string) string {
		return "s3://results/a b+c=d'ü,endpoint=" + url + ",region=eu-west-1,access_key=AKIDTEST,secret_key_env=MY_SECRET"
	}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		var objects map[string]string
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, "http://"+addresses[1])), &objects); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for name, coded := range objects {
			if !strings.HasPrefix(name, "/results/a b+c=d'ü/"+job+"/") {
				continue
			}
			b, err := base64.StdEncoding.DecodeString(coded)
			if err != nil {
				return nil, err
			}
			plain, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(plain)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				row, err := outputs.ParseJSON([]byte(line))
				if err != nil {
					return nil, err
				}
				all[row.Key()]++
			}
		}
		return all, nil
	}
	return p
}

func TestS3SaysWhatIsWrong(t *testing.T) {
	p := newS3(t).(*place)
	for place, want := range map[string]string{
		strings.Replace(p.Name(), "results", "absent", 1):                     "NoSuchBucket: the double says so): create the bucket",
		strings.Replace(p.Name(), "eu-west-1", "eu-west-2", 1):                "correct region=",
		strings.Replace(p.Name(), "AKIDTEST", "AKIDOTHER", 1):                 "InvalidAccessKeyId",
		strings.Replace(p.Name(), "MY_SECRET", "ABSENT_SECRET", 1):            "set it, or use secret_key_file",
		"s3://results/x,region=eu-west-1,endpoint=" + p.URL():                 "set AWS_ACCESS_KEY_ID",
		strings.Replace(p.Name(), "secret_key_env=MY_SECRET", "gzip=true", 1): "",
	} {
		k := push.S3()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			continue
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "test-secret") {
			t.Errorf("%s: %v", place, err)
		}
	}
	t.Setenv("MY_SECRET", "wrong-secret")
	s := open(t, push.S3(), p.Name())
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") || strings.Contains(err.Error(), "wrong-secret") {
		t.Error(err)
	}
	// Credentials of a session, from the environment.
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret/with+signs")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	t.Setenv("AWS_REGION", "eu-west-1")
	if err := open(t, push.S3(), "s3://results/x,endpoint="+p.URL()).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func newClickHouse(t *testing.T) outputstest.Place {
	address := serverstest.ClickHouse(t)
	t.Setenv("CH_PASSWORD", "ch-secret")
	p := &place{behind: address, Proxy: outputstest.NewProxy(serverstest.To(address), nil), options: ",database=load,user=load,password_env=CH_PASSWORD", key: func(r *outputs.Row) string { return fmt.Sprint(r.Key(), "#", begunOf(r)) }}
	t.Cleanup(p.Close)
	p.stored = func(job string) (map[string]int, error) {
		text := serverstest.ClickHouseQuery(t, address, "SELECT kind, job, datacenter, workflow, step, step_kind, from_ms, to_ms, expression, sequence, begun, bucket.count FROM hyperscale_rows FINAL WHERE job = '"+job+"' FORMAT JSONEachRow")
		all := map[string]int{}
		for d := json.NewDecoder(bytes.NewReader([]byte(text))); d.More(); {
			var r struct {
				Kind, Job, Datacenter, Workflow, Step, Expression string
				StepKind                                          string `json:"step_kind"`
				FromMS                                            string `json:"from_ms"`
				ToMS                                              string `json:"to_ms"`
				Sequence, Begun                                   string
				Counts                                            []string `json:"bucket.count"`
			}
			if err := d.Decode(&r); err != nil {
				return nil, err
			}
			if !output.RowKindOf(r.Kind).Spans() {
				r.FromMS, r.ToMS = "0", "0"
			}
			key := strings.Join([]string{r.Kind, r.Job, url.PathEscape(r.Datacenter), url.PathEscape(r.Workflow), url.PathEscape(r.Step), r.StepKind, r.FromMS, r.ToMS}, "/")
			switch r.Kind {
			case "threshold":
				key += "/" + r.Expression
			case "event":
				key += "/" + r.Sequence
			case "window":
				sum := 0
				for _, c := range r.Counts {
					var n int
					_, _ = fmt.Sscan(c, &n)
					sum += n
				}
				if fmt.Sprint(sum) != r.Begun {
					t.Errorf("%s: %d in buckets, %s begun", key, sum, r.Begun)
				}
			}
			all[key+"#"+r.Begun]++
		}
		return all, nil
	}
	return p
}

// What the table has of a job is read back as it was delivered, and of two versions the newer one.
func TestClickHouseReadsBack(t *testing.T) {
	p := newClickHouse(t).(*place)
	k := push.ClickHouse()
	s, err := outputs.Parse(&k, p.Name())
	if err != nil {
		t.Fatal(err)
	}
	rows := outputstest.Rows(`it's \ a job`)
	rows[0].Tags = []message.Tag{{Name: "team", Value: `a"b`}}
	rows[1].Rebased, rows[1].Figures.Blunt = true, true
	older := rows[0]
	older.Version, older.Figures = outputs.Version{}, &outputs.Figures{Begun: 99_999}
	sink := open(t, k, p.Name())
	if err := sink.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, batch := range [][]outputs.Row{rows, {older}, rows[:3]} {
		if out := sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: batch}); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	end := slices.IndexFunc(rows, func(r outputs.Row) bool { return r.Kind == outputs.RowResult })
	later := rows[end] // another end of the same step, in another month
	later.To += 40 * 24 * time.Hour
	later.Version.Set(0, 1000)
	if out := sink.Deliver(t.Context(), outputs.Batch{Number: 2, Try: 1, Rows: []outputs.Row{later}}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	rows[end] = later
	var want []outputs.Row
	for i := range rows {
		if rows[i].Kind == outputs.RowWindow || rows[i].Kind == outputs.RowResult || rows[i].Kind == outputs.RowLost || rows[i].Kind == outputs.RowRun {
			r, err := outputs.ParseJSON(outputs.AppendJSON(nil, &rows[i]))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, r)
		}
	}
	got, err := k.ReadBack(s, rows[0].Job)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b outputs.Row) bool { return a.Key() < b.Key() }), cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	if none, err := k.ReadBack(s, "' OR 1=1 --"); err != nil || len(none) > 0 {
		t.Fatalf("%d rows of a job that is none: %v", len(none), err)
	}
	t.Setenv("CH_PASSWORD", "wrong-secret")
	if _, err := k.ReadBack(s, "j"); err == nil || !strings.Contains(err.Error(), "correct user=") || strings.Contains(err.Error(), "secret") {
		t.Fatal(err)
	}
}

func begunOf(r *outputs.Row) uint64 {
	if r.Figures == nil {
		return 0
	}
	return r.Figures.Begun
}

func TestClickHouseSaysWhatIsWrong(t *testing.T) {
	p := newClickHouse(t).(*place)
	address := p.behind
	serverstest.ClickHouseQuery(t, address, "CREATE TABLE old (kind String) ENGINE = Memory")
	t.Setenv("CH_WRONG", "wrong-secret")
	for place, want := range map[string]string{
		strings.Replace(p.Name(), "CH_PASSWORD", "CH_WRONG", 1):      "correct user=",
		strings.Replace(p.Name(), "database=load", "database=no", 1): "create the database",
		p.Name() + ",table=old":                                      "the table is an older one",
		p.Name() + ",table=absent,create=false":                      "create=true does",
	} {
		if err := open(t, push.ClickHouse(), place).Check(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", place, err)
		}
	}
}
