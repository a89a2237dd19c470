package operator

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/api"
)

// cancelAll cancels the jobs of objects that are deleted, or that say so, as soon as it is known.
func (o *Operator) cancelAll(ctx context.Context) {
	for await(ctx, o.cancels, retryFirst) {
		o.stopGone(ctx)
		now := time.Now()
		for _, t := range o.pick(func(e *entry) bool {
			return e.test.stopped() && !e.done && !e.next.After(now) && !e.test.Status.ended()
		}) {
			reason := "spec.cancel is true"
			if t.Metadata.Deleting != nil {
				reason = "the load test is being deleted"
			}
			if err := o.stop(ctx, t.Metadata.UID, t.Status.Job, reason); err != nil {
				o.edit(t.Metadata.UID, func(e *entry) { e.next = now.Add(cancelWait(err)) })
				continue
			}
			o.edit(t.Metadata.UID, func(e *entry) { e.done = true })
			if t.Status.Job == "" { // the gates never had it, or followAll finds it
				o.unborn(ctx, &t)
			}
		}
		o.expire(ctx)
	}
}

// stopGone cancels the jobs of objects that are deleted.
func (o *Operator) stopGone(ctx context.Context) {
	o.mu.Lock()
	all, now := maps.Clone(o.gone), time.Now()
	o.mu.Unlock()
	for _, uid := range slices.Sorted(maps.Keys(all)) {
		one := all[uid]
		if one.next.After(now) {
			continue
		}
		err := o.stop(ctx, uid, one.job, "the load test is deleted")
		o.mu.Lock()
		if one.next = now.Add(cancelWait(err)); err == nil {
			delete(o.gone, uid)
		} else {
			o.gone[uid] = one
		}
		o.mu.Unlock()
	}
}

// cancelWait is how long until the next try to cancel a job: what the gates forbid needs a person.
func cancelWait(err error) time.Duration {
	if statusOf(err) == http.StatusForbidden {
		return compareEvery
	}
	return 0
}

// stop cancels a job. One that the gates do not know needs nothing. An empty id is that of the UID, for each name of the token.
func (o *Operator) stop(ctx context.Context, uid, job, reason string) error {
	all := []string{job}
	if job == "" {
		var err error
		if all, err = o.jobsOf(ctx, uid); err != nil {
			return err
		}
	}
	for _, job := range all {
		err := o.gates.cancel(ctx, job, uid, reason)
		o.heard(err)
		switch status := statusOf(err); {
		case status == http.StatusNotFound, status == http.StatusGone:
			continue
		case status == http.StatusForbidden && o.over(ctx, job):
			continue
		case err != nil:
			o.troubled(ctx, "a job cannot be cancelled", job, err)
			return err
		}
		o.config.Logger.Info("cancelled", "uid", uid, "job", job, "reason", reason)
	}
	return nil
}

// jobsOf are the jobs that a UID may have: of the token's name, and of its former ones.
func (o *Operator) jobsOf(ctx context.Context, uid string) ([]string, error) {
	caller, err := o.whoami(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := []string{api.JobOf(caller, uid)}
	for _, name := range o.former {
		all = append(all, api.JobOf(name, uid))
	}
	return all, nil
}

// over says that a job has ended.
func (o *Operator) over(ctx context.Context, job string) bool {
	j, err := o.gates.job(ctx, job)
	if err != nil {
		return statusOf(err) == http.StatusNotFound
	}
	s, known := stateOf(j.State)
	return known && s.Terminal()
}

// unborn ends an object that was stopped before the gates had its job.
func (o *Operator) unborn(ctx context.Context, t *loadTest) {
	all, err := o.jobsOf(ctx, t.Metadata.UID)
	if err != nil {
		return
	}
	for _, job := range all {
		if _, err = o.gates.job(ctx, job); statusOf(err) != http.StatusNotFound {
			return
		}
	}
	o.write(ctx, t, t.Status.to(t.Metadata.Number, phaseCancelled, "the load test was stopped before its job was submitted",
		condition{Type: "Accepted", Status: "False", Reason: "Cancelled"}, condition{Type: "Finished", Status: "True", Reason: "Cancelled"}))
}

// expire deletes objects whose time behind their end is over.
func (o *Operator) expire(ctx context.Context) {
	now := time.Now()
	for _, t := range o.pick(func(e *entry) bool {
		at, ended := e.test.Status.finishedAt()
		ttl := e.test.ttl()
		return ended && ttl > 0 && now.Sub(at) >= ttl && e.test.Metadata.Deleting == nil && !e.next.After(now)
	}) {
		o.edit(t.Metadata.UID, func(e *entry) { e.next = now.Add(afterMax) })
		if err := o.kube.remove(ctx, &t.Metadata); err != nil && statusOf(err) != http.StatusNotFound {
			o.troubled(ctx, "a load test cannot be deleted", t.Metadata.Namespace+"/"+t.Metadata.Name, err)
		}
	}
}

// compareAll looks for jobs without an object: what was deleted while no watch ran.
func (o *Operator) compareAll(ctx context.Context) {
	for await(ctx, nil, compareEvery) {
		if err := o.compare(ctx); err != nil {
			o.troubled(ctx, "jobs and load tests cannot be compared", o.config.Label, err)
		}
	}
}

// compare lists the jobs first, then the objects: a job whose object is not in a complete list that began later has none.
func (o *Operator) compare(ctx context.Context) error {
	jobs, _, err := o.jobs(ctx)
	if err != nil {
		return err
	}
	suspects := map[string][]string{} // UIDs by namespace
	for uid, j := range jobs {        //lint:orderfree they are sorted below
		s, known := stateOf(j.State)
		m, err := ownerOf(o.config.Label, j.Name)
		if err != nil || !known || s.Terminal() || s == message.JobCancelling || !slices.Contains(o.config.Namespaces, m.Namespace) {
			continue
		}
		stopped := false
		if !o.edit(uid, func(e *entry) { stopped = e.test.stopped() }) {
			suspects[m.Namespace] = append(suspects[m.Namespace], uid)
		}
		if stopped { // another replica submitted it at the same time
			_ = o.stop(ctx, uid, j.Job, "the load test was stopped before its job began") // the next comparison finds it again
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(suspects)) {
		all, _, err := o.kube.list(ctx, namespace)
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for i := range all {
			there[all[i].Metadata.UID] = true
		}
		for _, uid := range slices.Sorted(slices.Values(suspects[namespace])) {
			if !there[uid] {
				_ = o.stop(ctx, uid, jobs[uid].Job, "the load test is deleted") // the next comparison finds it again
			}
		}
	}
	return nil
}
