package remotewrite

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"hyperscale/core/message"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
)

// begin is when the job of these tests began: of late, as a server takes nothing that is an hour older than its newest sample.
var begin = time.Now().Add(-5 * time.Minute).Truncate(time.Second).UTC()

// window is a row from one boundary to the next, whose step has counted n requests by then.
func window(job string, number int, n uint64) outputs.Row {
	return outputs.Row{
		Kind: outputs.RowWindow, Job: job, Test: "t.star", Workflow: "shop", Step: "home", StepKind: message.StepRequest, Started: begin,
		From: time.Duration(number-1) * 10 * time.Second, To: time.Duration(number) * 10 * time.Second,
		Figures: &outputs.Figures{Begun: 1, ActiveUsers: 3}, Sum: &outputs.Figures{Begun: n, OK: n},
	}
}

func opened(t *testing.T, place string) outputs.Sink {
	t.Helper()
	k := Kind()
	s, err := outputs.Parse(&k, place)
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	t.Cleanup(sink.Close)
	return sink
}

func deliver(t *testing.T, s outputs.Sink, number uint64, again bool, rows ...outputs.Row) outputs.Outcome {
	t.Helper()
	return s.Deliver(context.Background(), outputs.Batch{Number: number, Try: 1, Again: again, Rows: rows})
}

// started are the sums of a job's step in the server, by the number of the window.
func started(t *testing.T, address, job string) map[int64]string {
	all := serverstest.PrometheusSamples(t, address, fmt.Sprintf(`hyperscale_rows_requests_started_total{run=%q}`, job), time.Now())
	require.Len(t, all, 1)
	out := map[int64]string{}
	for at, v := range all[0].Samples {
		out[(at-begin.UnixMilli())/10_000] = v
	}
	return out
}

// TestATakeOver: the next owner of a job repeats a batch, and goes on. The server has each sample once, at the time of its row,
// whatever of the batch it had.
func TestATakeOver(t *testing.T) {
	address := serverstest.Prometheus(t)
	for had := range 4 {
		job := fmt.Sprint("had", had)
		batch := []outputs.Row{window(job, 1, 10), window(job, 2, 20), window(job, 3, 30)}
		if had > 0 {
			require.Equal(t, outputs.Delivered(), deliver(t, opened(t, "http://"+address), 1, false, batch[:had]...))
		}
		next := opened(t, "http://"+address)
		require.Equal(t, outputs.Delivered(), deliver(t, next, 1, true, batch...), had)
		require.Equal(t, outputs.Delivered(), deliver(t, next, 2, false, window(job, 4, 40)), had)
		require.Equal(t, map[int64]string{1: "10", 2: "20", 3: "30", 4: "40"}, started(t, address, job))
	}
}

// TestWhatTheServerNeverTakes: samples that another sender makes impossible are rejected with their rows, and those beside
// them are there.
func TestWhatTheServerNeverTakes(t *testing.T) {
	address := serverstest.Prometheus(t)
	s := opened(t, "http://"+address)
	require.Equal(t, outputs.Delivered(), deliver(t, s, 1, false, window("a", 2, 20)))
	for _, c := range []struct {
		again bool
		row   outputs.Row
		want  string
	}{
		{false, window("a", 1, 10), "out of order sample): another sender writes these series: give each sink tags of its own"},
		{false, window("a", 2, 21), "another sender writes other values of these series: give each sink tags of its own"},
		{true, window("a", 2, 21), "another sender writes other values of these series: give each sink tags of its own"},
	} {
		beside := window("b", int(c.row.To/(10*time.Second)), 5)
		out := deliver(t, s, 2, c.again, c.row, beside)
		require.Equal(t, []any{outputs.VerdictRejected, []int{0, 1}}, []any{out.Verdict, out.Rows}, "a request has one time: %s", out.Why)
		require.Contains(t, out.Why, c.want)
	}
	out := deliver(t, s, 3, false, window("a", 1, 10), window("b", 3, 6))
	require.Equal(t, []int{0}, out.Rows, out.Why)
	require.Equal(t, map[int64]string{3: "6"}, started(t, address, "b"))
	old := window("c", 1, 1)
	old.Started = begin.Add(-3 * time.Hour)
	out = deliver(t, s, 4, false, old)
	require.Contains(t, out.Why, "the server takes nothing so old: set its storage.tsdb.out_of_order_time_window")
	bare := window("d", 1, 1)
	bare.Sum = nil
	out = deliver(t, s, 5, false, window("d", 2, 1), bare)
	require.Equal(t, []any{outputs.VerdictRejected, []int{1}}, []any{out.Verdict, out.Rows})
	require.Contains(t, out.Why, "rows without sums")
}

// TestATryGoesOn: what the server has taken of a batch is not sent again, and rows that it rejected stay rejected.
func TestATryGoesOn(t *testing.T) {
	var asked int
	const took, never, busy = http.StatusNoContent, http.StatusBadRequest, http.StatusServiceUnavailable
	answers := []int{took, took, never, took, busy, took, took, took, took} // counters, then gauges, of each time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[asked])
		asked++
	}))
	defer server.Close()
	s := opened(t, server.URL)
	rows := []outputs.Row{window("a", 1, 10), window("a", 2, 20), window("a", 3, 30)}
	require.Equal(t, outputs.VerdictAgain, deliver(t, s, 1, false, rows...).Verdict)
	require.Equal(t, 5, asked)
	out := deliver(t, s, 1, false, rows...)
	require.Equal(t, []any{outputs.VerdictRejected, []int{1}, 7}, []any{out.Verdict, out.Rows, asked})
	require.Equal(t, outputs.Delivered(), deliver(t, s, 2, false, window("a", 4, 40)))
}

// TestCredentials: each is sent as its server reads it, and anew from its file.
func TestCredentials(t *testing.T) {
	var head http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head = r.Header
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "secret")
	for _, c := range []struct{ options, secret, want string }{
		{",user=me,password_file=" + file, "marked", "Basic bWU6bWFya2Vk"},
		{",token_file=" + file, "marked", "Bearer marked"},
		{",tenant=shop", "", ""},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.secret+"\n"), 0o600))
		out := deliver(t, opened(t, server.URL+c.options), 1, false, window("a", 1, 1))
		require.Equal(t, outputs.VerdictDenied, out.Verdict, out.Why)
		require.Equal(t, c.want, head.Get("Authorization"))
		require.NotContains(t, out.Why, "marked")
		require.NotContains(t, out.Why, "bWU6bWFya2Vk")
	}
	require.Equal(t, "shop", head.Get("X-Scope-Orgid"))
}

// TestMistakes name the option and the remedy.
func TestMistakes(t *testing.T) {
	k := Kind()
	for _, c := range []struct{ place, want string }{
		{"127.0.0.1:9090", "is no address: write http://HOST:PORT/api/v1/write"},
		{"http://me@h:9090", "an address with a user or a fragment: leave it out, and give user and password_file"},
		{"http://h,prefix=9a", `prefix = "9a" begins no name of a metric`},
		{"http://h,user=me", `user = "me": give user and password_file or password_env together`},
		{"http://h,password_file=f", `user = "": give user and password_file or password_env together`},
		{"http://h,user=me,password_file=f,token_file=g", `token: give either it, or user = "me" with its password`},
		{"http://h,user=a:b,password_file=f", "a user no colon"},
	} {
		s, err := outputs.Parse(&k, c.place)
		require.NoError(t, err, c.place)
		_, err = k.Open(s)
		require.ErrorContains(t, err, c.want, c.place)
	}
}

// A page says nothing of samples: an address of something else answers with one.
func TestAPageIsNoAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<html>it works</html>"))
	}))
	defer server.Close()
	s := opened(t, server.URL)
	require.ErrorContains(t, s.Check(t.Context()), "answered with a page: correct the address")
	require.Equal(t, outputs.VerdictRejected, deliver(t, s, 1, false, window("a", 1, 10)).Verdict)
}

// Steps whose names differ in bytes that no label can have are series of their own.
func TestNamesThatAreNoText(t *testing.T) {
	rows := []outputs.Row{window("a", 1, 10), window("a", 1, 20), window("a", 1, 30)}
	alone := len(momentsOf(rows[:1], "x_")[0].counted.samples)
	for i, name := range []string{"caf\xe8", "caf\xe9", "caf\uFFFD"} {
		rows[i].Step = name
		rows[i].Test = "t\xff.star"
	}
	m := momentsOf(rows, "x_")[0]
	require.Len(t, m.counted.samples, 3*alone)
	for _, s := range m.counted.samples {
		for _, l := range s.Labels {
			require.True(t, utf8.ValidString(l[1]), "%q", l)
		}
	}
}
