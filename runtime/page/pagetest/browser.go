package pagetest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Harness is the path at which the browser begins.
const Harness = "/harness"

// Inspect are functions for scripts of harnesses: what no reader of a page sees whole, and which of its text is
// faint.
//
//go:embed inspect.js
var Inspect string

// limit bounds the visit of all pages.
const limit = 2 * time.Minute

// outcome is the element into which a harness writes its findings, as JSON.
var outcome = regexp.MustCompile(`(?s)<pre id="outcome">(.*?)</pre>`)

// Open opens the harness that serve answers with, and decodes its outcome into seen. More
// flags may be given to the browser.
func Open(t *testing.T, serve http.HandlerFunc, seen any, flags ...string) {
	t.Helper()
	command := find(t)
	server := httptest.NewServer(serve)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	flags = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--window-size=1400,2000", "--dump-dom",
	}, flags...)
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, command, append(flags, server.URL+Harness)...)
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
	if found == nil || json.Unmarshal([]byte(html.UnescapeString(found[1])), seen) != nil {
		t.Fatalf("the harness says nothing:\n%.2000s", out.String())
	}
}

// find returns a browser that is installed.
func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if inCI() {
		t.Fatal("no browser is here to open pages in: install chromium")
	}
	t.Skip("no browser is here to open pages in: install chromium to run this test")
	return ""
}

// inCI says that what a test needs must be here.
func inCI() bool { return os.Getenv("CI") != "" || os.Getenv("HYPERSCALE_CI") != "" }
