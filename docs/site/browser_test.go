package site_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"hyperscale/docs/site"
	"hyperscale/runtime/page/pagetest"
)

// seen is the harness's view of a page on a phone, with all foldable parts unfolded.
type seen struct {
	Page    string   `json:"page"`
	Title   string   `json:"title"`
	Width   int      `json:"width"`   // of the screen
	Needed  int      `json:"needed"`  // of what is on it
	Scripts int      `json:"scripts"` // elements
	Blind   []string `json:"blind"`   // images that cannot be drawn
	Back    string   `json:"back"`    // colour behind the text
	Faint   []string `json:"faint"`   // text with too little contrast
}

//go:embed testdata/harness.html
var harness string

// open opens all pages of a site in a real browser; it fails if that complains, or asks for
// anything but them.
func open(t *testing.T, files map[string][]byte) (all []seen) {
	t.Helper()
	var mutex sync.Mutex
	strange := map[string]bool{}
	var pages []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".html" && (!strings.HasSuffix(path.Dir(name), "files/examples") || path.Base(name) == "index.html" || path.Base(name) == "session.star.html") { // one file for all
			pages = append(pages, "/"+name)
		}
	}
	list, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Open(t, func(w http.ResponseWriter, in *http.Request) {
		content, known := files[strings.TrimPrefix(in.URL.Path, "/")]
		switch {
		case known && path.Ext(in.URL.Path) == ".svg":
			w.Header().Set("Content-Type", "image/svg+xml")
		case in.URL.Path == pagetest.Harness:
			content = []byte(strings.ReplaceAll(harness, "PAGES", string(list)))
		case !known && in.URL.Path != "/favicon.ico": // the harness has no icon
			mutex.Lock()
			strange[in.URL.Path] = true
			mutex.Unlock()
		}
		_, _ = w.Write(content) // the browser may be gone
	}, &all, "--virtual-time-budget=30000")
	mutex.Lock()
	defer mutex.Unlock()
	if len(strange) > 0 {
		t.Errorf("pages ask for %q", slices.Sorted(maps.Keys(strange)))
	}
	if len(all) != len(pages) {
		t.Errorf("%d pages were seen of %d", len(all), len(pages))
	}
	return all
}

// TestBrowser checks every page on a phone, in both themes, and planted bad pages: one too
// wide, one with a script, a broken image, and illegible text.
func TestBrowser(t *testing.T) {
	files, _ := site.Build(os.DirFS("../.."))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		files["dark/"+name] = bytes.ReplaceAll(files[name], []byte("(prefers-color-scheme: dark)"), []byte("all"))
	}
	files["planted/wide.html"] = []byte(`<!doctype html><title>a</title><div style="width:500px">x</div>`)
	files["planted/bad.html"] = []byte(`<!doctype html><title>b</title><body style="color:#000;background:#fff"><script>1</script><img src="data:,x"><table><th style="color:#ccc;background:#fff">x</table>`)
	backs := map[string]bool{}
	for _, p := range open(t, files) {
		switch {
		case p.Page == "/planted/wide.html":
			if p.Needed <= p.Width {
				t.Errorf("a page that is too wide is not seen: %+v", p)
			}
			continue
		case p.Page == "/planted/bad.html":
			if p.Scripts != 1 || len(p.Blind) != 1 || len(p.Faint) != 1 {
				t.Errorf("a script, an image or faint text is not seen: %+v", p)
			}
			continue
		}
		backs[p.Back] = true
		if p.Needed > p.Width || p.Width != 390 {
			t.Errorf("%s is %d wide on a screen of %d", p.Page, p.Needed, p.Width)
		}
		if p.Scripts > 0 || len(p.Blind) > 0 || len(p.Faint) > 0 || p.Title == "" {
			t.Errorf("%s: title %q, %d scripts, images that do not draw %q, hard to read %q", p.Page, p.Title, p.Scripts, p.Blind, p.Faint)
		}
	}
	if len(backs) != 2 {
		t.Errorf("the themes have the backgrounds %q, want two", slices.Sorted(maps.Keys(backs)))
	}
}
