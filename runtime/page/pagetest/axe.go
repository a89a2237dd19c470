package pagetest

import (
	_ "embed"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// axeVersion is the axe-core that judges pages.
const axeVersion = "4.14.1"

// judge opens a page in a frame, lets axe-core judge it in both themes, and writes what it says against the page.
//
//go:embed axe.html
var judge string

// Looked is a page that axe-core judges.
type Looked struct {
	Path  string
	Width int
	Ready string // an expression of JavaScript: the page shows what it has; doc is its document. Empty: it does at once
}

// Violations are what axe-core has against a page, with all of its rules, in each theme. The page's policy must let scripts
// in: serve leaves it out.
func Violations(t *testing.T, serve http.HandlerFunc, p Looked) (all []string) {
	t.Helper()
	script := axe(t)
	done := make(chan struct{})
	ready := p.Ready
	if ready == "" {
		ready = "true"
	}
	var once sync.Once
	fill := strings.NewReplacer("WIDTH", strconv.Itoa(p.Width), "PAGE", p.Path, "READY", ready)
	Open(t, func(w http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case Harness:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(fill.Replace(judge))) // the browser may be gone
		case "/axe.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(script) // the same
		case "/axe-wait": // the browser prints the page once this has come
			select {
			case <-done:
			case <-in.Context().Done():
			}
		case "/axe-done":
			once.Do(func() { close(done) })
		case "/favicon.ico": // the harness has no icon
			w.WriteHeader(http.StatusNotFound)
		default:
			serve(w, in)
		}
	}, &all)
	return all
}

// axe is the script of axe-core, from npm, in a folder below out.
func axe(t *testing.T) []byte {
	t.Helper()
	_, own, _, _ := runtime.Caller(0)
	folder := filepath.Join(filepath.Dir(own), "..", "..", "..", "out", "vendors", "_axe-"+axeVersion)
	file := filepath.Join(folder, "node_modules", "axe-core", "axe.min.js")
	if b, err := os.ReadFile(file); err == nil {
		return b
	}
	// Tests of two packages may install it at once: each into a folder of its own, of which the first gets the name.
	own = folder + "-" + strconv.Itoa(os.Getpid())
	defer func() { _ = os.RemoveAll(own) }() // it has the other name by then, or is of no use
	said, err := exec.CommandContext(t.Context(), "npm", "install", "--prefix", own, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@"+axeVersion).CombinedOutput()
	if os.Rename(own, folder) != nil { // another one was first, and its files are there, or it was killed
		if _, whole := os.Stat(file); whole != nil {
			file = filepath.Join(own, "node_modules", "axe-core", "axe.min.js")
		}
	}
	b, unread := os.ReadFile(file)
	if err == nil {
		err = unread
	}
	if err != nil && inCI() {
		t.Fatalf("npm cannot install axe-core: %v\n%s", err, said)
	}
	if err != nil {
		t.Skipf("SKIPPED: npm cannot install axe-core, which judges pages: %v\n%s", err, said)
	}
	return b
}
