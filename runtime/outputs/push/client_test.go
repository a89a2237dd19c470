package push

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hyperscale/runtime/outputs"
)

// FuzzAnswerText: what people see of an answer is short, one line, and has no secret of the request, however it is cut.
func FuzzAnswerText(f *testing.F) {
	const secret = "hush-hush-secret"
	f.Add("no "+secret+" may", 400, "120")
	f.Add(strings.Repeat(" ", 16<<10-5)+secret, 500, "Wed, 21 Oct 2026 07:28:00 GMT")
	f.Add("\x1b[31m\u202e"+secret[:8]+"\n"+secret, 302, "-1")
	f.Fuzz(func(t *testing.T, body string, status int, after string) {
		a := &answer{status: status, header: http.Header{"Retry-After": {after}}, body: []byte(body), hide: []string{secret}}
		text := a.text()
		if strings.Contains(text, secret[:12]) && !strings.Contains(strings.ReplaceAll(body, secret, ""), secret[:12]) || strings.ContainsAny(text, "\n\r\x1b") || len(text) > shownMax+100 || !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
		if d := a.after(time.Unix(0, 0)); d < 0 || d > afterMax {
			t.Fatal(d)
		}
		out := standard(outputs.Batch{Rows: make([]outputs.Row, 2)}, a)
		if out.Verdict == outputs.VerdictDelivered != (status/100 == 2) {
			t.Fatalf("%d: %+v", status, out)
		}
	})
}

// An answer that breaks off may end within a secret: nothing of it is shown.
func TestAnswersThatBreakOff(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte("the token hush-hu"))
	}))
	defer s.Close()
	sign := func(*http.Request, []byte) ([]string, error) { return []string{"hush-hush-secret"}, nil }
	a, failed := newClient().do(t.Context(), &call{method: http.MethodPost, url: s.URL, sign: sign})
	if failed != nil || strings.Contains(a.text(), "hush") || !strings.Contains(a.text(), "400") {
		t.Errorf("%+v, %v", a, failed)
	}
	err := newClient().lines(t.Context(), &call{method: http.MethodGet, url: s.URL, sign: sign}, standard, nil)
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

// What each answer means for the batch, and that no redirect is followed.
func TestStandard(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", "/200")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
	}))
	defer server.Close()
	rows := windows("j", "s", 2)
	for status, want := range map[int]outputs.Outcome{
		200: {Verdict: outputs.VerdictDelivered}, 204: {Verdict: outputs.VerdictDelivered},
		302: {Verdict: outputs.VerdictRejected}, 307: {Verdict: outputs.VerdictRejected},
		400: {Verdict: outputs.VerdictRejected}, 401: {Verdict: outputs.VerdictDenied}, 403: {Verdict: outputs.VerdictDenied},
		404: {Verdict: outputs.VerdictRejected}, 408: {Verdict: outputs.VerdictAgain, After: 7 * time.Second},
		413: {Verdict: outputs.VerdictSmaller}, 429: {Verdict: outputs.VerdictAgain, After: 7 * time.Second}, 503: {Verdict: outputs.VerdictAgain, After: 7 * time.Second},
	} {
		s := open(t, Webhook(), fmt.Sprintf("%s/%d", server.URL, status))
		before := asked
		out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
		if out.Verdict != want.Verdict || out.After != want.After || asked != before+1 {
			t.Errorf("%d: %+v after %d requests", status, out, asked-before)
		}
	}
}
