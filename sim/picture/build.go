package picture

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
	"hyperscale/sim/journey"
	"hyperscale/sim/story"
)

// page is the data of the picture, as page.html reads it. Times are in microseconds since the
// run began; lanes and jobs are indices.
type page struct {
	Title  string     `json:"title"`
	Notes  []string   `json:"notes"`
	Lanes  []lane     `json:"lanes"`
	Jobs   []string   `json:"jobs"`
	Window [2]int64   `json:"window"`
	Until  int64      `json:"until"` // the end of the run
	Arrows []arrow    `json:"arrows"`
	Marks  []mark     `json:"marks"`
	Bands  []strip    `json:"bands"`
	Down   [][3]int64 `json:"down"` // lane, from, to
	Broken *broken    `json:"broken"`
}

type lane struct {
	Name  string `json:"name"`
	Group string `json:"group"`
}

// arrow is a message. Arrived is negative if it never arrived.
type arrow struct {
	From    int    `json:"f"`
	To      int    `json:"t"` // negative: unknown
	Sent    int64  `json:"s"`
	Arrived int64  `json:"a"`
	Sort    string `json:"c"` // order, answer, figures, other
	Job     int    `json:"j"`
	Name    string `json:"n"`
	More    string `json:"x,omitempty"`
}

type mark struct {
	Lane int    `json:"l"`
	At   int64  `json:"s"`
	Sort sort   `json:"k"`
	Job  int    `json:"j"`
	Name string `json:"n"`
	More string `json:"x,omitempty"`
}

// strip is a fault. Lanes is nil if it hits all.
type strip struct {
	From   int64  `json:"s"`
	To     int64  `json:"e"`
	Family string `json:"k"` // process, network, disk, clock, executor
	Lanes  []int  `json:"l"`
	Peers  []int  `json:"p,omitempty"`
	Name   string `json:"n"`
}

type broken struct {
	At   int64  `json:"s"`
	Lane int    `json:"l"`
	Text string `json:"n"`
}

// builder turns entries into a page.
type builder struct {
	r     *Recorder
	page  page
	lanes map[node.ID]int
	jobs  map[message.JobID]int
}

func micros(d time.Duration) int64 { return d.Microseconds() }

func (r *Recorder) build(a About) *page {
	b := &builder{r: r, lanes: map[node.ID]int{}, jobs: map[message.JobID]int{}}
	entries := r.window()
	from, to := time.Duration(0), r.seen
	if len(entries) > 0 {
		if r.cut && r.around != FromBeginning {
			from = entries[0].at
		}
		if r.cut {
			to = entries[len(entries)-1].at
		}
	}
	lost := r.lostRoutine(from, to)
	b.addLanes(entries, lost, a)
	b.page.Title, b.page.Notes = a.Title, append(a.Notes, r.note(len(entries), len(lost), from, to))
	b.page.Window, b.page.Until = [2]int64{micros(from), micros(to)}, micros(r.seen)
	for i := range entries {
		b.add(&entries[i])
	}
	for _, j := range lost {
		b.arrow(j, message.NameOf(j.Message), fields(j.Message))
	}
	b.addBands(from, to, a.Healed)
	b.addDown(from, to)
	if a.Broken != "" {
		at, known := b.lanes[a.BrokenOn]
		if !known {
			at = -1
		}
		b.page.Broken = &broken{micros(a.BrokenAt), at, clip(a.Broken, 400)}
	}
	return &b.page
}

// lostRoutine returns the heartbeats of the window that never arrived.
func (r *Recorder) lostRoutine(from, to time.Duration) []*journey.Journey {
	var lost []*journey.Journey
	for _, j := range r.tracker.Lost() {
		if journey.Routine(j.Message) && j.Sent >= from && j.Sent <= to && len(lost) < lostMax {
			lost = append(lost, j)
		}
	}
	return lost
}

// lostMax bounds the number of lost heartbeats in a picture.
const lostMax = 500

// addLanes gives every node in the window a lane: clients, gates, managers, workers, each by
// datacenter, then by name.
func (b *builder) addLanes(entries []entry, lost []*journey.Journey, a About) {
	seen := map[node.ID]bool{}
	for i := range entries {
		seen[entries[i].node] = true
		if j := entries[i].journey; j != nil {
			seen[b.r.tracker.Whom(j)] = true
		}
	}
	for _, j := range lost {
		seen[j.From], seen[b.r.tracker.Whom(j)] = true, true
	}
	for _, band := range b.r.bands {
		for _, id := range band.fault.Nodes {
			seen[node.ID(id)] = true
		}
	}
	seen[a.BrokenOn] = true
	delete(seen, "")
	var ids []node.ID
	//lint:orderfree sorted below
	for id := range seen {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y node.ID) int {
		return cmp.Or(cmp.Compare(b.rank(x), b.rank(y)), cmp.Compare(b.r.places[x], b.r.places[y]),
			cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	for _, id := range ids {
		b.lanes[id] = len(b.page.Lanes)
		b.page.Lanes = append(b.page.Lanes, lane{string(id), b.group(id)})
	}
}

// rank orders roles from clients to workers; unknown ones come last.
func (b *builder) rank(id node.ID) int {
	if role := b.r.roles[id]; role.Valid() {
		return int(role)
	}
	return 1 << 8
}

func (b *builder) group(id node.ID) string {
	role := b.r.roles[id]
	if !role.Valid() {
		return "others"
	}
	name := role.String() + "s"
	if place := b.r.places[id]; place != "" {
		name += " " + place
	}
	return name
}

func (b *builder) add(e *entry) {
	name, more := text(e)
	if e.sort == sortSend {
		b.arrow(e.journey, name, more)
		return
	}
	job := -1
	if e.event != nil {
		job = b.job(journey.JobOfEvent(e.event))
	} else if e.message != nil {
		job = b.job(journey.JobOf(e.message))
	}
	b.page.Marks = append(b.page.Marks, mark{b.lanes[e.node], micros(e.at), e.sort, job, name, more})
}

func (b *builder) arrow(j *journey.Journey, name, more string) {
	to, known := b.lanes[b.r.tracker.Whom(j)]
	if !known {
		to = -1
	}
	arrived := int64(-1)
	if !j.Lost() {
		arrived = micros(j.Arrived)
	}
	b.page.Arrows = append(b.page.Arrows, arrow{
		b.lanes[j.From], to, micros(j.Sent), arrived, colour(j.Message), b.job(journey.JobOf(j.Message)), name, more,
	})
}

// job returns a job's index, or -1 for none.
func (b *builder) job(id message.JobID) int {
	if id == (message.JobID{}) {
		return -1
	}
	i, known := b.jobs[id]
	if !known {
		i = len(b.page.Jobs)
		b.jobs[id] = i
		b.page.Jobs = append(b.page.Jobs, id.String())
	}
	return i
}

// colour groups messages by their purpose.
func colour(m node.Message) string {
	switch m.(type) {
	case *message.JobSubmit, *message.JobDispatch, *message.ShardDispatch:
		return "order"
	case *message.SubjobResult, *message.ShardResult, *message.JobResult:
		return "result"
	case *message.JobRefused, *message.ShardRefused, *message.Refused, *message.JobCancel, *message.SubjobCancel, *message.ShardCancel:
		return "refusal"
	}
	if journey.Progress(m) || journey.Routine(m) {
		return "figures"
	}
	return "other"
}

func (b *builder) indices(names []string) []int {
	var all []int
	for _, name := range names {
		if i, known := b.lanes[node.ID(name)]; known {
			all = append(all, i)
		}
	}
	return all
}

// addBands draws the faults that overlap the window. A fault without an end lasts until the
// world heals everything.
func (b *builder) addBands(from, to, healed time.Duration) {
	for _, band := range b.r.bands {
		f := &band.fault
		end := band.at + f.For
		switch f.Kind {
		case sim.FaultBreakStreams, sim.FaultHalfOpen, sim.FaultHeal:
			end = band.at
		default:
			if f.For == 0 {
				end = b.r.seen
			}
			if healed > 0 && band.at < healed {
				end = min(end, healed)
			}
		}
		if end < from || band.at > to {
			continue
		}
		b.page.Bands = append(b.page.Bands, strip{
			micros(band.at), micros(end), family(f.Kind), b.indices(f.Nodes), b.indices(f.Peers), story.Fault(f),
		})
	}
}

// addDown draws the times at which a node was down: from an end to the next start.
func (b *builder) addDown(from, to time.Duration) {
	for _, end := range b.r.ends {
		i, known := b.lanes[end.node]
		if !known {
			continue
		}
		until := b.r.seen
		for _, start := range b.r.starts {
			if start.node == end.node && start.at >= end.at {
				until = start.at
				break
			}
		}
		if until >= from && end.at <= to {
			b.page.Down = append(b.page.Down, [3]int64{int64(i), micros(end.at), micros(until)})
		}
	}
}

// family groups faults by what they affect.
func family(kind string) string {
	switch kind {
	case sim.FaultCrash, sim.FaultPause, sim.FaultSuspend, sim.FaultStop:
		return "process"
	case sim.FaultBurst, sim.FaultPrograms, sim.FaultQueries, sim.FaultTight:
		return "load"
	case sim.FaultSlowCPU, sim.FaultClockDrift:
		return "clock"
	case sim.FaultDiskSlow, sim.FaultDiskFull, sim.FaultDiskLostWrites, sim.FaultDiskTorn:
		return "disk"
	case sim.FaultExecCrash, sim.FaultExecHang, sim.FaultExecSlow:
		return "executor"
	}
	return "network"
}
