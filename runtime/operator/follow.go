package operator

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/retry"
	"hyperscale/runtime/report"
	"hyperscale/runtime/view"
)

// followAll asks the gates about all jobs, and writes what has changed.
func (o *Operator) followAll(ctx context.Context) {
	for await(ctx, nil, followEvery) {
		if len(o.pick(func(e *entry) bool { return e.open() })) == 0 {
			continue
		}
		jobs, whole, err := o.jobs(ctx)
		if err != nil {
			o.troubled(ctx, "the jobs cannot be listed", o.config.Label, err)
			continue
		}
		o.mu.Lock()
		for uid, j := range jobs { //lint:orderfree each on its own
			if e := o.tests[uid]; e != nil {
				e.job = j
			}
		}
		o.mu.Unlock()
		o.sync(ctx, jobs, whole)
	}
}

// open says that an object has a job whose end, or whose rows' end, is not in its status.
func (e *entry) open() bool {
	return (e.test.Status.Job != "" || e.job.Job != "" || e.test.stopped()) && (!e.test.Status.ended() || e.test.Status.delivering())
}

// sync writes changes of states first, then progress and what sinks have, as far as the time until the next question goes.
func (o *Operator) sync(ctx context.Context, jobs map[string]view.JobRow, whole bool) {
	began := time.Now()
	var later, ended []loadTest
	for _, t := range o.pick(func(e *entry) bool { return e.open() }) {
		if t.Status.ended() {
			ended = append(ended, t)
			continue
		}
		uid := t.Metadata.UID
		row, has := jobs[uid]
		if !has {
			o.missing(ctx, &t, whole)
			continue
		}
		o.edit(uid, func(e *entry) { e.absent = time.Time{} })
		s := o.stateStatus(ctx, &t, &row)
		switch {
		case s == nil:
		case s.moved(&t.Status):
			o.write(ctx, &t, s)
		case s.Progress != t.Status.Progress:
			later = append(later, t)
		}
	}
	for _, t := range later {
		if time.Since(began) >= followEvery {
			break
		}
		due := false
		o.edit(t.Metadata.UID, func(e *entry) { due = time.Since(e.wrote) >= progressGap })
		if row := jobs[t.Metadata.UID]; due {
			o.write(ctx, &t, o.stateStatus(ctx, &t, &row))
		}
	}
	o.deliveries(ctx, began, ended)
}

// deliveries asks how far the sinks of jobs are that have ended, for one job at least. Those that it asked for last have their
// turn last: a sink that is away for hours holds up no state of another job.
func (o *Operator) deliveries(ctx context.Context, began time.Time, all []loadTest) {
	asked := map[string]time.Time{}
	for i := range all {
		o.edit(all[i].Metadata.UID, func(e *entry) { asked[all[i].Metadata.UID] = e.asked })
	}
	slices.SortStableFunc(all, func(a, b loadTest) int { return asked[a.Metadata.UID].Compare(asked[b.Metadata.UID]) })
	for i := range all {
		if i > 0 && time.Since(began) >= followEvery {
			return
		}
		o.edit(all[i].Metadata.UID, func(e *entry) { e.asked = time.Now() })
		o.delivered(ctx, &all[i])
	}
}

// stateStatus is the status of an object whose job the gates list; nil: its end is not known yet.
func (o *Operator) stateStatus(ctx context.Context, t *loadTest, row *view.JobRow) *status {
	state, known := stateOf(row.State)
	if !known {
		return nil
	}
	s := o.accepted(t, row.Job)
	s.Phase, s.Reason = phaseOf(state), ""
	if row.Started != nil && row.Failed != nil {
		s.Progress.Requests, s.Progress.Failed = *row.Started, *row.Failed
	}
	if !state.Terminal() {
		return s
	}
	r, err := o.gates.result(ctx, row.Job)
	switch code := statusOf(err); {
	case err == nil:
		s.result(r)
	case code == http.StatusGone || code == http.StatusNotFound:
		s.Reason = "the gates have forgotten the result"
	default: // the next question
		o.troubled(ctx, "the result cannot be read", row.Job, err)
		return nil
	}
	s.set(condition{Type: "Finished", Status: "True", Reason: phaseOf(state)})
	return s
}

// delivered asks how far the sinks of a job are that has ended.
func (o *Operator) delivered(ctx context.Context, t *loadTest) {
	j, err := o.gates.job(ctx, t.Status.Job)
	s := t.Status.clone()
	switch code := statusOf(err); {
	case err == nil && len(j.Sinks) > 0:
		s.sinks(j.Sinks)
	case err == nil, code == http.StatusGone, code == http.StatusNotFound:
		s.set(condition{Type: "Delivered", Status: "Unknown", Reason: "Forgotten", Message: "the gates have forgotten the job"})
	default: // the next question
		o.troubled(ctx, "the sinks of a job cannot be read", t.Status.Job, err)
		return
	}
	o.write(ctx, t, s)
}

// missing asks for a job that the list lacks. What no gate knows for a while is lost: it is not submitted again, since it may have
// run.
func (o *Operator) missing(ctx context.Context, t *loadTest, whole bool) {
	if t.Status.Job == "" || !whole {
		return
	}
	j, err := o.gates.job(ctx, t.Status.Job)
	if err == nil {
		o.edit(t.Metadata.UID, func(e *entry) { e.absent = time.Time{} })
		o.renamed(ctx, t, j)
	}
	if statusOf(err) != http.StatusNotFound {
		return
	}
	lost := false
	o.edit(t.Metadata.UID, func(e *entry) {
		if e.absent.IsZero() {
			e.absent = time.Now()
		}
		lost = time.Since(e.absent) >= lostAfter
	})
	if lost {
		o.write(ctx, t, t.Status.to(t.Metadata.Number, phaseLost, "no gate knows the job: the gates have forgotten it, or lost their disks",
			condition{Type: "Finished", Status: "True", Reason: phaseLost}))
	}
}

// renamed follows a job that the gates know, and do not count with those of the operator's token: the token had another name
// when it submitted the job, which has the object's UID in its name.
func (o *Operator) renamed(ctx context.Context, t *loadTest, j *view.Job) {
	if m, err := ownerOf(o.config.Label, j.Name); err != nil || m.UID != t.Metadata.UID {
		return
	}
	if s := o.stateStatus(ctx, t, &view.JobRow{Job: j.Job, Name: j.Name, State: j.State}); s != nil && s.moved(&t.Status) {
		o.write(ctx, t, s)
	}
}

// write applies a status if it differs, at most once a second for an object.
func (o *Operator) write(ctx context.Context, t *loadTest, s *status) {
	if !s.moved(&t.Status) && s.Progress == t.Status.Progress {
		return
	}
	var wait time.Duration
	if !o.edit(t.Metadata.UID, func(e *entry) { wait = writeGap - time.Since(e.wrote) }) || sleep(ctx, wait) != nil {
		return
	}
	err := o.kube.apply(ctx, &t.Metadata, s)
	o.edit(t.Metadata.UID, func(e *entry) {
		e.wrote = time.Now()
		if err == nil {
			e.test.Status = *s
		}
	})
	if err != nil && statusOf(err) != http.StatusNotFound && statusOf(err) != http.StatusConflict { // of these a watch tells
		o.troubled(ctx, "a status cannot be written", t.Metadata.Namespace+"/"+t.Metadata.Name, err)
	}
}

// phaseOf is the phase of a job's state.
func phaseOf(s message.JobState) string {
	return map[message.JobState]string{
		message.JobSubmitted: phaseQueued, message.JobQueued: phaseQueued, message.JobDispatching: phaseQueued,
		message.JobRunning: "Running", message.JobCompleting: "Running", message.JobCancelling: "Cancelling",
		message.JobCompleted: "Completed", message.JobPartial: "Partial", message.JobFailed: "Failed",
		message.JobCancelled: phaseCancelled, message.JobTimedOut: "TimedOut",
	}[s]
}

// result adds what only the result of a job has.
func (s *status) result(r *report.Result) {
	s.Reason = cut(r.Error)
	s.Progress.Requests, s.Progress.Failed = r.Totals.Started, r.Totals.Failed+r.Totals.TimedOut
	missed := 0
	for i := range r.Thresholds {
		if !r.Thresholds[i].OK {
			missed++
		}
	}
	if len(r.Sinks) > 0 {
		s.sinks(r.Sinks)
	}
	switch {
	case len(r.Thresholds) == 0:
		s.set(condition{Type: "ThresholdsMet", Status: "Unknown", Reason: "NoThresholds"})
	case missed > 0:
		s.set(condition{Type: "ThresholdsMet", Status: "False", Reason: "Missed", Message: missedText(missed, len(r.Thresholds))})
	default:
		s.set(condition{Type: "ThresholdsMet", Status: "True", Reason: "Met"})
	}
}

// clone is a status that shares no memory.
func (s *status) clone() *status {
	out := *s
	out.Conditions = append([]condition{}, s.Conditions...)
	return &out
}

// Bounds of a watch.
const (
	watchSpan  = 25 * time.Second // after which the API server ends it, and the next one goes on
	watchMax   = 30 * time.Second // after which a silent server has lost it
	eventMax   = 4 << 20          // bytes
	listedFor  = 10 * time.Minute // then the next list compares all, whatever watches told
	afterMax   = 15 * time.Second // longest wait that a server imposes
	retryFirst = time.Second
)

// backoff is between tries of one thing.
var backoff = retry.Backoff{Base: retryFirst, Cap: afterMax}

// change is an event of a watch.
type change struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// keep follows a namespace until ctx ends.
func (o *Operator) keep(ctx context.Context, namespace string) {
	var wait time.Duration
	for ctx.Err() == nil {
		all, revision, err := o.kube.list(ctx, namespace)
		if err != nil {
			wait = backoff.After(wait)
			o.troubled(ctx, "the load tests cannot be listed", namespace, err)
			_ = sleep(ctx, waitOf(err, wait)) // the loop asks ctx
			continue
		}
		wait = 0
		o.listed(namespace, all)
		o.follow(ctx, namespace, revision)
	}
}

// follow watches a namespace from a revision on, until only a list can go on.
func (o *Operator) follow(ctx context.Context, namespace, revision string) {
	var wait time.Duration
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < listedFor; {
		err := o.kube.watch(ctx, namespace, &revision, func(kind string, t *loadTest) { o.changed(kind, t) })
		switch {
		case err == nil:
			wait = 0
		case statusOf(err) == http.StatusGone:
			return
		default:
			wait = backoff.After(wait)
			o.troubled(ctx, "a watch has ended", namespace, err)
			_ = sleep(ctx, waitOf(err, wait)) // the loop asks ctx
		}
	}
}

// watch tells of changes behind a revision, and moves it on with each. It returns nil when its time is over.
func (k *kube) watch(ctx context.Context, namespace string, revision *string, tell func(kind string, t *loadTest)) error {
	watching, cancel := context.WithTimeout(ctx, watchMax)
	defer cancel()
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {*revision}, "timeoutSeconds": {strconv.Itoa(int(watchSpan / time.Second))},
	}
	body, err := k.open(watching, http.MethodGet, testsPath(namespace)+"?"+q.Encode(), nil)
	if err != nil {
		return overdue(ctx, watching, err)
	}
	defer func() { _ = body.Close() }() // it was only read
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, eventMax)
	for lines.Scan() {
		var e change
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("an event of the watch cannot be read: %w", err)
		}
		if e.Type == "ERROR" {
			var s kubeStatus
			if json.Unmarshal(e.Object, &s) != nil || s.Code == 0 {
				return errors.New("the watch ended with an error that is no Status")
			}
			return &refusal{Status: s.Code, Code: s.Reason, Message: s.Message}
		}
		var t loadTest
		if err := json.Unmarshal(e.Object, &t); err != nil {
			return fmt.Errorf("an event of the watch has no object: %w", err)
		}
		if t.Metadata.Revision == "" {
			return errors.New("an event of the watch has no revision")
		}
		if e.Type != "BOOKMARK" {
			if t.Metadata.UID == "" || t.Metadata.Namespace != namespace {
				return errors.New("an event of the watch is of another namespace, or of an object without an identity")
			}
			tell(e.Type, &t)
		}
		*revision = t.Metadata.Revision
	}
	return overdue(ctx, watching, lines.Err())
}

// overdue is nil for a watch that only took its whole time.
func overdue(ctx, watching context.Context, err error) error {
	if err != nil && ctx.Err() == nil && errors.Is(watching.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}
