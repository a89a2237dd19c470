package site_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/docs/site"
)

// browser finds one. Where everything is tested its absence is a failure.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") != "" || os.Getenv("HYPERSCALE_CI") != "" {
		t.Fatal("no browser is here to open pages in: install chromium")
	}
	t.Skip("no browser is here to open pages in: install chromium to run this test")
	return ""
}

// seen is what the harness saw of a page on a phone, with all that folds unfolded.
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

var outcome = regexp.MustCompile(`(?s)<pre id="outcome">(.*?)</pre>`)

// open opens all pages of a site in a real browser; it fails if that complains, or asks for
// anything but them.
func open(t *testing.T, files map[string][]byte) (all []seen) {
	t.Helper()
	command := browser(t)
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		content, known := files[strings.TrimPrefix(in.URL.Path, "/")]
		switch {
		case known && path.Ext(in.URL.Path) == ".svg":
			w.Header().Set("Content-Type", "image/svg+xml")
		case in.URL.Path == "/harness":
			content = []byte(strings.ReplaceAll(harness, "PAGES", string(list)))
		case !known && in.URL.Path != "/favicon.ico": // the harness has no icon
			mutex.Lock()
			strange[in.URL.Path] = true
			mutex.Unlock()
		}
		_, _ = w.Write(content) // the browser may be gone
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, command, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--window-size=1400,2000", "--virtual-time-budget=30000", "--dump-dom", server.URL+"/harness")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &log, 5*time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser's console says: %s", line)
		}
	}
	found := outcome.FindStringSubmatch(out.String())
	if found == nil || json.Unmarshal([]byte(html.UnescapeString(found[1])), &all) != nil {
		t.Fatalf("the harness says nothing:\n%.2000s", out.String())
	}
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

// TestBrowser: every page on a phone, as it is and in the dark theme; and planted pages, one too
// wide, one with a script, an image that is none and text that nobody can read.
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
