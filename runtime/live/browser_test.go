package live

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/runtime/page/pagetest"
)

// harness opens the page in a frame, waits for its views, and looks at it.
//
//go:embed testdata/harness.html
var harness string

// opened is the harness's view of the page.
type opened struct {
	Word, Said, Trust, Tip string
	Plots, Flat, Limits    int
	Marks                  []string
	Gone                   bool
	Rows                   []int // of the tables of plots
	Unnamed                int   // what a screen reader cannot name
	Width, Needed          int
	Cut, Faint             []string
	Themes                 [][]string
	Scripts, Images        int
	Before, After          uint64 // bytes of the heap
}

// recorded are the views of a stream of testdata.
func recorded(t *testing.T, name string) (all []View) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	for line := range bytes.Lines(b) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			var v View
			must(t, json.Unmarshal(data, &v))
			all = append(all, v)
		}
	}
	return all
}

// show opens the page while its stream sends views; the first few of them before the harness has looked at the heap.
func show(t *testing.T, width, few int, views []View, flags ...string) (seen opened) {
	t.Helper()
	var mutex sync.Mutex
	asked := map[string]int{}
	next, done := make(chan struct{}), make(chan struct{})
	assets := Assets()
	fill := strings.NewReplacer("WIDTH", strconv.Itoa(width), "FEW", strconv.Itoa(few), "LAST", views[len(views)-1].Name, "INSPECT", pagetest.Inspect)
	pagetest.Open(t, func(w http.ResponseWriter, in *http.Request) {
		mutex.Lock()
		asked[in.URL.Path]++
		mutex.Unlock()
		switch in.URL.Path {
		case pagetest.Harness:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(fill.Replace(harness))) // the browser may be gone
		case "/wait": // the browser prints the page once this has come
			select {
			case <-done:
			case <-in.Context().Done():
			}
		case "/done":
			close(done)
		case "/next":
			close(next)
		case "/v1/jobs/this/view":
			send(w, in, few, views, next)
		case "/v1/whoami":
			_, _ = w.Write([]byte(`{"name":""}`)) // the browser may be gone
		case "/favicon.ico": // the harness has no icon
			w.WriteHeader(http.StatusNotFound)
		default:
			assets.ServeHTTP(framed{w}, in)
		}
	}, &seen, flags...)
	mutex.Lock()
	defer mutex.Unlock()
	want := []string{pagetest.Harness, "/done", "/jobs/this", "/live/lists.js", "/live/live.css", "/live/main.js", "/live/model.js", "/live/page.css", "/live/plot.js", "/live/units.js", "/live/view.js", "/v1/jobs/this/view", "/v1/whoami", "/wait"}
	for path, n := range asked {
		if !slices.Contains(want, path) && path != "/favicon.ico" && path != "/next" {
			t.Errorf("the page asks for %s, %d times", path, n)
		}
	}
	return seen
}

// framed lets the harness have the page in a frame.
type framed struct{ http.ResponseWriter }

func (f framed) Write(b []byte) (int, error) {
	if f.Header().Get("Content-Security-Policy") == policy {
		f.Header().Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
	}
	return f.ResponseWriter.Write(b)
}

// send streams views as a Feed does, as fast as they are read.
func send(w http.ResponseWriter, in *http.Request, few int, views []View, next <-chan struct{}) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range views {
		b, err := json.Marshal(&views[i])
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(w, "id: %d\nevent: view\ndata: %s\n\n", i, b) // the browser may be gone
		if i+1 == few {
			_ = http.NewResponseController(w).Flush() // the same
			select {
			case <-next:
			case <-in.Context().Done():
				return
			}
		}
	}
}

// TestBrowser shows a recorded job whose gate and worker were killed, from the smallest phone to a wall.
func TestBrowser(t *testing.T) {
	views := recorded(t, "testdata/cluster.events")
	for i := range views {
		views[i].Sinks = []Sink{
			{Name: strings.Repeat("long_name", 7), Kind: "postgres", State: "behind", Health: "warn", Delivered: 12_345_678, ThroughNS: 4e9, BehindNS: 3725e9, PerhapsTwice: 1_234_567, Why: strings.Repeat("connection refused ", 20)},
			{Name: "hook", Kind: "webhook", State: "lacks rows", Health: "bad", Delivered: 9, Lost: 1_234_567, Rejected: 1_234_567, Done: true},
		}
		views[i].Marks = append(views[i].Marks, Mark{AtNS: 1e9, UntilNS: 3e9, Kind: "sink", Text: "sink hook was behind"})
	}
	for _, width := range []int{320, 390, 768, 1400, 2560} {
		got := show(t, width, 0, views, "--window-size=2600,2000")
		same(t, "Thresholds missed", got.Word)
		has(t, got.Trust, "1 attempt lost")
		has(t, got.Said, "Thresholds missed: t2.star.")
		same(t, []int{4, 0, 0, 0}, []int{got.Plots, got.Flat, got.Unnamed, got.Images}, "plots, plots without a line, elements without a name, images")
		if !slices.Contains(got.Marks, "▼") || !slices.Contains(got.Marks, "■") || got.Limits < 2 {
			t.Errorf("marks %q, %d thresholds as lines: want one of the lost worker, and at least 2", got.Marks, got.Limits)
		}
		has(t, got.Tip, "ended: ")
		same(t, true, got.Gone, "Escape takes the values away")
		if slices.Min(got.Rows) == 0 {
			t.Errorf("tables of plots have %v rows", got.Rows)
		}
		if len(got.Cut) > 0 || got.Needed > got.Width || got.Width != width {
			t.Errorf("the page needs %d at %d of %d; cut are %q", got.Needed, got.Width, width, got.Cut)
		}
		if len(got.Faint) > 0 || cmp.Equal(got.Themes[0], got.Themes[1]) {
			t.Errorf("hard to read: %q, in the themes %q", got.Faint, got.Themes)
		}
	}
}

// TestBrowserHostile: what wants to be script is text.
func TestBrowserHostile(t *testing.T) {
	const evil = `<img src=x onerror="document.title='x'"></script><script>alert(1)</script>`
	views := recorded(t, "testdata/cluster.events")
	v := views[len(views)-2]
	v.Name, v.Reason, v.Steps[0].Name, v.Thresholds[0].Expr = evil, evil, evil, evil
	v.Errors = []Failure{{evil, evil, evil + "2", 1}}
	v.Places[0].Name, v.Places[0].Waits, v.Places[0].Workers[0].Name = evil, evil, evil
	v.Marks = []Mark{{Kind: "lost", Text: evil}, {UntilNS: 1, Kind: "sink", Text: evil}}
	v.Sinks = []Sink{{Name: evil, Kind: evil, State: evil, Health: "bad", Why: evil}}
	v.Trust = Trust{"no", []string{evil}}
	v.Course.From = 0
	last := v
	last.Name, last.Ended = "last", true
	got := show(t, 1400, 0, []View{v, last})
	same(t, []int{1, 0}, []int{got.Scripts, got.Images})
}

// TestBrowserKeepsNothing: an hour of views grows the page's heap by at most 5 MB.
func TestBrowserKeepsNothing(t *testing.T) {
	all := recorded(t, "testdata/cluster.events")
	one := all[len(all)-2]
	var views []View
	for i := range 3600 {
		v := one
		v.Name, v.Sequence, v.Ended = fmt.Sprintf("view %d", i+1), uint64(i), i == 3599
		n := min(i, 599)
		v.Course = Course{WidthNS: 1e9, LastNS: 1e9, Per: 8, From: n, Ended: []uint64{uint64(i)}, Failed: []uint64{1}, P50: []uint64{4718592}, P99: []uint64{9437184}, Users: []uint64{32000}}
		v.Marks = []Mark{{AtNS: int64(i%600) * 1e9, Kind: "lost", Text: fmt.Sprint("mark ", i)}}
		views = append(views, v)
	}
	got := show(t, 1400, 700, views, "--js-flags=--expose-gc", "--enable-precise-memory-info")
	t.Logf("the heap has %d bytes after 700 views, %d after 3600", got.Before, got.After)
	if got.Before == 0 || got.After > got.Before+5<<20 {
		t.Errorf("the heap grew from %d to %d bytes", got.Before, got.After)
	}
}

// TestAccessible: axe-core has nothing against a job, the list of jobs and the cluster, on a phone and on a
// screen, in both themes.
func TestAccessible(t *testing.T) {
	views := recorded(t, "testdata/cluster.events")
	last := views[len(views)-1]
	for i := range views {
		views[i].Sinks = []Sink{{Name: "house", Kind: "postgres", State: "behind", Health: "warn", Delivered: 12, ThroughNS: 4e9, BehindNS: 37e9, Lost: 1, Why: "connection refused"}}
		views[i].Marks = append(views[i].Marks, Mark{AtNS: 1e9, UntilNS: 3e9, Kind: "sink", Text: "sink house was behind"})
	}
	assets := Assets()
	serve := func() http.HandlerFunc {
		return func(w http.ResponseWriter, in *http.Request) {
			answer, known := map[string]string{
				"/v1/whoami": `{"name":"ci"}`,
				"/v1/jobs": `{"gates":[{"answered":true},{"answered":false}],"jobs":[{"job":"j1","name":"shop.star","state":"RUNNING","age_ns":4000000000,"started":7,"failed":1,"datacenters":["east"]},
					{"job":"j2","name":"late.star","state":"FAILED","age_ns":9000000000,"started":null,"failed":null,"datacenters":[]}]}`,
				"/v1/cluster": `{"gate":"gate-1","warnings":["alert queue-high: half of it is full"],"members":[{"address":"a:1","node":"gate-1","state":"alive","leader":true,"since_ns":5000000000,"version":"1.0"},{"address":"b:1","state":"dead","reason":"silent"}],
					"nodes":[{"node":"worker-1","role":"worker","datacenter":"east","state":"alive","cores_free":1,"cores_total":2,"silent_ns":100000000}],"leases":[{"job":"j1","name":"shop.star","state":"RUNNING","holder":"gate-1","fence":"1.1","left_ns":9000000000}]}`,
			}[in.URL.Path]
			switch {
			case in.URL.Path == "/v1/jobs/this/view":
				send(w, in, 0, views, nil)
			case known:
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(answer)) // the browser may be gone
			default:
				assets.ServeHTTP(unguarded{w}, in)
			}
		}
	}
	for _, c := range []struct{ path, ready string }{
		{"/jobs/this", "doc.getElementById('name').textContent === '" + last.Name + "' && doc.querySelector('#sinks table') && doc.querySelector('svg.plot path')"},
		{"/", "doc.querySelector('#jobs table')"},
		{"/cluster", "doc.querySelector('#leases table')"},
	} {
		for _, width := range []int{390, 1400} {
			for _, one := range pagetest.Violations(t, serve(), pagetest.Looked{Path: c.path, Width: width, Ready: c.ready}) {
				t.Errorf("%s at %d: %s", c.path, width, one)
			}
		}
	}
}

// unguarded lets the script of a test into the page.
type unguarded struct{ http.ResponseWriter }

func (u unguarded) Write(b []byte) (int, error) {
	u.Header().Del("Content-Security-Policy")
	return u.ResponseWriter.Write(b)
}
