package page

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/runtime/page/pagetest"
	"hyperscale/runtime/report"
)

// opened is the harness's view of a page after layout.
type opened struct {
	DrawnMS  float64    `json:"drawn_ms"`
	Plots    int        `json:"plots"`
	Flat     int        `json:"flat"`    // plots without a line that can be seen
	Tips     []string   `json:"tips"`    // what the first and last chart say under the pointer
	Themes   [][]string `json:"themes"`  // of each theme: page, text
	Faint    []string   `json:"faint"`   // text with too little contrast
	Width    int        `json:"width"`   // of the screen
	Needed   int        `json:"needed"`  // of what is on it
	Scripts  int        `json:"scripts"` // elements
	Images   int        `json:"images"`
	Unfolded int        `json:"unfolded"` // steps that printing opened
	Cut      []string   `json:"cut"`      // what no reader sees whole
}

// harness opens the page in a frame as wide as a phone and looks at it.
//
//go:embed testdata/harness.html
var harness string

// open shows a page in a real browser; it fails if that complains or asks for anything
// but the page.
func open(t *testing.T, page, width string) (seen opened) {
	t.Helper()
	var mutex sync.Mutex
	var asked []string
	pagetest.Open(t, func(w http.ResponseWriter, in *http.Request) {
		mutex.Lock()
		asked = append(asked, in.URL.Path)
		mutex.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch in.URL.Path {
		case pagetest.Harness:
			_, _ = w.Write([]byte(strings.NewReplacer("WIDTH", width, "INSPECT", pagetest.Inspect).Replace(harness))) // the browser may be gone
		case "/page":
			_, _ = w.Write([]byte(page)) // the same
		}
	}, &seen)
	mutex.Lock()
	defer mutex.Unlock()
	slices.Sort(asked)
	if diff := cmp.Diff([]string{pagetest.Harness, "/page"}, slices.DeleteFunc(asked, func(path string) bool { return path == "/favicon.ico" })); diff != "" { // the harness has no icon
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	return seen
}

// TestBrowser checks the largest usual page on a phone. It renders, answers the pointer, is
// legible in two themes, fits, and requests nothing from any server.
func TestBrowser(t *testing.T) {
	got := open(t, render(t, hour()), "390")
	t.Logf("parsed, run and laid out in %.0f ms", got.DrawnMS)
	if got.Plots != 4+20*4 || got.Flat > 0 {
		t.Errorf("%d charts, %d of them empty: want %d, 0", got.Plots, got.Flat, 4+20*4)
	}
	if len(got.Tips) != 2 || !strings.Contains(got.Tips[0], "answered as expected: ") || !strings.Contains(got.Tips[1], "%") || !strings.Contains(got.Tips[1], "step_19: ") {
		t.Errorf("under the pointer it says %q", got.Tips)
	}
	legible(t, got)
	if got.Unfolded != 23 {
		t.Errorf("printing opens %d steps and datacenters, want 23", got.Unfolded)
	}
}

// legible demands what holds of every page on a phone.
func legible(t *testing.T, got opened) {
	t.Helper()
	if len(got.Themes) != 2 || slices.Equal(got.Themes[0], got.Themes[1]) {
		t.Errorf("the themes are %q: want two that differ", got.Themes)
	}
	if len(got.Faint) > 0 {
		t.Errorf("hard to read: %q", got.Faint)
	}
	if got.Width != 390 || got.Needed > got.Width {
		t.Errorf("the page is %d wide on a screen of %d", got.Needed, got.Width)
	}
}

// TestBrowserComparison: two runs of 20 steps on a phone. The page draws both curves, the
// pointer shows both, all parts unfold for print, and the page makes no request.
func TestBrowserComparison(t *testing.T) {
	got := open(t, renderComparison(t, hour(), slower(hour())), "390")
	t.Logf("parsed, run and laid out in %.0f ms", got.DrawnMS)
	if got.Plots != 20*3 {
		t.Errorf("%d charts, want %d", got.Plots, 20*3)
	}
	if len(got.Tips) != 2 || !strings.Contains(got.Tips[0], "%baseline: ") || !strings.Contains(got.Tips[0], "now: ") || !strings.Contains(got.Tips[1], "baseline: ") {
		t.Errorf("under the pointer it says %q", got.Tips)
	}
	if got.Unfolded < 20 || got.Flat > 0 {
		t.Errorf("printing opens %d steps and the source, with %d empty charts: want 21, 0", got.Unfolded, got.Flat)
	}
	legible(t, got)
}

// TestBrowserWidths: on a phone, a tablet and a screen, pages with long names and small figures show
// everything: nothing leaves the screen, no label stands on data, no figure is broken.
func TestBrowserWidths(t *testing.T) {
	long := func(r *report.Result) *report.Result {
		for i := range r.Workflows {
			w := &r.Workflows[i]
			w.Name = fmt.Sprintf("browse-the-catalogue-and-buy-what-is-new-%d", i)
			for k := range w.Steps {
				w.Steps[k].Name = fmt.Sprintf("a_step_with_a_name_that_goes_on_and_on_%d", k)
			}
			for k := range w.Activity.Windows {
				w.Activity.Windows[k].Active = 1200
			}
		}
		r.Sinks = []report.Sink{
			{Name: "a_sink_with_a_name_that_goes_on_and_on_and_on_and_on_to_64_letters", Kind: "postgres", Delivered: 12_345_678, ThroughNS: 20e9, Behind: 20, BehindNS: 3725e9, Lost: 1_234_567, Rejected: 1_234_567, PerhapsTwice: 1_234_567, Error: strings.Repeat("connection refused ", 20), Late: []report.Late{{FromNS: 5e9, UntilNS: 20e9}, {FromNS: 30e9, UntilNS: 40e9}}},
			{Name: "hook", Kind: "webhook", Delivered: 9, Done: true},
		}
		r.Workflows = append(r.Workflows, report.Workflow{Name: "never", Outcome: "CANCELLED", VUs: 4, Error: strings.Repeat("local: what it waited for failed; ", 5)})
		return r
	}
	one, two := long(resultOf(2, 3, 40, time.Second)), long(slower(resultOf(2, 3, 40, time.Second)))
	for _, width := range []string{"320", "390", "768", "1390"} {
		for name, page := range map[string]string{"result": render(t, one), "comparison": renderComparison(t, one, two)} {
			if got := open(t, page, width); len(got.Cut) > 0 || got.Needed > got.Width || strconv.Itoa(got.Width) != width {
				t.Errorf("the %s page needs %d at %s; cut are %q", name, got.Needed, width, got.Cut)
			}
		}
	}
}

// TestBrowserHostile: what wants to be script is text to a browser, too.
func TestBrowserHostile(t *testing.T) {
	r := resultOf(2, 2, 5, time.Second)
	poison(r, hostile)
	if got := open(t, render(t, r), "1400"); got.Scripts != 1 || got.Images != 0 || got.Flat > 0 {
		t.Errorf("%d scripts, %d images, %d empty charts: want 1, 0, 0", got.Scripts, got.Images, got.Flat)
	}
	after := slower(resultOf(2, 2, 5, time.Second))
	poison(after, hostile)
	if got := open(t, renderComparison(t, r, r, after), "1400"); got.Scripts != 1 || got.Images != 0 {
		t.Errorf("of a comparison: %d scripts, %d images: want 1, 0", got.Scripts, got.Images)
	}
}

// TestAccessible: axe-core has nothing against the page of a result or of a comparison, on a phone and on a screen, in both
// themes.
func TestAccessible(t *testing.T) {
	r := resultOf(2, 3, 40, time.Second)
	r.Sinks = []report.Sink{
		{Name: "warehouse", Kind: "postgres", Delivered: 12, ThroughNS: 20e9, Behind: 20, BehindNS: 3725e9, Lost: 7, Rejected: 7, PerhapsTwice: 7, Error: "connection refused", Late: []report.Late{{FromNS: 5e9, UntilNS: 20e9}}},
		{Name: "hook", Kind: "webhook", Delivered: 9, Done: true},
	}
	for name, page := range map[string]string{"result": render(t, r), "comparison": renderComparison(t, resultOf(2, 3, 40, time.Second), slower(resultOf(2, 3, 40, time.Second)))} {
		before, rest, _ := strings.Cut(page, `<meta http-equiv="Content-Security-Policy"`) // it lets no script of a test in
		_, after, _ := strings.Cut(rest, ">")
		for _, width := range []int{390, 1390} {
			for _, one := range pagetest.Violations(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte(before + after)) // the browser may be gone
			}, pagetest.Looked{Path: "/page", Width: width}) {
				t.Errorf("%s at %d: %s", name, width, one)
			}
		}
	}
}
