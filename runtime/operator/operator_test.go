package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/runtime/operator/operatortest"
	"hyperscale/runtime/report"
)

const (
	kubeToken  = "MARKED-KUBE"
	gatesToken = "MARKED-GATES"
)

// world is an operator between two doubles, on a virtual clock.
type world struct {
	t      *testing.T
	kube   *operatortest.Kube
	gates  *operatortest.Gates
	config Config
	log    bytes.Buffer
	stop   context.CancelFunc
}

// inWorld runs a test in a bubble; replicas of the operator run until it ends.
func inWorld(t *testing.T, replicas int, test func(w *world)) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"kube": kubeToken + "\n", "gates": gatesToken} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, kube: operatortest.NewKube(), gates: operatortest.NewGates()}
		w.kube.Bookmarks = 20 * time.Second
		w.kube.SetToken(func() string { return kubeToken })
		w.config = Config{
			Label: "prod", Namespaces: []string{"shop", "search"}, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
			Kube:  Side{URL: "https://kube", Token: filepath.Join(folder, "kube"), Transport: operatortest.Direct{Handler: w.kube}},
			Gates: Side{URL: "https://gates", Token: filepath.Join(folder, "gates"), Transport: operatortest.Direct{Handler: w.gates}},
		}
		w.run(replicas)
		defer func() {
			w.stop()
			synctest.Wait()
			for _, secret := range []string{kubeToken, gatesToken, "MARKED-NEW"} {
				require.NotContains(t, w.log.String(), secret)
			}
		}()
		test(w)
	})
}

// run starts replicas; w.stop ends them.
func (w *world) run(replicas int) {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	for range replicas {
		o, err := New(w.config)
		require.NoError(w.t, err)
		go o.Run(ctx)
	}
}

// within waits until something holds, and fails once so much time has passed.
func (w *world) within(d time.Duration, what string, is func() bool) {
	w.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		synctest.Wait()
		if is() {
			return
		}
		require.LessOrEqual(w.t, time.Since(began), d, what)
	}
}

// logged counts what the log says while all replicas wait.
func (w *world) logged(text string) int {
	synctest.Wait()
	return strings.Count(w.log.String(), text)
}

func (w *world) phase(namespace, name string) string {
	s := w.kube.Status(namespace, name)
	if s == nil {
		return ""
	}
	text, _ := s["phase"].(string)
	return text
}

// is says that an object has a condition.
func (w *world) is(namespace, name, kind, status string) bool {
	all, _ := w.kube.Status(namespace, name)["conditions"].([]any)
	return slices.ContainsFunc(all, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == kind && m["status"] == status
	})
}

func (w *world) count(kind string, since time.Time) (n int) {
	for _, c := range w.kube.Calls() {
		if c.Kind == kind && c.At.After(since) {
			n++
		}
	}
	return n
}

// submit submits a job that is of no object.
func (w *world) submit(key, name string) {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, "https://gates/v1/jobs", strings.NewReader(`{"name":"`+name+`","main":"m","files":{"m":"x"}}`))
	require.NoError(w.t, err)
	r.Header.Set("Idempotency-Key", key)
	answer, err := operatortest.Direct{Handler: w.gates}.RoundTrip(r)
	require.NoError(w.t, err)
	require.NoError(w.t, answer.Body.Close())
}

func inline(text string) operatortest.Object {
	return operatortest.Object{"program": map[string]any{"inline": text}}
}

// job is the job of a UID.
func (w *world) job(uid string) (found operatortest.Job) {
	w.gates.Edit(uid, func(j *operatortest.Job) { found = *j })
	return found
}

// TestLifeOfATest: from the object to the verdict, with what the gates get and what people see.
func TestLifeOfATest(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.kube.Files("shop", "checkout", map[string]string{"main.star": "load('lib.star')", "lib.star": "x = 1"})
		uid := w.kube.Apply("shop", "t", operatortest.Object{
			"program": map[string]any{"configMap": "checkout", "file": "main.star"}, "parameters": map[string]any{"target": "https://staging"},
			"vus": 7, "duration": "30s", "datacenters": []string{"fra"}, "importance": "high", "outputs": []string{"lake"}, "ttlAfterFinished": "1h",
		})
		w.within(2*time.Second, "accepted", func() bool { return w.is("shop", "t", "Accepted", "True") })
		j := w.job(uid)
		require.Equal(t, "loadtest/prod/shop/t/"+uid, j.Name)
		require.JSONEq(t, `{"name":"`+j.Name+`","main":"main.star","files":{"main.star":"load('lib.star')","lib.star":"x = 1"},"params":{"target":"https://staging"},"vus":7,"duration":"30s","datacenters":["fra"],"importance":"high","outputs":["lake"]}`, j.Body)
		require.Equal(t, "Queued", w.phase("shop", "t"))
		require.True(t, w.is("shop", "t", "Finished", "False"))
		w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Requests = "RUNNING", 100 })
		w.within(3*time.Second, "running", func() bool { return w.phase("shop", "t") == "Running" })
		s := w.kube.Status("shop", "t")
		require.Equal(t, map[string]any{"requests": 100.0, "failed": 10.0}, s["progress"])
		require.Equal(t, j.ID, s["job"])
		require.Equal(t, "https://gates/v1/jobs/"+j.ID+"/result", s["resultURL"])
		w.gates.Edit(uid, func(j *operatortest.Job) {
			j.State, j.Requests, j.Thresholds = "COMPLETED", 200, []report.Threshold{{OK: true}, {OK: false}, {OK: true}}
			j.Sinks = []report.Sink{{Name: "lake", Done: true, Delivered: 40, Rejected: 2, RejectedRequests: 9}}
		})
		w.within(3*time.Second, "completed", func() bool { return w.phase("shop", "t") == "Completed" })
		require.True(t, w.is("shop", "t", "Finished", "True") && w.is("shop", "t", "ThresholdsMet", "False") && w.is("shop", "t", "Accepted", "True"))
		require.Equal(t, map[string]any{"requests": 200.0, "failed": 21.0}, w.kube.Status("shop", "t")["progress"])
		w.kube.Apply("shop", "bad", inline("a mistake"))
		w.kube.Apply("shop", "empty", operatortest.Object{"program": map[string]any{"configMap": "none", "file": "main.star"}})
		w.within(3*time.Second, "rejected", func() bool { return w.phase("shop", "bad") == "Rejected" && w.phase("shop", "empty") == "Pending" })
		golden(t, w.kube.Calls())
		time.Sleep(59 * time.Minute)
		require.True(t, w.kube.Exists("shop", "t"))
		w.within(2*time.Minute, "its time is over", func() bool { return !w.kube.Exists("shop", "t") })
		time.Sleep(time.Minute)
		require.Equal(t, []int{1, 0}, []int{w.job(uid).Submits, w.job(uid).Cancels}, "one submission, and no cancellation of what has ended")
	})
}

var rewrite = flag.Bool("rewrite", false, "write what the operator applies to testdata/statuses.json")

// golden compares the statuses that were applied with those that deploy/check holds against the schema of LoadTest.
func golden(t *testing.T, calls []operatortest.Call) {
	t.Helper()
	var all []string
	for _, c := range calls {
		if c.Kind != "status" {
			continue
		}
		var applied struct {
			Status json.RawMessage `json:"status"`
		}
		require.NoError(t, json.Unmarshal([]byte(c.Body), &applied))
		all = append(all, string(applied.Status))
	}
	text := strings.Join(all, "\n") + "\n"
	path := filepath.Join("testdata", "statuses.json")
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	had, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(had), text, "go test ./runtime/operator -run TestLifeOfATest -rewrite")
}

// TestThresholds: each verdict is a condition of its own.
func TestThresholds(t *testing.T) {
	for status, all := range map[string][]report.Threshold{"True": {{OK: true}}, "False": {{OK: false}}, "Unknown": nil} {
		inWorld(t, 1, func(w *world) {
			uid := w.kube.Apply("shop", "t", inline("x"))
			w.within(3*time.Second, "submitted", func() bool {
				return w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Thresholds = "COMPLETED", all })
			})
			w.within(4*time.Second, status, func() bool { return w.is("shop", "t", "ThresholdsMet", status) })
		})
	}
}

// TestDelivered: an object names sinks, and says what they have of the rows once the job has ended. It asks on until each
// sink has ended, across a restart of the operator, and no more then.
func TestDelivered(t *testing.T) {
	for name, tt := range map[string]struct {
		end    report.Sink
		status string
		text   string
	}{
		"whole": {report.Sink{Name: "lake", Done: true, Delivered: 40}, "True", "sink warehouse: complete, 40 rows delivered; sink lake: complete, 40 rows delivered"},
		"lost":  {report.Sink{Name: "lake", Done: true, Delivered: 30, Lost: 10, LostRequests: 99}, "False", "sink lake: lacks rows, 30 rows delivered, 10 lost (99 requests)"},
	} {
		inWorld(t, 1, func(w *world) {
			spec := inline("x")
			spec["outputs"] = []string{"warehouse", "lake"}
			uid := w.kube.Apply("shop", "t", spec)
			whole := report.Sink{Name: "warehouse", Done: true, Delivered: 40}
			w.within(3*time.Second, "submitted", func() bool {
				return w.gates.Edit(uid, func(j *operatortest.Job) {
					j.State, j.Sinks = "COMPLETED", []report.Sink{whole, {Name: "lake", Behind: 3}}
				})
			})
			require.Contains(t, w.job(uid).Body, `"outputs":["warehouse","lake"]`)
			w.within(4*time.Second, "finished", func() bool { return w.is("shop", "t", "Finished", "True") && w.is("shop", "t", "Delivered", "Unknown") })
			require.Contains(t, fmt.Sprint(w.kube.Status("shop", "t")["conditions"]), "sink warehouse: complete, 40 rows delivered; rows are on their way to lake")
			writes := w.count("status", time.Time{})
			time.Sleep(time.Minute)
			require.Equal(t, writes, w.count("status", time.Time{}), "nothing has changed")
			w.stop()
			w.run(1)
			w.gates.Edit(uid, func(j *operatortest.Job) { j.Sinks[1] = tt.end })
			w.within(5*time.Second, name, func() bool { return w.is("shop", "t", "Delivered", tt.status) })
			require.Contains(t, fmt.Sprint(w.kube.Status("shop", "t")["conditions"]), tt.text)
			require.Equal(t, "Completed", w.phase("shop", "t"))
			asked := 0
			w.gates.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/v1/jobs/") {
					asked++
				}
				return false
			})
			time.Sleep(time.Minute)
			require.Zero(t, asked, "no question behind the end")
		})
	}
}

// TestUnknownSinks: a name that no gate's file has is said, and tried again: the file may come.
func TestUnknownSinks(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.gates.Sinks = []string{"warehouse"}
		spec := inline("x")
		spec["outputs"] = []string{"lake"}
		w.kube.Apply("shop", "t", spec)
		w.within(3*time.Second, "it waits", func() bool { return w.phase("shop", "t") == "Pending" && w.is("shop", "t", "Accepted", "False") })
		require.Contains(t, w.kube.Status("shop", "t")["reason"], `sink ["lake"] is not configured: known are [warehouse]`)
		w.gates.Sinks = append(w.gates.Sinks, "lake")
		w.within(35*time.Second, "accepted", func() bool { return w.is("shop", "t", "Accepted", "True") })
	})
}

// TestDeliveriesAreForgotten: what no gate knows any more says so, and is asked for no more.
func TestDeliveriesAreForgotten(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool {
			return w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Sinks = "COMPLETED", []report.Sink{{Name: "lake"}} })
		})
		w.within(4*time.Second, "finished", func() bool { return w.is("shop", "t", "Delivered", "Unknown") })
		w.gates.Forget(uid)
		w.within(4*time.Second, "forgotten", func() bool {
			return strings.Contains(fmt.Sprint(w.kube.Status("shop", "t")["conditions"]), "Forgotten")
		})
		require.Equal(t, "Completed", w.phase("shop", "t"))
	})
}

// TestBadPrograms: what no try can change is final and says where; what people may correct is tried again.
func TestBadPrograms(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		bad := w.kube.Apply("shop", "bad", inline("a mistake"))
		w.kube.Apply("shop", "empty", operatortest.Object{"program": map[string]any{"configMap": "later", "file": "main.star"}})
		w.within(2*time.Second, "rejected", func() bool { return w.phase("shop", "bad") == "Rejected" && w.is("shop", "empty", "Accepted", "False") })
		require.Contains(t, w.kube.Status("shop", "bad")["reason"], "main.star:3:7: no such step")
		require.True(t, w.is("shop", "bad", "Accepted", "False") && w.is("shop", "bad", "Finished", "True"))
		require.Contains(t, w.kube.Status("shop", "empty")["reason"], "ConfigMap later is missing")
		w.kube.Files("shop", "later", map[string]string{"other.star": ""})
		w.within(35*time.Second, "no key", func() bool {
			return strings.Contains(fmt.Sprint(w.kube.Status("shop", "empty")["reason"]), `no key "main.star"`)
		})
		w.kube.Files("shop", "later", map[string]string{"main.star": "x"})
		w.within(35*time.Second, "accepted", func() bool { return w.is("shop", "empty", "Accepted", "True") })
		require.Empty(t, w.job(bad).ID)
	})
}

// TestDeleted: load stops within 3 s of a deletion, or of spec.cancel; an apply of the same changes nothing. This is bar 5.
func TestDeleted(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		uid := w.kube.Apply("shop", "t", inline("x"))
		other := w.kube.Apply("search", "u", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.job(uid).ID != "" && w.job(other).ID != "" })
		time.Sleep(time.Minute)
		require.Equal(t, uid, w.kube.Apply("shop", "t", inline("x")))
		time.Sleep(time.Minute)
		require.Len(t, w.gates.Jobs(), 2, "an apply of the same is no job")
		w.kube.Delete("shop", "t")
		w.within(3*time.Second, "cancelled", func() bool { return w.job(uid).State == "CANCELLED" })
		again := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "another object is another job", func() bool { return w.job(again).ID != "" })
		spec := inline("x")
		spec["cancel"] = true
		w.kube.Apply("search", "u", spec)
		w.within(3*time.Second, "cancelled by its spec", func() bool { return w.job(other).State == "CANCELLED" })
		w.within(3*time.Second, "its status says so", func() bool { return w.phase("search", "u") == "Cancelled" && w.is("search", "u", "Finished", "True") })
		time.Sleep(2 * time.Minute)
		require.Equal(t, "QUEUED", w.job(again).State)
	})
}

// TestStoppedUnborn: an object that says cancel from the beginning has no job, and ends.
func TestStoppedUnborn(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		spec := inline("x")
		spec["cancel"] = true
		uid := w.kube.Apply("shop", "t", spec)
		w.within(3*time.Second, "ended", func() bool { return w.phase("shop", "t") == "Cancelled" && w.is("shop", "t", "Finished", "True") })
		require.Empty(t, w.job(uid).ID)
	})
}

// TestDeletedInAbsence: what was deleted while no operator ran is cancelled at its return; what still exists, what has another
// label, and what is of another namespace goes on.
func TestDeletedInAbsence(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		kept, deleted := w.kube.Apply("shop", "kept", inline("x")), w.kube.Apply("shop", "deleted", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.job(kept).ID != "" && w.job(deleted).ID != "" })
		w.stop()
		w.kube.Delete("shop", "deleted")
		foreign := map[string]string{"k1": "loadtest/staging/shop/a/k1", "k2": "loadtest/prod/other/a/k2", "k3": "a file.star", "k4": "loadtest/prod/shop/a"}
		for key, name := range foreign {
			w.submit(key, name)
		}
		w.run(1)
		w.within(35*time.Second, "cancelled", func() bool { return w.job(deleted).State == "CANCELLED" })
		time.Sleep(2 * time.Minute)
		require.Equal(t, "QUEUED", w.job(kept).State)
		for key := range foreign {
			require.Zero(t, w.job(key).Cancels, key)
		}
	})
}

// TestForgedNames: a job of another submitter that has the name of an object's job is not the object's: its figures and its end
// stand in no status, and the object's own job is submitted, followed and cancelled.
func TestForgedNames(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.kube.SetFault(func(kind string, out http.ResponseWriter, _ *http.Request) bool { // no object is known before its job is forged
			if kind == "list" && len(w.gates.Jobs()) == 0 {
				operatortest.Refuse(out, http.StatusServiceUnavailable, "Unavailable", "later")
				return true
			}
			return false
		})
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.submit("forged", "loadtest/prod/shop/t/"+uid)
		require.True(t, w.gates.Edit("forged", func(j *operatortest.Job) { j.State, j.Requests = "COMPLETED", 1000 }))
		w.within(30*time.Second, "submitted", func() bool { return w.job(uid).ID != "" })
		time.Sleep(time.Minute)
		require.Equal(t, "Queued", w.phase("shop", "t"))
		require.True(t, w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Requests = "RUNNING", 7 }))
		w.submit("later", "loadtest/prod/shop/t/"+uid)
		require.True(t, w.gates.Edit("later", func(j *operatortest.Job) { j.State, j.Requests = "FAILED", 2000 }))
		time.Sleep(time.Minute)
		require.Equal(t, "Running", w.phase("shop", "t"))
		progress, _ := w.kube.Status("shop", "t")["progress"].(map[string]any)
		require.EqualValues(t, 7, progress["requests"])
		w.stop()
		w.kube.Delete("shop", "t")
		w.run(1)
		w.within(35*time.Second, "cancelled", func() bool { return w.job(uid).State == "CANCELLED" })
		require.Zero(t, w.job("forged").Cancels+w.job("later").Cancels)
	})
}

// TestServerAway: the API server is away for ten minutes, in each way it can be: nothing is cancelled, nothing is submitted twice, and
// the status is right 35 s after its return. This is bar 6.
func TestServerAway(t *testing.T) {
	refuse := func(code int, reason string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { operatortest.Refuse(w, code, reason, "away") }
	}
	ways := map[string]func(w http.ResponseWriter, r *http.Request){
		"429":      refuse(http.StatusTooManyRequests, "TooManyRequests"),
		"500":      refuse(http.StatusInternalServerError, "InternalError"),
		"401":      refuse(http.StatusUnauthorized, "Unauthorized"),
		"403":      refuse(http.StatusForbidden, "Forbidden"),
		"404":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", http.StatusNotFound) },
		"silence":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"empty":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
		"other": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}`))
		},
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"kind":"LoadTestList","metadata":{"resourceVersion":"9"},"items":[`))
		},
		"page": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("continue") == "" && r.URL.Query().Get("watch") == "" {
				_, _ = w.Write([]byte(`{"kind":"LoadTestList","metadata":{"resourceVersion":"9","continue":"x"},"items":[]}`))
				return
			}
			operatortest.Refuse(w, http.StatusGone, "Expired", "too old")
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 2, func(w *world) {
				var away atomic.Bool
				w.kube.SetFault(func(_ string, out http.ResponseWriter, r *http.Request) bool {
					if away.Load() {
						way(out, r)
					}
					return away.Load()
				})
				var uids []string
				for i := range 5 {
					uids = append(uids, w.kube.Apply("shop", fmt.Sprint("t", i), inline("x")))
				}
				w.within(5*time.Second, "submitted", func() bool { return len(w.gates.Jobs()) == 5 })
				time.Sleep(time.Minute)
				away.Store(true)
				w.kube.Compact()
				time.Sleep(time.Minute)
				w.gates.Edit(uids[0], func(j *operatortest.Job) { j.State = "RUNNING" })
				w.gates.Edit(uids[1], func(j *operatortest.Job) { j.State = "COMPLETED" })
				time.Sleep(9 * time.Minute)
				require.LessOrEqual(t, len(w.gates.Jobs()), 5)
				for _, j := range w.gates.Jobs() {
					require.Zero(t, j.Cancels, "an absent server proves nothing")
				}
				w.kube.Delete("shop", "t4")
				late := w.kube.Apply("shop", "late", inline("x"))
				away.Store(false)
				w.within(35*time.Second, "all is right", func() bool {
					return w.phase("shop", "t0") == "Running" && w.phase("shop", "t1") == "Completed" && w.job(uids[4]).State == "CANCELLED" && w.job(late).ID != ""
				})
				for _, uid := range uids {
					require.LessOrEqual(t, w.job(uid).Submits, 2, "each replica submits once at most")
				}
				require.Len(t, w.gates.Jobs(), 6)
				require.Equal(t, "QUEUED", w.job(uids[2]).State)
			})
		})
	}
}

// TestThousandObjects: they get their jobs, their progress and their ends, and the API server at most 20 requests in any second.
// This is bar 5, too.
func TestThousandObjects(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		var uids []string
		for i := range 1000 {
			uids = append(uids, w.kube.Apply("shop", fmt.Sprintf("t%04d", i), inline("x")))
		}
		w.within(3*time.Minute, "all are accepted", func() bool { return w.is("shop", "t0999", "Accepted", "True") })
		for n := range 60 {
			for _, uid := range uids {
				w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Requests = "RUNNING", uint64(10*n+1) })
			}
			time.Sleep(time.Second)
		}
		w.kube.Delete("shop", "t0500")
		w.within(3*time.Second, "a deletion does not wait for progress", func() bool { return w.job(uids[500]).State == "CANCELLED" })
		for _, uid := range uids {
			w.gates.Edit(uid, func(j *operatortest.Job) { j.State = "COMPLETED" })
		}
		w.within(5*time.Minute, "all have ended", func() bool {
			return w.is("shop", "t0999", "Finished", "True") && w.is("shop", "t0000", "Finished", "True")
		})
		calls := w.kube.Calls()
		most := 0
		for i, c := range calls {
			n := 0
			for ; i+n < len(calls) && calls[i+n].At.Sub(c.At) < time.Second; n++ {
			}
			most = max(most, n)
		}
		t.Logf("%d requests in all, at most %d in a second", len(calls), most)
		require.LessOrEqual(t, most, 20)
		for _, uid := range uids {
			require.LessOrEqual(t, w.job(uid).Submits, 2)
		}
		require.Len(t, w.gates.Jobs(), 1000)
	})
}

// TestStatusWrites: at most one a second for an object, and none without a change.
func TestStatusWrites(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.phase("shop", "t") == "Queued" })
		quiet := time.Now()
		time.Sleep(10 * time.Minute)
		require.Zero(t, w.count("status", quiet), "nothing has changed")
		w.gates.First = "RUNNING"
		for n := range 20 { // the second status of some is due less than a second behind the first
			w.kube.Apply("shop", fmt.Sprint("u", n), inline("x"))
			time.Sleep(2100 * time.Millisecond)
		}
		for n := range 600 { // each change is another state or more requests
			w.gates.Edit(uid, func(j *operatortest.Job) { j.State, j.Requests = []string{"QUEUED", "RUNNING"}[n%2], uint64(n) })
			time.Sleep(100 * time.Millisecond)
		}
		last, n, near := map[string]time.Time{}, 0, 0
		for _, c := range w.kube.Calls() {
			if c.Kind == "status" {
				gap := c.At.Sub(last[c.Path])
				require.GreaterOrEqual(t, gap, time.Second, c.Path)
				last[c.Path], n = c.At, n+1
				if gap < 1500*time.Millisecond {
					near++
				}
			}
		}
		require.Greater(t, n, 40)
		require.NotZero(t, near, "some waited for their second")
	})
}

// TestConflicts: 409 for a status says that the object is another one by now; the operator goes on.
func TestConflicts(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var conflicts atomic.Int32
		w.kube.SetFault(func(kind string, out http.ResponseWriter, _ *http.Request) bool {
			if kind != "status" || conflicts.Add(1) > 3 {
				return false
			}
			operatortest.Refuse(out, http.StatusConflict, "Conflict", "another one")
			return true
		})
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(15*time.Second, "written", func() bool { return w.phase("shop", "t") == "Queued" })
		require.Equal(t, 1, w.job(uid).Submits)
	})
}

// TestExpiredToken: the kubelet writes a new token into the file, and the next request has it.
func TestExpiredToken(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var token atomic.Value
		token.Store(kubeToken)
		w.kube.SetToken(func() string { return token.Load().(string) })
		w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.phase("shop", "t") == "Queued" })
		token.Store("MARKED-NEW")
		time.Sleep(5 * time.Minute)
		require.NoError(t, os.WriteFile(w.config.Kube.Token, []byte("MARKED-NEW"), 0o600))
		uid := w.kube.Apply("shop", "u", inline("x"))
		w.within(35*time.Second, "the new token counts", func() bool { return w.job(uid).ID != "" && w.phase("shop", "u") == "Queued" })
	})
}

// TestUnknownToken: while the gates do not know the token, /readyz says so; behind it the operator asks once more for the token's
// name, which is a part of each key, and goes on.
func TestUnknownToken(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		var unknown atomic.Bool
		var names atomic.Int32
		w.gates.SetFault(func(out http.ResponseWriter, r *http.Request) bool {
			if unknown.Load() {
				operatortest.Fail(out, http.StatusUnauthorized, "unauthorized", "the token has ended")
				return true
			}
			if r.URL.Path == "/v1/whoami" {
				names.Add(1)
			}
			return false
		})
		o, err := New(w.config)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go o.Run(ctx)
		first := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.job(first).ID != "" && o.ready() == "" })
		require.EqualValues(t, 1, names.Load())
		unknown.Store(true)
		w.within(5*time.Second, "not ready", func() bool { return strings.Contains(o.ready(), "the gates do not know the token: ") })
		unknown.Store(false)
		second := w.kube.Apply("shop", "u", inline("x"))
		w.within(30*time.Second, "goes on", func() bool { return w.job(second).ID != "" && o.ready() == "" })
		require.EqualValues(t, 2, names.Load())
	})
}

// TestRenamedToken: gates call the token by another name and answer on. The operator takes what belongs to that name, and
// cancels nothing of another, from the next comparison on.
func TestRenamedToken(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		o, err := New(w.config)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go o.Run(ctx)
		first := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.job(first).ID != "" })
		w.gates.Rename("renamed")
		time.Sleep(compareEvery + time.Second)
		w.kube.Apply("shop", "u", inline("x"))
		w.within(5*time.Second, "its job is that of the new name", func() bool { return w.phase("shop", "u") == "Queued" })
		name, err := o.whoami(ctx)
		require.NoError(t, err)
		require.Equal(t, "renamed", name)
		time.Sleep(3 * time.Minute)
		require.Equal(t, "Queued", w.phase("shop", "t"), "the job of the former name is not lost")
		w.gates.Rename("")
		require.True(t, w.gates.Edit(first, func(j *operatortest.Job) { j.State = "COMPLETED" }))
		w.gates.Rename("renamed")
		w.within(10*time.Second, "the job of the former name is followed to its end", func() bool { return w.phase("shop", "t") == "Completed" })
	})
}

// TestRenamedBeforeItsStatus: the gates take a job, its status is lost, and they call the token by another name then. The
// operator finds the job of the former name, and submits no second one.
func TestRenamedBeforeItsStatus(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var lost atomic.Bool
		lost.Store(true)
		w.gates.SetFault(func(out http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !lost.Load() {
				return false
			}
			w.gates.Serve(httptest.NewRecorder(), r)
			operatortest.Fail(out, http.StatusBadGateway, "gone", "the answer is lost")
			return true
		})
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return len(w.gates.Jobs()) == 1 && w.phase("shop", "t") == "Pending" })
		w.gates.Rename("renamed")
		time.Sleep(time.Minute)
		lost.Store(false)
		w.within(20*time.Second, "adopted", func() bool { return w.is("shop", "t", "Accepted", "True") })
		all := w.gates.Jobs()
		require.Len(t, all, 1)
		require.Equal(t, all[0].ID, w.kube.Status("shop", "t")["job"])
		require.Equal(t, uid, all[0].Key)
	})
}

// TestDeletedAfterARename: the job of a deleted object is that of the token's former name. A token of the role operator cancels
// it; what the gates forbid is tried again now and then, until the job has ended, and the log says so.
func TestDeletedAfterARename(t *testing.T) {
	for _, may := range []bool{true, false} {
		inWorld(t, 1, func(w *world) {
			uid := w.kube.Apply("shop", "t", inline("x"))
			w.within(3*time.Second, "submitted", func() bool { return w.phase("shop", "t") == "Queued" })
			w.gates.Operator = may
			w.gates.Rename("renamed")
			time.Sleep(namedFor + compareEvery)
			w.kube.Delete("shop", "t")
			if may {
				w.within(3*time.Second, "cancelled", func() bool { return w.gates.Jobs()[0].State == "CANCELLED" })
				return
			}
			time.Sleep(10 * time.Minute)
			tries := w.logged("a job cannot be cancelled")
			require.True(t, tries >= 10 && tries <= 25, "%d tries in 10 minutes", tries)
			w.gates.Rename("")
			require.True(t, w.gates.Edit(uid, func(j *operatortest.Job) { j.State = "COMPLETED" }))
			w.gates.Rename("renamed")
			time.Sleep(2 * compareEvery)
			tries = w.logged("a job cannot be cancelled")
			time.Sleep(10 * time.Minute)
			require.Equal(t, tries, w.logged("a job cannot be cancelled"), "nothing to cancel")
		})
	}
}

// TestDeliveriesHoldUpNoState: the sinks of hundreds of jobs are away for hours. The end of another job is in its status all
// the same, and each delivery is asked for in its turn.
func TestDeliveriesHoldUpNoState(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.gates.First = "COMPLETED"
		w.gates.NewSinks = []report.Sink{{Name: "lake", Behind: 3}}
		var uids []string
		for i := range 300 {
			uids = append(uids, w.kube.Apply("shop", fmt.Sprintf("t%03d", i), inline("x")))
		}
		w.within(4*time.Minute, "all are delivering", func() bool {
			return !slices.ContainsFunc(uids, func(uid string) bool { return w.job(uid).ID == "" }) && w.is("shop", "t299", "Delivered", "Unknown")
		})
		time.Sleep(time.Minute)
		w.gates.First, w.gates.NewSinks = "RUNNING", nil
		uid := w.kube.Apply("shop", "u", inline("x"))
		w.within(8*time.Second, "running", func() bool { return w.phase("shop", "u") == "Running" })
		w.gates.Edit(uid, func(j *operatortest.Job) { j.State = "COMPLETED" })
		w.within(8*time.Second, "its end does not wait for deliveries", func() bool { return w.phase("shop", "u") == "Completed" })
		for _, i := range []int{0, 150, 299} {
			w.gates.Edit(uids[i], func(j *operatortest.Job) { j.Sinks = []report.Sink{{Name: "lake", Done: true, Delivered: 1}} })
		}
		w.within(2*time.Minute, "each has its turn", func() bool {
			return w.is("shop", "t000", "Delivered", "True") && w.is("shop", "t150", "Delivered", "True") && w.is("shop", "t299", "Delivered", "True")
		})
	})
}

// TestBookmarks: they move a watch on, so that a server that has forgotten old events needs no list.
func TestBookmarks(t *testing.T) {
	for every, lists := range map[time.Duration]bool{10 * time.Second: false, 0: true} {
		inWorld(t, 1, func(w *world) {
			w.kube.Bookmarks = every
			w.kube.Apply("shop", "t", inline("x"))
			w.within(3*time.Second, "submitted", func() bool { return w.phase("shop", "t") == "Queued" })
			time.Sleep(30 * time.Second)
			quiet := time.Now()
			for range 5 { // events of a namespace that are not watched move the server's revision
				w.kube.Apply("apart", fmt.Sprint(time.Now().UnixNano()), inline("x"))
				time.Sleep(15 * time.Second)
				w.kube.Compact()
				time.Sleep(15 * time.Second)
			}
			require.Equal(t, lists, w.count("list", quiet) > 0, "bookmarks every %v: %d lists", every, w.count("list", quiet))
		})
	}
}

// TestGatesAway: their absence is said, and tried again; it submits nothing twice.
func TestGatesAway(t *testing.T) {
	inWorld(t, 2, func(w *world) {
		var away atomic.Bool
		away.Store(true)
		w.gates.SetFault(func(out http.ResponseWriter, _ *http.Request) bool {
			if away.Load() {
				operatortest.Fail(out, http.StatusServiceUnavailable, "overloaded", "later")
			}
			return away.Load()
		})
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(5*time.Second, "it waits", func() bool { return w.is("shop", "t", "Accepted", "Unknown") })
		require.Contains(t, w.kube.Status("shop", "t")["reason"], "overloaded")
		time.Sleep(10 * time.Minute)
		require.Less(t, w.count("status", time.Time{}), 5, "a wait is written once")
		away.Store(false)
		w.within(20*time.Second, "submitted", func() bool { return w.is("shop", "t", "Accepted", "True") })
		away.Store(true)
		w.kube.Delete("shop", "t")
		time.Sleep(10 * time.Minute)
		away.Store(false)
		w.within(20*time.Second, "cancelled", func() bool { return w.job(uid).State == "CANCELLED" })
		require.Len(t, w.gates.Jobs(), 1)
	})
}

// TestChangedFiles: a status is lost, and the ConfigMap is another one by then: the job of the object is still its own.
func TestChangedFiles(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.kube.Files("shop", "c", map[string]string{"m": "one"})
		w.kube.SetFault(func(kind string, out http.ResponseWriter, _ *http.Request) bool {
			if kind == "status" {
				operatortest.Refuse(out, http.StatusInternalServerError, "InternalError", "no")
			}
			return kind == "status"
		})
		uid := w.kube.Apply("shop", "t", operatortest.Object{"program": map[string]any{"configMap": "c", "file": "m"}})
		w.within(3*time.Second, "submitted", func() bool { return w.job(uid).ID != "" })
		w.stop()
		synctest.Wait()
		w.kube.Files("shop", "c", map[string]string{"m": "two"})
		w.kube.SetFault(nil)
		w.run(1)
		w.within(5*time.Second, "adopted", func() bool { return w.is("shop", "t", "Accepted", "True") })
		require.Equal(t, w.job(uid).ID, w.kube.Status("shop", "t")["job"])
		require.Contains(t, w.job(uid).Body, "one")
	})
}

// TestLost: a job that no gate knows for a while is lost, and not submitted again.
func TestLost(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		uid := w.kube.Apply("shop", "t", inline("x"))
		w.within(3*time.Second, "submitted", func() bool { return w.phase("shop", "t") == "Queued" })
		time.Sleep(time.Minute)
		w.gates.Forget(uid)
		time.Sleep(25 * time.Second)
		require.Equal(t, "Queued", w.phase("shop", "t"))
		w.within(15*time.Second, "lost", func() bool { return w.phase("shop", "t") == "Lost" && w.is("shop", "t", "Finished", "True") })
		time.Sleep(time.Minute)
		require.Empty(t, w.gates.Jobs())
	})
}
