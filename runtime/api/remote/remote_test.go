package remote

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api"
	"hyperscale/runtime/api/frames"
)

func status(s message.JobState, elapsed time.Duration) *message.JobStatus {
	return &message.JobStatus{Request: asking, Job: job, State: s, Elapsed: elapsed}
}

func ended(n uint32) *message.WorkflowEnded {
	return &message.WorkflowEnded{Request: asking, Job: job, Number: n, State: message.WorkflowCompleted}
}

func result() *message.JobResult {
	return &message.JobResult{Request: asking, Result: message.Result{Job: job, State: message.JobCompleted}}
}

// TestWatchContinues: streams that break anywhere, at any gate, lose no end of a workflow, tell none twice, and show
// nothing that goes back.
func TestWatchContinues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ends := uint32(rapid.IntRange(0, 6).Draw(rt, "ends"))
		cuts := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 6).Draw(rt, "cuts")
		back := rapid.Bool().Draw(rt, "the next gate is behind")
		tries := 0
		serve := func(_ int, w http.ResponseWriter, after uint32) {
			var all []node.Message
			elapsed := time.Duration(after) * time.Second
			if back && tries > 0 {
				all, elapsed = append(all, status(message.JobQueued, elapsed)), elapsed-time.Nanosecond
			}
			all = append(all, status(message.JobRunning, elapsed))
			for n := after + 1; n <= ends; n++ {
				all = append(all, ended(n), status(message.JobRunning, time.Duration(n)*time.Second))
			}
			all = append(all, result())
			if tries < len(cuts) {
				all = all[:min(cuts[tries], len(all)-1)]
			}
			tries++
			say(w, all...)
		}
		var g *gate
		f := func(n int, w http.ResponseWriter, _ *http.Request) {
			g.mu.Lock()
			after := g.asked[n].(*message.JobWatch).After
			g.mu.Unlock()
			serve(n, w, after)
		}
		g = behaves(t, f)
		defer g.Close()
		c := dial(t, nil, g)
		c.waits.Base, c.waits.Least = time.Millisecond, 0
		got, err := c.all(t, &message.JobWatch{Job: job})
		c.Close()
		require.NoError(rt, err)
		told, last, progress := uint32(0), time.Duration(0), 0
		for i, m := range got {
			switch m := m.(type) {
			case *message.WorkflowEnded:
				require.Equal(rt, told+1, m.Number)
				told++
			case *message.JobStatus:
				now := map[message.JobState]int{message.JobQueued: 1, message.JobRunning: 2}[m.State]
				require.True(rt, now > progress || now == progress && m.Elapsed >= last, "%v after %v", m.Elapsed, last)
				progress, last = now, m.Elapsed
			case *message.JobResult:
				require.Equal(rt, len(got)-1, i)
			}
		}
		require.Equal(rt, ends, told)
		require.IsType(rt, &message.JobResult{}, got[len(got)-1])
	})
}

// TestNextGateAnswers: one gate is gone, one is no gate, one is busy: the fourth answers, and is asked first from then on.
func TestNextGateAnswers(t *testing.T) {
	gone := behaves(t, nil)
	gone.Close()
	half := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", frames.Type)
		_, _ = w.Write([]byte{0, 0, 0, 9, 1}) // the client may be gone
	})
	busy := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusServiceUnavailable, "no room", 600)
	})
	good := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) { say(w, status(message.JobRunning, 0)) })
	c := dial(t, nil, gone, half, busy, good)
	for range 2 {
		got, err := c.all(t, &message.JobQuery{Job: job})
		require.NoError(t, err)
		require.Len(t, got, 1)
	}
	require.Equal(t, []int{1, 1, 2}, []int{half.count(), busy.count(), good.count()})
	require.Equal(t, "Bearer the-token", good.heads[0].Get("Authorization"))
	require.NotEqual(t, good.asked[0].(*message.JobQuery).Request, good.asked[1].(*message.JobQuery).Request, "each try has a request of its own")
}

// TestBusyGateIsObeyed: the only gate asks to wait. The client waits as long, says so, and asks again. It gives up at once
// where the wait is longer than the time that the question has.
func TestBusyGateIsObeyed(t *testing.T) {
	var at [2]time.Time
	busy := behaves(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		at[min(n, 1)] = time.Now()
		if n == 0 {
			refuse(w, http.StatusTooManyRequests, "the token ci has 16 calls here", 1)
			return
		}
		say(w, &message.JobAck{Request: asking, Job: job})
	})
	var told noted
	got, err := dial(t, func(c *Config) { c.Note = told.note }, busy).all(t, &message.JobSubmit{Key: "k", Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.GreaterOrEqual(t, at[1].Sub(at[0]), 990*time.Millisecond)
	require.Regexp(t, `API http://\S+: the token ci has 16 calls here: the next try is in 1s`, told.String())

	full := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusServiceUnavailable, "as many calls as it may", 600)
	})
	_, err = dial(t, nil, full).all(t, &message.JobQuery{Job: job})
	require.ErrorContains(t, err, "no answer within 1m0s: API "+full.URL+": as many calls as it may")
	require.Equal(t, 1, full.count())
}

// TestRejections: a gate's rejection is an answer. One that may pass is asked again until the time is over.
func TestRejections(t *testing.T) {
	for _, c := range []struct {
		m     node.Message
		code  message.Code
		again bool
	}{
		{&message.JobQuery{Job: job}, message.CodeUnknownJob, false},
		{&message.JobQuery{Job: job}, message.CodeUnreachable, true},
		{&message.JobQuery{Job: job}, message.CodeOverloaded, true},
		{&message.JobSubmit{Key: "k", Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}}, message.CodeQueueFull, false},
		{&message.JobSubmit{Key: "k", Program: message.Program{Main: "a"}, Plan: message.Plan{Source: "a"}}, message.CodeQuorumTimeout, true},
		{&message.JobWatch{Job: job}, message.CodeResultForgotten, false},
	} {
		g := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			say(w, &message.Refused{Request: asking, Code: c.code})
		})
		got, err := dial(t, func(c *Config) { c.Answer = 1500 * time.Millisecond }, g).all(t, c.m)
		require.NoError(t, err, "%T %v", c.m, c.code)
		require.Len(t, got, 1)
		require.Equal(t, c.code, got[0].(*message.Refused).Code)
		if !c.again {
			require.Equal(t, 1, g.count(), "%T %v", c.m, c.code)
		}
	}
}

// TestOthersAnswer: what no retry mends ends at once, with the remedy, and without the token.
func TestOthersAnswer(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(int, http.ResponseWriter, *http.Request)
		setup bool
		says  string
	}{
		{"a page", text(200, "text/html", "<html>"), true, `answers with "text/html"`},
		{"401", text(401, "text/plain", "no"), false, "401 Unauthorized: give a token of `hyperscale token new` to --token-file, or"},
		{"403 of a proxy", text(403, "text/plain", "no"), false, "use a token of a role that may do it"},
		{"403", func(_ int, w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "a viewer may not", 0) }, false, ": a viewer may not"},
		{"404", text(404, "text/plain", "no"), true, "give --api the address of a gate's API"},
		{"an older gate", func(_ int, w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "nothing is here", 0) }, true, "it has no /v1/ask: give --api"},
		{"413", text(413, "text/plain", "no"), true, "let the proxy before the gate pass 1 MiB"},
		{"422", func(_ int, w http.ResponseWriter, _ *http.Request) { refuse(w, 422, "secrets in clear: do this", 0) }, true, "secrets in clear: do this"},
		{"a redirect", func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example.org/", http.StatusTemporaryRedirect)
		}, true, `leads to "https://evil.example.org/"`},
		{"control bytes", text(401, "application/json", `{"error":{"code":"c","message":"a\u001b[31m b"}}`), false, ": a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := behaves(t, c.f)
			_, err := dial(t, nil, g).all(t, &message.JobQuery{Job: job})
			var known *Error
			require.ErrorAs(t, err, &known)
			require.Equal(t, c.setup, known.Setup)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "the-token")
			require.Equal(t, 1, g.count())
		})
	}
}

// TestHostileServers: endless, huge, silent and false answers are tried again, and end with the time of the question.
func TestHostileServers(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"a huge frame", "\xff\xff\xff\xff", "above the bound"},
		{"no frame", "\x00\x00\x00\x05hello", "something else than frames"},
		{"half a frame", "\x00\x00\x00\x05he", "its answer broke off"},
		{"half a length", "\x00\x00", "its answer broke off"},
		{"nothing", "", "its answer broke off"},
		{"beats alone", strings.Repeat("\x00", 4000), "its answer broke off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := behaves(t, text(200, frames.Type, c.body))
			_, err := dial(t, func(c *Config) { c.Answer = 3 * time.Second }, g).all(t, &message.JobQuery{Job: job})
			require.ErrorContains(t, err, c.says)
		})
	}
	t.Run("it hangs", func(t *testing.T) {
		free := make(chan struct{})
		g := behaves(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			say(w)
			<-free
		})
		defer close(free)
		_, err := dial(t, func(c *Config) { c.Answer = 200 * time.Millisecond }, g).all(t, &message.JobQuery{Job: job})
		require.ErrorContains(t, err, "no answer within 200ms")
	})
	t.Run("a gate is gone", func(t *testing.T) {
		g := behaves(t, nil)
		g.Close()
		_, err := dial(t, func(c *Config) { c.Reach = 200 * time.Millisecond }, g).all(t, &message.JobQuery{Job: job})
		require.ErrorContains(t, err, "no answer within 200ms: API "+g.URL+": dial tcp")
		require.NotContains(t, err.Error(), "Post")
	})
	t.Run("of another job, or out of turn", func(t *testing.T) {
		g := behaves(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			switch n {
			case 0:
				other := status(message.JobRunning, 0)
				other.Job = message.JobID{2}
				say(w, other)
			case 1:
				say(w, ended(2))
			default:
				say(w, ended(1), result())
			}
		})
		got, err := dial(t, nil, g).all(t, &message.JobWatch{Job: job})
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, 3, g.count())
	})
}

// TestKeysFollowJobs: the API says which job a key names, and a cancellation of that job has the key.
func TestKeysFollowJobs(t *testing.T) {
	g := behaves(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/whoami" {
			text(200, "application/json", `{"name":"ci","role":"submitter","until":"","job":"`+job.String()+`"}`)(n, w, r)
			return
		}
		say(w, &message.JobCancelAck{Request: asking, Job: job, State: message.JobCancelling})
	})
	c := dial(t, nil, g)
	got, err := c.Job(context.Background(), "build-1")
	require.NoError(t, err)
	require.Equal(t, job, got)
	for _, m := range []*message.JobCancel{{Job: job}, {Job: message.JobID{2}}} {
		_, err := c.all(t, m)
		require.NoError(t, err)
	}
	require.Equal(t, "build-1", g.heads[0].Get(api.KeyHeader))
	require.Equal(t, "build-1", g.heads[1].Get(api.KeyHeader))
	require.Empty(t, g.heads[2].Get(api.KeyHeader), "of another job")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = c.Job(ctx, "build-2")
	require.ErrorIs(t, err, context.Canceled)
}

// TestAddresses: which addresses, tokens and authorities a client takes.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct{ url, says string }{
		{"https://gates.example.org", ""}, {"https://gates.example.org/hyperscale/", ""}, {"http://127.0.0.1:7480", ""}, {"http://localhost", ""}, {"http://[::1]:1", ""},
		{"http://10.0.0.1:7480", "tokens leave no machine in clear text"}, {"gate-1:7480", "is no address of an API"}, {"", "is no address"},
		{"https://user:hunter2@gates", "is no address"}, {"ftp://gates", "is no address"}, {"https://gates?x=1", "is no address"},
	} {
		made, err := New(Config{URLs: []string{c.url}})
		if c.says == "" {
			require.NoError(t, err, c.url)
			require.Equal(t, strings.TrimSuffix(c.url, "/"), made.gates[0])
			continue
		}
		require.ErrorContains(t, err, c.says)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := New(Config{URLs: make([]string, gatesMax+1)})
	require.ErrorContains(t, err, "64 is the bound")
	_, err = New(Config{URLs: []string{"https://g"}, CA: file("ca", "no PEM")})
	require.ErrorContains(t, err, "has no certificate: name a PEM file")
	token, err := ReadToken(file("token", " abc\n"))
	require.NoError(t, err)
	require.Equal(t, "abc", token)
	for _, text := range []string{"", "\n", "a\nb", "a b", strings.Repeat("a", tokenMax+1)} {
		_, err := ReadToken(file("bad", text))
		require.ErrorContains(t, err, "--token-file")
	}
}

// TestWaitsOfServers: how long a server may ask to wait.
func TestWaitsOfServers(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	for _, c := range []struct {
		head string
		want time.Duration
	}{
		{"", 0}, {"5", 5 * time.Second}, {" 7 ", 7 * time.Second}, {"-1", 0}, {"soon", 0}, {"99999999", afterMax},
		{now.Add(30 * time.Second).UTC().Format(http.TimeFormat), 30 * time.Second}, {now.Add(-time.Hour).UTC().Format(http.TimeFormat), 0},
	} {
		require.Equal(t, c.want, afterOf(http.Header{"Retry-After": {c.head}}, now), c.head)
	}
}

// A client that submits more jobs than it remembers keys of cancels the newest ones by their keys.
func TestTheNewestKeysStay(t *testing.T) {
	c, err := New(Config{URLs: []string{"http://127.0.0.1:1"}})
	require.NoError(t, err)
	defer c.Close()
	job := func(n int) message.JobID { return message.JobID{1, byte(n >> 8), byte(n)} }
	for n := range keysMax + 7 {
		c.Own(job(n), fmt.Sprint("key ", n))
		c.Own(job(n), fmt.Sprint("key ", n)) // again: it takes no room
	}
	require.Empty(t, c.keyOf(job(6)), "the oldest are forgotten")
	require.Equal(t, "key 7", c.keyOf(job(7)))
	require.Equal(t, fmt.Sprint("key ", keysMax+6), c.keyOf(job(keysMax+6)))
	require.Len(t, c.keys, keysMax)
	require.Len(t, c.owned, keysMax)
}
