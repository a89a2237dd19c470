package live

import (
	"embed"
	"net/http"
	"strings"

	"hyperscale/runtime/page"
)

//go:embed web/*.js web/live.css web/live.html
var web embed.FS

// policy lets a page load what its own server has, and nothing else (LIVE-2).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Assets answers requests for the pages, and for their scripts and styles below /live/.
func Assets() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", sendFile("web/live.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /cluster", sendFile("web/live.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /jobs/{job}", sendFile("web/live.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /live/page.css", func(w http.ResponseWriter, _ *http.Request) {
		head(w, "text/css; charset=utf-8")
		_, _ = w.Write([]byte(page.Style())) // the browser has gone
	})
	mux.HandleFunc("GET /live/live.css", sendFile("web/live.css", "text/css; charset=utf-8"))
	all, err := web.ReadDir("web")
	if err != nil { // of files that are part of the binary there is none
		panic(err)
	}
	for _, f := range all {
		if strings.HasSuffix(f.Name(), ".js") {
			mux.HandleFunc("GET /live/"+f.Name(), sendFile("web/"+f.Name(), "text/javascript; charset=utf-8"))
		}
	}
	return mux
}

func sendFile(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, err := web.ReadFile(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		head(w, kind)
		_, _ = w.Write(b) // the browser has gone
	}
}

func head(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // a newer binary has newer ones
}
