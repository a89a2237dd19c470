package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"hyperscale/runtime/api"
)

// formerMax bounds the former names of the token that count.
const formerMax = 8

// whoami is the name of the token at the gates, which may rename it at any time: it counts for namedFor.
func (o *Operator) whoami(ctx context.Context) (string, error) {
	o.mu.Lock()
	former, named := o.caller, o.named
	o.mu.Unlock()
	if former != "" && time.Since(named) < namedFor {
		return former, nil
	}
	name, err := o.gates.name(ctx)
	o.heard(err)
	if err != nil {
		return "", err
	}
	o.mu.Lock()
	former = o.caller
	o.caller, o.named = name, time.Now()
	renamed := former != "" && former != name
	if renamed {
		o.former = append([]string{former}, slices.DeleteFunc(o.former, func(n string) bool { return n == former || n == name })...)
		o.former = o.former[:min(len(o.former), formerMax)]
	}
	o.mu.Unlock()
	if renamed {
		o.config.Logger.Warn("the gates call the operator's token by another name: its jobs from before belong to the former one, and only a token of the role operator cancels them",
			"former", former, "name", name)
	}
	return name, nil
}

// heard keeps whether the gates answer, for /readyz.
func (o *Operator) heard(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch status := statusOf(err); {
	case err == nil:
		o.trouble = ""
	case status == http.StatusUnauthorized:
		o.trouble, o.named = "the gates do not know the token: "+err.Error(), time.Time{}
	case status == 0 || status >= http.StatusInternalServerError:
		o.trouble = "the gates do not answer: " + err.Error()
	}
}

// submitAll submits objects without a job, one after the other: the gates compile one program of a token at once.
func (o *Operator) submitAll(ctx context.Context) {
	for await(ctx, o.submits, retryFirst) {
		now := time.Now()
		for _, t := range o.pick(func(e *entry) bool { return e.test.wanted() && e.job.Job == "" && !e.next.After(now) }) {
			still := false
			o.edit(t.Metadata.UID, func(e *entry) { still = e.test.wanted() })
			if still && passing(o.submitOne(ctx, &t)) { // the others would fare the same
				break
			}
		}
	}
}

// passing says that an error is of a server and not of an object.
func passing(err error) bool {
	var source *sourceError
	status := statusOf(err)
	return err != nil && !errors.As(err, &source) && (status == 0 || status == http.StatusUnauthorized || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError)
}

// wanted says that an object asks for a job and has none.
func (t *loadTest) wanted() bool {
	return t.Status.Job == "" && !t.Status.ended() && !t.stopped()
}

// stopped says that its job must not run.
func (t *loadTest) stopped() bool { return t.Spec.Cancel || t.Metadata.Deleting != nil }

// submitOne submits an object's program, and writes what the gates say of it.
func (o *Operator) submitOne(ctx context.Context, t *loadTest) error {
	uid := t.Metadata.UID
	job, err := o.place(ctx, t)
	if err != nil {
		s, wait := rejected(&t.Status, t.Metadata.Number, err)
		exists := o.edit(uid, func(e *entry) { e.next = time.Now().Add(wait) })
		if exists {
			o.write(ctx, t, s)
		}
		return err
	}
	stopped := false
	exists := o.edit(uid, func(e *entry) { e.job.Job, stopped = job, e.test.stopped() })
	if !exists || stopped { // meanwhile
		o.mu.Lock()
		o.gone[uid] = gone{job: job}
		o.mu.Unlock()
		poke(o.cancels)
		return nil
	}
	o.config.Logger.Info("submitted", "namespace", t.Metadata.Namespace, "name", t.Metadata.Name, "uid", uid, "job", job)
	o.write(ctx, t, o.accepted(t, job))
	return nil
}

// place submits a program, and returns its job.
func (o *Operator) place(ctx context.Context, t *loadTest) (string, error) {
	caller, err := o.whoami(ctx)
	if err != nil {
		return "", err
	}
	if job, err := o.placed(ctx, t.Metadata.UID); job != "" || err != nil {
		return job, err
	}
	var files *configMap
	if name := t.Spec.Program.ConfigMap; name != "" {
		if files, err = o.kube.files(ctx, t.Metadata.Namespace, name); err != nil {
			if statusOf(err) == http.StatusNotFound {
				err = &sourceError{fmt.Errorf("ConfigMap %s is missing: create it in the namespace of the load test", name)}
			}
			return "", err
		}
	}
	in, err := t.submission(o.config.Label, files)
	if err != nil {
		return "", &sourceError{err}
	}
	out, err := o.gates.submit(ctx, caller, t.Metadata.UID, in)
	o.heard(err)
	var r *refusal
	if statusOf(err) == http.StatusPreconditionFailed { // the token has another name
		o.mu.Lock()
		o.named = time.Time{}
		o.mu.Unlock()
	}
	if errors.As(err, &r) && r.Code == mismatch { // a job of this object exists: its ConfigMap was another one then
		return api.JobOf(caller, t.Metadata.UID), nil
	}
	if err != nil {
		return "", err
	}
	return out.Job, nil
}

// placed finds the job that was submitted for a UID when the token had another name, and that no status names: a submission now
// would be a second one. Empty: there is none.
func (o *Operator) placed(ctx context.Context, uid string) (string, error) {
	all, err := o.jobsOf(ctx, uid)
	if err != nil {
		return "", err
	}
	for _, id := range all[1:] {
		j, err := o.gates.job(ctx, id)
		o.heard(err)
		switch {
		case statusOf(err) == http.StatusNotFound:
			continue
		case err != nil:
			return "", err
		}
		if m, err := ownerOf(o.config.Label, j.Name); err == nil && m.UID == uid {
			return id, nil
		}
	}
	return "", nil
}

// mismatch is the gates' code for a key that another body has used.
const mismatch = "key_mismatch"

// sourceError is about a ConfigMap, which people may correct: the operator looks again.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }
