package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/live"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/view"
)

// Bounds of a feed. A reader that is further behind misses the oldest of them: the status has the sums.
const (
	notesMax    = 256
	endsMax     = 1024
	alertsEvery = 2 * time.Second
)

// feeds are the jobs that streams follow now.
type feeds struct {
	server *Server
	mu     sync.Mutex
	of     map[message.JobID]*feed
}

// feed follows one job for all streams of this gate: one watch, and what it told.
type feed struct {
	job     message.JobID
	readers int // guarded by feeds.mu
	stop    context.CancelFunc

	mu      sync.Mutex
	changed chan struct{} // closed with each change, and a new one made
	news    news
	model   *ui.Model
	page    *live.Feed        // for pages
	lost    map[string]uint32 // attempts that workers lost, by datacenter and worker
}

// news is what a feed knows. A reader takes from it what it has not told yet.
type news struct {
	version   uint64 // of status
	status    *message.JobStatus
	flows     []FlowFigures
	points    []ui.Point
	ends      []JobEvent // of workflows, by number from 1; the first endsMax
	notes     []JobEvent // the last notesMax of all
	noted     int        // notes since the feed began
	cluster   *message.ClusterStatus
	result    *message.Result
	token     message.LeaseToken // of the grant under which a gate holds the job
	forgotten bool               // the result has no figures: the gates keep them no longer
	failure   *Fault             // why nothing follows
}

// follow joins the feed of a job, which begins with its first reader.
func (f *feeds) follow(job message.JobID) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.of[job]
	if one == nil {
		ctx, stop := context.WithCancel(f.server.ending)
		one = &feed{job: job, stop: stop, changed: make(chan struct{}), model: ui.NewModel("", &message.Plan{}), page: live.NewFeed(), lost: map[string]uint32{}}
		f.of[job] = one
		go one.run(ctx, f.server)
		go one.observe(ctx, f.server)
	}
	one.readers++
	return one
}

// leave ends a feed with its last reader.
func (f *feeds) leave(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.readers--; one.readers == 0 {
		f.drop(one)
		one.stop()
	}
}

// drop lets the next reader begin a new feed. f.mu is held.
func (f *feeds) drop(one *feed) {
	if f.of[one.job] == one {
		delete(f.of, one.job)
	}
}

// forget takes a feed that failed from newcomers: they begin a new one. Its readers keep it.
func (f *feeds) forget(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, _ := one.look(); n.failure != nil {
		f.drop(one)
	}
}

// look returns what the feed knows, and what is closed once it knows more.
func (f *feed) look() (news, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.news, f.changed
}

// change changes what the feed knows, and wakes its readers. What readers hold stays as it is.
func (f *feed) change(how func(n *news)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(&f.news)
	close(f.changed)
	f.changed = make(chan struct{})
}

// run watches the job until its end. The client inside moves the watch from gate to gate.
func (f *feed) run(ctx context.Context, s *Server) {
	defer f.page.Close() // pages that are open have the end by then, or ask again
	defer s.feeds.forget(f)
	watch, err := s.config.Client.Command(ctx, &message.JobWatch{Job: f.job})
	if err != nil {
		f.change(func(n *news) { n.failure = s.silent(err) })
		return
	}
	defer watch.Close()
	var last *message.JobStatus
	for m := range watch.Answers() {
		switch m := m.(type) {
		case *message.JobStatus:
			if last = m; !m.State.Terminal() { // else the result follows, with the figures
				f.change(func(n *news) { f.tell(n, m) })
				f.page.Apply(m)
			}
		case *message.WorkflowEnded:
			f.change(func(n *news) {
				if len(n.ends) < endsMax {
					n.ends = append(n.ends, endOf(m, f.model.Elapsed))
				}
			})
		case *message.JobResult:
			f.change(func(n *news) { f.finish(n, m) })
			f.page.Finish(&m.Result, m.Sinks)
			return
		case *message.Refused:
			f.change(func(n *news) {
				if n.failure = s.refused(m); m.Code == message.CodeResultForgotten && last != nil && last.State.Terminal() {
					f.tell(n, last)
					n.result, n.forgotten = &message.Result{Job: last.Job, Name: last.Name, State: last.State, Error: last.Reason, Duration: last.Elapsed}, true
					f.page.Apply(last)
					f.page.Finish(n.result, last.Sinks)
				}
			})
			return
		}
	}
	f.change(func(n *news) { n.failure = s.silent(watch.Err()) })
}

// tell takes a status over.
func (f *feed) tell(n *news, m *message.JobStatus) {
	f.note(n, m)
	if f.model.Apply(m) {
		n.points = slices.Clone(f.model.Points)
	}
	n.version++
	n.status, n.flows = m, flowsOf(f.model)
}

// finish takes a result over: the last status has its figures.
func (f *feed) finish(n *news, m *message.JobResult) {
	r := &m.Result
	end := &message.JobStatus{Job: r.Job, Name: r.Name, State: r.State, Reason: r.Error, Elapsed: r.Duration, Datacenters: r.Datacenters, Sinks: m.Sinks}
	if was := n.status; was != nil {
		end.Sequence, end.Takeovers, end.Elapsed = was.Sequence+1, was.Takeovers, max(was.Elapsed, r.Duration)
	}
	points := n.points // the last one would be of workflows that send no more
	f.tell(n, end)
	n.result, n.points = r, points
}

// note compares a status with the one before.
func (f *feed) note(n *news, m *message.JobStatus) {
	was := n.status
	add := func(e JobEvent) {
		e.ElapsedNS = int64(m.Elapsed)
		n.add(e)
	}
	if was == nil || was.State != m.State {
		add(JobEvent{What: "state", State: m.State.String(), Reason: m.Reason})
	}
	for i := range m.Datacenters {
		d := &m.Datacenters[i]
		for k := range d.Workers {
			w := &d.Workers[k]
			key := d.Name + "\x00" + w.Node
			if w.Lost > f.lost[key] {
				add(JobEvent{What: "worker-lost", Datacenter: d.Name, Worker: w.Node})
			}
			f.lost[key] = max(f.lost[key], w.Lost)
		}
	}
}

// add appends a note. Readers hold the old list.
func (n *news) add(e JobEvent) {
	n.notes = append(slices.Clone(n.notes[max(0, len(n.notes)-notesMax+1):]), e)
	n.noted++
}

// hold compares the holder of the job's lease with the one before. A gate that holds it again has restarted.
func (f *feed) hold(n *news, c *message.ClusterStatus) {
	n.cluster = c
	for i := range c.Leases {
		l := &c.Leases[i]
		if l.Job != f.job || l.Released || l.Holder == "" {
			continue
		}
		if l.Token.Compare(n.token) <= 0 { // the answer of a gate that has not heard of the newest grant
			continue
		}
		if !n.token.Zero() {
			n.add(JobEvent{What: "takeover", Holder: l.Holder, ElapsedNS: int64(f.model.Elapsed)})
		}
		n.token = l.Token
	}
}

// observe asks for the cluster now and then: alerts, and who holds the job.
func (f *feed) observe(ctx context.Context, s *Server) {
	for ticks := time.NewTicker(alertsEvery); ; {
		if c, err := shared(ctx, s, &s.lists.cluster, &message.ClusterQuery{}); err == nil {
			f.change(func(n *news) { f.hold(n, s.withAlerts(c)) })
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			ticks.Stop()
			return
		}
	}
}

// event is the status as streams have it.
func (n *news) event() StatusEvent {
	j := view.JobOf(n.status)
	if n.cluster != nil {
		j.Hold(n.cluster)
	}
	return StatusEvent{Job: j, Flows: n.flows}
}
