package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/view"
)

// Bounds of questions about jobs.
const (
	pageMax    = 1000
	pageUsual  = 100
	waitMax    = 60 * time.Second
	waitPause  = 500 * time.Millisecond // between two looks of one that waits
	holderWait = time.Second            // for the cluster to say who owns a job
)

// JobPage is a page of jobs.
type JobPage struct {
	Gates []view.Gate   `json:"gates"` // who was asked: a majority that answers misses no job
	Jobs  []view.JobRow `json:"jobs"`  // the newest first
	Next  string        `json:"next"`  // for after; empty: this is the last page
	Cut   bool          `json:"cut"`   // the gates know more jobs than a list can have
}

// listJobs answers a page.
func (c *call) listJobs() error {
	q := c.r.URL.Query()
	limit, err := numberOf(q.Get("limit"), "limit", pageUsual, pageMax)
	if err != nil {
		return err
	}
	var states []string
	for s := range strings.SplitSeq(q.Get("state"), ",") {
		if s = strings.ToUpper(strings.TrimSpace(s)); s == "" {
			continue
		}
		if !knownState(s) {
			return fault(http.StatusBadRequest, "bad_query", "state %q is none: write states of jobs, like RUNNING,QUEUED", s)
		}
		states = append(states, s)
	}
	list, err := shared(c.r.Context(), c.server, &c.server.lists.jobs, &message.JobListQuery{})
	if err != nil {
		return err
	}
	jobs := list.Jobs
	if after := q.Get("after"); after != "" {
		id, err := message.ParseJobID(after)
		at := slices.IndexFunc(jobs, func(j message.JobInfo) bool { return j.Job == id })
		if err != nil || at < 0 {
			return fault(http.StatusBadRequest, "bad_query", "after %q is no job of the list: begin again without it", after)
		}
		jobs = jobs[at+1:]
	}
	meant := make([]message.JobInfo, 0, limit)
	more := false
	for i := range jobs {
		j := &jobs[i]
		if len(states) > 0 && !slices.Contains(states, j.State.String()) || !strings.Contains(j.Name, q.Get("name")) {
			continue
		}
		if more = len(meant) == limit; more {
			break
		}
		meant = append(meant, *j)
	}
	shown := view.JobListOf(&message.JobList{Gates: list.Gates, Jobs: meant, More: list.More}, 0)
	page := JobPage{Gates: shown.Gates, Jobs: shown.Jobs, Cut: shown.Cut}
	if more {
		page.Next = meant[len(meant)-1].Job.String()
	}
	return c.answer(http.StatusOK, page)
}

// knownState says that a text is the state of a job.
func knownState(text string) bool {
	for s := message.JobSubmitted; s <= message.JobTimedOut; s++ {
		if s.String() == text {
			return true
		}
	}
	return false
}

func numberOf(text, name string, usual, most int) (int, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fault(http.StatusBadRequest, "bad_query", "%s = %q must be 1 to %d: correct it", name, text, most)
	}
	return n, nil
}

// jobID reads the job of the path.
func (c *call) jobID() (message.JobID, error) {
	id, err := message.ParseJobID(c.r.PathValue("id"))
	if err != nil {
		return id, fault(http.StatusNotFound, "unknown_job", "%q is no job's id, which has 26 letters and digits: GET /v1/jobs lists jobs", c.r.PathValue("id"))
	}
	c.job = id.String()
	return id, nil
}

// oneJob answers the state of a job, at once or when it has changed.
func (c *call) oneJob() error {
	id, err := c.jobID()
	if err != nil {
		return err
	}
	var wait time.Duration
	if text := c.r.URL.Query().Get("wait"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 || wait > waitMax {
			return fault(http.StatusBadRequest, "bad_query", "wait = %q must be a duration up to %v, like 30s: correct it", text, waitMax)
		}
	}
	had := c.r.Header.Get("If-None-Match")
	if wait == 0 || had == "" {
		j, err := c.server.job(c.r.Context(), id)
		if err != nil {
			return err
		}
		return c.state(j, had)
	}
	if err := c.enter(&c.server.load.streams); err != nil { // callers that wait take no room of those that do not
		return err
	}
	return c.await(id, had, time.Now().Add(wait))
}

// state answers a job, unless the caller has it.
func (c *call) state(j view.Job, had string) error {
	tag := tagOf(j)
	c.w.Header().Set("ETag", tag)
	if tag != had {
		return c.answer(http.StatusOK, j)
	}
	c.due()
	c.w.WriteHeader(http.StatusNotModified)
	return nil
}

// await answers once a job is another one than the caller has. The first look is the caller's own, it shares the next ones: an
// answer to a question that is older than the look before says nothing new.
func (c *call) await(id message.JobID, had string, until time.Time) error {
	s := c.server
	began := time.Now()
	j, err := s.job(c.r.Context(), id)
	if err != nil {
		return err
	}
	look := s.looks.join(id)
	defer s.looks.leave(id)
	for tagOf(j) == had && time.Now().Before(until) {
		select {
		case <-time.After(min(waitPause, time.Until(until))):
		case <-c.r.Context().Done():
			return fault(http.StatusServiceUnavailable, "gone", "the caller has hung up")
		case <-s.ending.Done():
			return s.silent(nil)
		}
		a, err := look.get(c.r.Context(), waitPause, func() (view.Job, error) { return s.job(s.ending, id) })
		if err != nil {
			return err
		}
		if a.err != nil {
			return a.err
		}
		if a.began.After(began) {
			j, began = a.has, a.began
		}
	}
	return c.state(j, had)
}

// looks are the questions about jobs that callers who wait share.
type looks struct {
	mu sync.Mutex
	of map[message.JobID]*look
}

type look struct {
	recent[view.Job]
	callers int
}

func (l *looks) join(id message.JobID) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[id]
	if one == nil {
		one = new(look)
		l.of[id] = one
	}
	one.callers++
	return one
}

func (l *looks) leave(id message.JobID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[id].callers--; l.of[id].callers == 0 {
		delete(l.of, id)
	}
}

// job asks for the state of a job, and who owns it. The owner is not known where the cluster does not answer soon.
func (s *Server) job(ctx context.Context, id message.JobID) (j view.Job, err error) {
	answer, err := s.ask(ctx, &message.JobQuery{Job: id})
	if err != nil {
		return j, err
	}
	status, ok := answer.(*message.JobStatus)
	if !ok {
		return j, unexpected(answer)
	}
	j = view.JobOf(status)
	ctx, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	if cluster, err := shared(ctx, s, &s.lists.cluster, &message.ClusterQuery{}); err == nil {
		j.Hold(cluster)
	}
	return j, nil
}

// tagOf names what a job shows: times that pass by themselves are no change.
func tagOf(j view.Job) string {
	j.ElapsedNS, j.LeftNS = 0, 0
	b, err := encode(j)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
