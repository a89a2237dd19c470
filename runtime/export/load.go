package export

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"hyperscale/core/message"
)

// What the load of a gate's jobs shows at most. A step beyond them counts as step other of workflow
// other; a status or a kind of errors as other of its step.
const (
	LoadJobs     = 64               // jobs
	LoadRecent   = 10 * time.Minute // after its end a job is shown for so long
	loadSteps    = 200              // steps and workflows of a job in one datacenter
	loadRows     = 2048             // those of all jobs together
	loadVariants = 32               // statuses, and kinds of errors, of one step
)

// Two scrapes within loadFresh see the same; a gate that does not answer within loadPatience shows none.
const (
	loadFresh    = time.Second
	loadPatience = 2 * time.Second
)

// Look asks a gate for the load that it knows: at most so many jobs, those included that have ended so
// recently, and how many running ones it leaves out. What it returns changes no more.
type Look func(ctx context.Context, recent time.Duration, most int) (jobs []*message.JobStatus, left int, err error)

// Load shows the load of a gate's jobs. It implements prometheus.Gatherer.
type Load struct {
	look Look
	now  func() time.Time

	mu       sync.Mutex
	jobs     map[message.JobID]*loaded
	at       time.Time // of families
	families []*dto.MetricFamily
}

// NewLoad returns the load of a gate that answers looks.
func NewLoad(look Look) *Load {
	return &Load{look: look, now: time.Now, jobs: map[message.JobID]*loaded{}}
}

// Gather returns no figures rather than old ones while the gate does not answer.
func (l *Load) Gather() ([]*dto.MetricFamily, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); l.at.IsZero() || now.Sub(l.at) >= loadFresh {
		l.families = l.read()
		l.at = l.now()
	}
	return l.families, nil
}

func (l *Load) read() []*dto.MetricFamily {
	ctx, cancel := context.WithTimeout(context.Background(), loadPatience)
	defer cancel()
	statuses, left, err := l.look(ctx, LoadRecent, LoadJobs)
	if err != nil {
		return nil
	}
	l.keep(statuses)
	all := map[string]*dto.MetricFamily{}
	c := &collector{families: all, taken: map[string]bool{}}
	c.value(leftOut, float64(left))
	for _, s := range statuses {
		j := l.jobs[s.Job]
		j.see(s, loadRows-l.rows())
		j.write(all)
	}
	return sorted(all)
}

// keep forgets the jobs that the gate no longer shows, and begins those that it does not know.
func (l *Load) keep(statuses []*message.JobStatus) {
	shown := map[message.JobID]*loaded{}
	for _, s := range statuses {
		if shown[s.Job] = l.jobs[s.Job]; shown[s.Job] == nil {
			shown[s.Job] = newLoaded()
		}
	}
	l.jobs = shown
}

// rows counts the rows of all jobs.
func (l *Load) rows() (n int) {
	for _, j := range l.jobs {
		n += len(j.rows)
	}
	return n
}

func sorted(families map[string]*dto.MetricFamily) (all []*dto.MetricFamily) {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		all = append(all, families[name])
	}
	return all
}
