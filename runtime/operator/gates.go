package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/api"
	"hyperscale/runtime/report"
	"hyperscale/runtime/view"
)

// Bounds of the gates' side.
const (
	gatesGap = 50 * time.Millisecond // between two requests: 20 a second
	jobsPage = "1000"
)

// gates is the side of the gates.
type gates struct{ *caller }

func newGates(s Side) *gates {
	return &gates{newCaller(s, gatesGap, func(b []byte, r *refusal) {
		var f api.Failure
		if json.Unmarshal(b, &f) != nil || f.Error.Code == "" {
			return
		}
		r.Code, r.Message = f.Error.Code, messageOf(&f.Error)
	})}
}

// messageOf is a fault for people, with the mistakes of a program.
func messageOf(f *api.Fault) string {
	parts := []string{f.Message}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	for _, m := range f.Mistakes {
		parts = append(parts, fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message))
	}
	return strings.Join(parts, "; ")
}

// name is that of the operator's token.
func (g *gates) name(ctx context.Context) (string, error) {
	var c api.Caller
	err := g.ask(ctx, shortMax, &c, http.MethodGet, "/v1/whoami", nil)
	if err == nil && c.Name == "" {
		err = errors.New("the gates do not name the token")
	}
	return c.Name, err
}

// submit submits an object's program under its UID. A gate where that names another job takes none: it calls the token by
// another name.
func (g *gates) submit(ctx context.Context, caller, uid string, in *api.Submission) (*api.Submitted, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var out api.Submitted
	err = g.ask(ctx, shortMax, &out, http.MethodPost, "/v1/jobs", b, "Content-Type", "application/json", api.KeyHeader, uid, api.JobHeader, api.JobOf(caller, uid))
	return &out, err
}

// cancel cancels the job of an object.
func (g *gates) cancel(ctx context.Context, job, uid, reason string) error {
	q := url.Values{"reason": {reason}}
	return g.ask(ctx, shortMax, nil, http.MethodDelete, "/v1/jobs/"+job+"?"+q.Encode(), nil, api.KeyHeader, uid)
}

// jobs lists the jobs of this operator's objects, by UID. Any submitter can give a job such a name, so a job counts only if its
// id is that of the caller's key. whole says that the gates left none out.
func (g *gates) jobs(ctx context.Context, caller, label string) (all map[string]view.JobRow, whole bool, err error) {
	all, whole = map[string]view.JobRow{}, true
	after := ""
	for {
		q := url.Values{"name": {mark + label + "/"}, "limit": {jobsPage}}
		if after != "" {
			q.Set("after", after)
		}
		var p api.JobPage
		if err := g.ask(ctx, answerMax, &p, http.MethodGet, "/v1/jobs?"+q.Encode(), nil); err != nil {
			return nil, false, err
		}
		for _, j := range p.Jobs {
			if m, err := ownerOf(label, j.Name); err == nil && j.Job == api.JobOf(caller, m.UID) {
				all[m.UID] = j
			}
		}
		whole = whole && !p.Cut
		if after = p.Next; after == "" {
			return all, whole, nil
		}
	}
}

// job asks for one.
func (g *gates) job(ctx context.Context, id string) (*view.Job, error) {
	var j view.Job
	err := g.ask(ctx, shortMax, &j, http.MethodGet, "/v1/jobs/"+id, nil)
	return &j, err
}

// result asks for the result of a job that has ended.
func (g *gates) result(ctx context.Context, id string) (*report.Result, error) {
	var r report.Result
	err := g.ask(ctx, answerMax, &r, http.MethodGet, "/v1/jobs/"+id+"/result", nil)
	return &r, err
}

// jobs lists the jobs that this operator submitted.
func (o *Operator) jobs(ctx context.Context) (all map[string]view.JobRow, whole bool, err error) {
	caller, err := o.whoami(ctx)
	if err != nil {
		return nil, false, err
	}
	all, whole, err = o.gates.jobs(ctx, caller, o.config.Label)
	o.heard(err)
	return all, whole, err
}

// stateOf reads the text of a state.
func stateOf(text string) (message.JobState, bool) {
	for s := message.JobSubmitted; s <= message.JobTimedOut; s++ {
		if s.String() == text {
			return s, true
		}
	}
	return 0, false
}
