package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hyperscale/runtime/view"
)

// The times of the operator.
const (
	namedFor     = 25 * time.Second // the name of its token counts: each comparison asks anew
	compareEvery = 30 * time.Second // between two comparisons of all jobs with all objects
	followEvery  = 2 * time.Second  // between two questions about the jobs
	progressGap  = 10 * time.Second // between two writes of an object's progress
	writeGap     = time.Second      // between two writes of an object's status
	lostAfter    = 30 * time.Second // for as long no gate knows a job, then it is lost
)

// Config is what an operator needs. Label separates several operators at the same gates: letters, digits and - , at most 63.
type Config struct {
	Label      string
	Namespaces []string // it watches these alone
	Kube       Side     // the API server
	Gates      Side     // the HTTP API of the gates
	Result     string   // address of the HTTP API for people, in status.resultURL; empty: that of Gates
	Logger     *slog.Logger
}

var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func (c *Config) check() error {
	errs := []error{c.Kube.check("the API server"), c.Gates.check("the gates")}
	if !nameRule.MatchString(c.Label) {
		errs = append(errs, fmt.Errorf("label %q: want 1 to 63 small letters, digits and -", c.Label))
	}
	if len(c.Namespaces) == 0 {
		errs = append(errs, errors.New("no namespace is given: name those whose load tests it follows"))
	}
	for _, n := range c.Namespaces {
		if !nameRule.MatchString(n) {
			errs = append(errs, fmt.Errorf("namespace %q: want 1 to 63 small letters, digits and -", n))
		}
	}
	return errors.Join(errs...)
}

// Operator submits, follows and cancels the jobs of the load tests of some namespaces.
type Operator struct {
	config Config
	kube   *kube
	gates  *gates

	mu      sync.Mutex
	tests   map[string]*entry // by UID
	gone    map[string]gone   // by UID: a watch told the deletion, and the job may run
	lists   map[string]bool   // namespaces of which there was a complete list
	caller  string            // name of the token at the gates; empty: not known yet
	former  []string          // names that the token had before, the newest first
	named   time.Time         // when the gates said so
	trouble string            // why the gates did not answer the last question; empty: they did

	submits, cancels chan struct{} // one waits: there is something to do
}

// entry is an object that exists.
type entry struct {
	test   loadTest
	job    view.JobRow // as the gates last had it; empty: not known
	next   time.Time   // no submission before
	wrote  time.Time   // the status
	asked  time.Time   // what sinks have of the job, which has ended
	absent time.Time   // since when no gate knows the job; zero: one does
	done   bool        // the cancellation is at the gates
}

// gone is an object that is deleted.
type gone struct {
	job  string    // as its status or the gates had it; empty: that of the UID
	next time.Time // no cancellation before
}

// New checks the configuration.
func New(c Config) (*Operator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.Namespaces = slices.Compact(slices.Sorted(slices.Values(c.Namespaces)))
	c.Result = strings.TrimSuffix(cmp.Or(c.Result, c.Gates.URL), "/")
	return &Operator{
		config: c, kube: newKube(c.Kube), gates: newGates(c.Gates),
		tests: map[string]*entry{}, gone: map[string]gone{}, lists: map[string]bool{},
		submits: make(chan struct{}, 1), cancels: make(chan struct{}, 1),
	}, nil
}

// Run works until ctx ends. It cancels nothing then: another replica, or the next start, goes on.
func (o *Operator) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, namespace := range o.config.Namespaces {
		all.Go(func() { o.keep(ctx, namespace) })
	}
	for _, loop := range []func(context.Context){o.submitAll, o.cancelAll, o.compareAll, o.followAll} {
		all.Go(func() { loop(ctx) })
	}
	all.Wait()
}

// listed takes a complete list of a namespace: what it lacks is deleted.
func (o *Operator) listed(namespace string, all []loadTest) {
	o.mu.Lock()
	there := map[string]bool{}
	for i := range all {
		there[all[i].Metadata.UID] = true
		o.put(&all[i])
	}
	for uid, e := range o.tests { //lint:orderfree each on its own
		if e.test.Metadata.Namespace == namespace && !there[uid] {
			o.forget(&e.test)
		}
	}
	o.lists[namespace] = true
	o.mu.Unlock()
	poke(o.submits)
	poke(o.cancels)
}

// changed takes an event of a watch.
func (o *Operator) changed(kind string, t *loadTest) {
	o.mu.Lock()
	if kind == "DELETED" {
		o.forget(t)
	} else {
		o.put(t)
	}
	o.mu.Unlock()
	poke(o.submits)
	poke(o.cancels)
}

// put keeps an object; o.mu is held.
func (o *Operator) put(t *loadTest) {
	if e := o.tests[t.Metadata.UID]; e != nil {
		e.test = *t
		return
	}
	o.tests[t.Metadata.UID] = &entry{test: *t}
}

// forget takes an object that is deleted; o.mu is held. The job of one that has ended needs nothing.
func (o *Operator) forget(t *loadTest) {
	uid, job := t.Metadata.UID, ""
	if e := o.tests[uid]; e != nil {
		t, job = &e.test, e.job.Job
	}
	delete(o.tests, uid)
	if !t.Status.ended() {
		o.gone[uid] = gone{job: cmp.Or(t.Status.Job, job)}
	}
}

// pick returns the objects that a question is true of, the oldest first.
func (o *Operator) pick(is func(e *entry) bool) (all []loadTest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.tests { //lint:orderfree they are sorted below
		if is(e) {
			all = append(all, e.test)
		}
	}
	slices.SortFunc(all, func(a, b loadTest) int {
		return cmp.Or(a.Metadata.Created.Compare(b.Metadata.Created), cmp.Compare(a.Metadata.UID, b.Metadata.UID))
	})
	return all
}

// edit changes what is kept of an object, if it still exists.
func (o *Operator) edit(uid string, change func(e *entry)) (exists bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.tests[uid]
	if e != nil {
		change(e)
	}
	return e != nil
}

// poke wakes who waits for a channel.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake
	}
}

// await waits for a channel or a time, and says that ctx has not ended.
func await(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-c:
	case <-t.C:
	}
	return ctx.Err() == nil
}

// troubled logs what a server did not do.
func (o *Operator) troubled(ctx context.Context, what, of string, err error) {
	if ctx.Err() == nil {
		o.config.Logger.Warn(what, "of", of, "error", err.Error())
	}
}
