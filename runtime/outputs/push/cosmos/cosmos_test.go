package cosmos

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
)

// container is one of documents, each with its version.
type container struct {
	mu       sync.Mutex
	versions map[string]string
	asked    []string
	status   int // of the next write; 0: it is taken
	writes   int
	every    int  // each write of that number is throttled; 0: none
	bare     bool // answers have no ETag, and writes need none
}

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.Method)
	b, _ := io.ReadAll(r.Body)
	var in struct{ ID, Version string }
	_ = json.Unmarshal(b, &in)
	if r.Method == http.MethodGet {
		version := c.versions[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		if !c.bare {
			w.Header().Set("Etag", "of "+version)
		}
		_, _ = fmt.Fprintf(w, `{"version":%q}`, version)
		return
	}
	if c.writes++; c.every > 0 && c.writes%c.every == 0 {
		c.status = http.StatusTooManyRequests
	}
	if status := c.status; status != 0 {
		c.status = 0
		w.Header().Set("x-ms-retry-after-ms", "1500")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"code":"Reason","message":"it is so\r\nActivityId: 1"}`))
		return
	}
	was, there := c.versions[in.ID]
	switch {
	case r.Method == http.MethodPost && there:
		w.WriteHeader(http.StatusConflict)
		return
	case r.Method == http.MethodPut && !c.bare && r.Header.Get("If-Match") != "of "+was:
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	c.versions[in.ID] = in.Version
}

func (c *container) open(t *testing.T) outputs.Sink {
	c.versions = map[string]string{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("COSMOS_KEY", "c2VjcmV0LWtleQ==")
	k := Kind()
	set, err := outputs.Parse(&k, server.URL+",database=d,container=c,key_env=COSMOS_KEY")
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Open(set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestOlderRowsReplaceNothing(t *testing.T) {
	c := &container{}
	s := c.open(t)
	rows := outputstest.Rows("job")[:1]
	for i, n := range []uint64{7, 7, 9, 8} {
		rows[0].Version.Set(0, n)
		if out := s.Deliver(t.Context(), outputs.Batch{Number: uint64(i + 1), Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
			t.Fatal(out)
		}
	}
	if got := c.versions[idOf(&rows[0])]; !strings.HasSuffix(got, "09") {
		t.Fatalf("the container has version %s, not the greatest one", got)
	}
	if got := fmt.Sprint(c.asked); got != "[POST POST GET POST GET PUT POST GET]" {
		t.Fatal(got)
	}
}

// A document without an ETag may have changed since it was read.
func TestAnswersWithoutAnETag(t *testing.T) {
	c := &container{bare: true}
	s := c.open(t)
	rows := outputstest.Rows("job")[:1]
	rows[0].Version.Set(0, 7)
	if out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	rows[0].Version.Set(0, 9)
	out := s.Deliver(t.Context(), outputs.Batch{Number: 2, Try: 1, Rows: rows})
	if got := c.versions[idOf(&rows[0])]; out.Verdict != outputs.VerdictAgain || !strings.Contains(out.Why, "no ETag") || !strings.HasSuffix(got, "07") {
		t.Fatalf("it replaces version %s: %+v", got, out)
	}
}

func TestRepeatedTryGoesOn(t *testing.T) {
	c := &container{}
	s := c.open(t)
	rows := outputstest.Rows("job")[:6]
	b := outputs.Batch{Number: 3, Try: 1, Rows: rows[:3]}
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
	c.asked = nil
	b = outputs.Batch{Number: 4, Try: 1, Rows: rows[2:]} // the first one is there
	for _, want := range []struct {
		status int
		out    outputs.Verdict
		after  time.Duration
	}{{429, outputs.VerdictAgain, 1500 * time.Millisecond}, {449, outputs.VerdictAgain, 0}, {503, outputs.VerdictAgain, 0}, {401, outputs.VerdictDenied, 0}} {
		c.status = want.status
		out := s.Deliver(t.Context(), b)
		if out.Verdict != want.out || out.After != want.after || !strings.Contains(out.Why, "Reason: it is so") || strings.Contains(out.Why, "Activity") || strings.Contains(out.Why, "c2Vj") {
			t.Fatalf("%d: %+v", want.status, out)
		}
	}
	if len(c.versions) != 3 {
		t.Fatalf("%d documents", len(c.versions))
	}
	c.status = 413
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictRejected || fmt.Sprint(out.Rows) != "[0]" {
		t.Fatalf("%+v", out)
	}
	if len(c.versions) != 6 {
		t.Fatalf("%d documents", len(c.versions))
	}
}

func TestThrottledBatchRepeatsNoRow(t *testing.T) {
	c := &container{every: 3}
	s := c.open(t)
	b := outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("job")[:8]}
	for b.Try < 20 && s.Deliver(t.Context(), b).Verdict != outputs.VerdictDelivered {
		b.Try++
	}
	if n := len(c.asked); n != 8+3 || b.Try != 4 || len(c.versions) != 8 {
		t.Fatalf("%d requests in %d tries for 8 rows and 3 that were throttled", n, b.Try)
	}
}

// FuzzPartition: a head of any job is ASCII, and says that job.
func FuzzPartition(f *testing.F) {
	f.Add("job")
	f.Add("größe 🚀 \"\\\n\x7f")
	f.Fuzz(func(t *testing.T, job string) {
		head := partitionOf(&outputs.Row{Job: job})
		for _, c := range []byte(head) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q", head)
			}
		}
		var back []string
		if err := json.Unmarshal([]byte(head), &back); err != nil || len(back) != 1 || back[0] != strings.ToValidUTF8(job, "\ufffd") && strings.ToValidUTF8(job, "") == job {
			t.Fatalf("%q is %q: %v", head, back, err)
		}
	})
}
