package site_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
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
func open(t *testing.T, files map[string][]byte, theme string) (all []seen) {
	t.Helper()
	command := browser(t)
	var mutex sync.Mutex
	strange := map[string]bool{}
	var pages []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) == ".html" && (path.Dir(name) != "files/examples" || path.Base(name) == "index.html" || path.Base(name) == "session.star.html") { // one file for all
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, command, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", theme,
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--window-size=1400,2000", "--virtual-time-budget=60000", "--dump-dom", server.URL+"/harness")
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

// TestBrowser: every page on a phone, in both themes.
func TestBrowser(t *testing.T) {
	files, _ := site.Build(os.DirFS("../.."))
	backs := map[string]bool{}
	for _, theme := range []string{"--blink-settings=preferredColorScheme=1", "--blink-settings=preferredColorScheme=0"} {
		all := open(t, files, theme)
		for _, p := range all {
			backs[p.Back] = true
			if p.Needed > p.Width || p.Width != 390 {
				t.Errorf("%s is %d wide on a screen of %d", p.Page, p.Needed, p.Width)
			}
			if p.Scripts > 0 || len(p.Blind) > 0 || len(p.Faint) > 0 || p.Title == "" {
				t.Errorf("%s: title %q, %d scripts, images that do not draw %q, hard to read %q", p.Page, p.Title, p.Scripts, p.Blind, p.Faint)
			}
		}
	}
	if len(backs) != 2 {
		t.Errorf("the themes have the backgrounds %v, want two", fmt.Sprint(slices.Sorted(maps.Keys(backs))))
	}
}

// TestBrowserSeesFaults: a page that is too wide, has a script or an image that is not there.
func TestBrowserSeesFaults(t *testing.T) {
	all := open(t, map[string][]byte{
		"a.html": []byte(`<!doctype html><title>a</title><div style="width:500px">x</div>`),
		"b.html": []byte(`<!doctype html><title>b</title><meta name="viewport" content="width=device-width"><script>1</script><img src="data:,x"><th style="color:#ccc">x`),
	}, "--blink-settings=preferredColorScheme=1")
	if len(all) != 2 || all[0].Needed <= all[0].Width || all[1].Scripts != 1 || len(all[1].Blind) != 1 {
		t.Errorf("got %+v", all)
	}
}
