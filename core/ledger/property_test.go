package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
)

// role is a role that uses a ledger, and a simple model of the ledger: it remembers each
// request and what must be true of its outcome.
type role struct {
	*world
	t     *rapid.T
	jobs  map[message.JobID]*held
	next  int
	kind  bool                // the world rejects nothing
	cruel bool                // the role closes registers while it acts, and finds files that it cannot use
	loose map[string]*request // requests without a register
}

// held is a register that the role holds.
type held struct {
	job     message.JobID
	version int
	names   []string   // that its record names
	awaits  bool       // it writes records at the end of a step; else it proposes
	large   bool       // its records are files
	waits   []*request // for records, the oldest first
	files   map[string]*request
}

// request is a tag that the ledger has not handed out.
type request struct {
	version int // of the record that it waits for
	file    string
	missing int // rounds without the file
	once    bool
}

func (r *role) tag(what string) string {
	r.next++
	return fmt.Sprint(what, r.next)
}

func (r *role) record(h *held) string {
	return strings.Join(append([]string{fmt.Sprint("v", h.version)}, h.names...), " ")
}

// change is a request that waits for the next record of a register.
func (r *role) change(h *held, files ...string) {
	h.version++
	tag := fmt.Sprint("c", h.version)
	h.waits = append(h.waits, &request{version: h.version})
	h.names = append(h.names, files...)
	if h.awaits {
		r.l.Await(h.job, tag)
		return
	}
	var bytes [][]byte
	for _, f := range files {
		bytes = append(bytes, []byte(f))
	}
	r.l.Propose(r, h.job, []byte(r.record(h)), bytes, tag)
}

// settle acts on all that the ledger hands out, and writes what has changed.
func (r *role) settle() {
	r.spares()
	for again := true; again; {
		again = false
		for len(r.rejected) > 0 {
			o := r.rejected[0]
			r.rejected = r.rejected[1:]
			r.l.OnLease(&o)
		}
		for o, ok := r.l.Next(); ok; o, ok = r.l.Next() {
			again = true
			r.act(&o)
		}
		for _, job := range r.l.Changed() {
			again = true
			h := r.jobs[job]
			if record := []byte(r.record(h)); h.large {
				d := archive.DigestOf(record)
				r.l.Write(r, job, append([]byte("="), d[:]...), record)
			} else {
				r.l.Write(r, job, record)
			}
		}
	}
}

// spares checks that a sweep spares the files of proposals that no majority has.
func (r *role) spares() {
	inUse := map[message.FileDigest]bool{}
	r.l.Use(inUse)
	//lint:orderfree each is judged by itself
	for _, h := range r.jobs {
		known := strings.Fields(r.at(h.job).record)
		for _, f := range h.names {
			if !h.awaits && !slices.Contains(known, f) && !inUse[archive.DigestOf([]byte(f))] {
				r.t.Fatalf("%s: the file %s of a proposal is not spared", name(h.job), f)
			}
		}
	}
}

func (r *role) act(o *Outcome[string]) {
	r.say("%s %v %s at %v", name(o.Job), o.Kind, o.Tag, r.Now())
	h := r.jobs[o.Job]
	switch o.Kind {
	case Committed:
		if h == nil || len(h.waits) == 0 {
			r.t.Fatalf("%s of %s is committed, and nothing waits", o.Tag, name(o.Job))
		}
		first := h.waits[0]
		if want := fmt.Sprint("c", first.version); o.Tag != want {
			r.t.Fatalf("%s follows, want %s: tags are handed out in their order, each once", o.Tag, want)
		}
		if got := r.version(r.at(o.Job).record); got < first.version {
			r.t.Fatalf("%s is committed, and a majority has version %d", o.Tag, got)
		}
		if h.waits = h.waits[1:]; r.cruel && rapid.IntRange(0, 9).Draw(r.t, "closes") == 0 {
			r.close(h, 1)
		}
	case Late:
		var files []message.FileDigest
		for _, f := range h.names {
			files = append(files, archive.DigestOf([]byte(f)))
		}
		r.l.KeepAgain(r, o.Job, files)
	case Refused:
		if h != nil && !h.awaits && h.files[o.Tag] == nil {
			return // of a proposal: Retry keeps it again
		}
		r.taken(h, o)
	case Kept:
		if q := r.taken(h, o); h != nil && h.awaits {
			r.change(h, q.file)
		}
	case Fetched, Gone, Read:
		if q := r.find(h, o); r.cruel && o.Kind == Fetched && !q.once && rapid.Bool().Draw(r.t, "useless") {
			r.l.Again(o)
			return
		}
		q := r.taken(h, o)
		if gone := q.missing >= GoneMax; gone != (o.Kind == Gone) {
			r.t.Fatalf("%s is %v after %d rounds without it", o.Tag, o.Kind, q.missing)
		}
	case Unread:
		if r.find(h, o).once {
			r.taken(h, o)
		}
	}
}

func (r *role) find(h *held, o *Outcome[string]) *request {
	files := r.loose
	if h != nil {
		files = h.files
	}
	q := files[o.Tag]
	if q == nil {
		r.t.Fatalf("%s of %s is handed out twice, or after its register was closed: %v", o.Tag, name(o.Job), o.Kind)
	}
	return q
}

// taken returns the request of an outcome, and removes it.
func (r *role) taken(h *held, o *Outcome[string]) *request {
	q := r.find(h, o)
	if h != nil {
		delete(h.files, o.Tag)
	} else {
		delete(r.loose, o.Tag)
	}
	return q
}

// any returns a register that the role holds, or nil.
func (r *role) any(t *rapid.T) *held {
	jobs := slices.SortedFunc(maps.Keys(r.jobs), message.JobID.Compare)
	if len(jobs) == 0 {
		return nil
	}
	return r.jobs[rapid.SampledFrom(jobs).Draw(t, "job")]
}

func (r *role) open(t *rapid.T) {
	job := message.JobID{byte(rapid.IntRange(1, 3).Draw(t, "register"))}
	if r.jobs[job] != nil {
		return
	}
	delete(r.registers, job)
	h := &held{job: job, files: map[string]*request{}, awaits: rapid.Bool().Draw(t, "awaits")}
	r.jobs[job] = h
	switch {
	case h.awaits:
		h.large = rapid.Bool().Draw(t, "large")
		r.l.Open(job)
	case rapid.Bool().Draw(t, "claims"):
		r.l.Claim(job)
		r.change(h, r.tag("f"))
	default:
		r.l.Open(job)
	}
}

// close ends a register in one of the three ways.
func (r *role) close(h *held, how int) {
	delete(r.jobs, h.job)
	r.rejected = slices.DeleteFunc(r.rejected, func(o lease.Outcome) bool { return o.Job == h.job })
	switch how {
	case 0:
		r.lose(h.job)
	case 1:
		r.l.Close(h.job)
	}
	if !r.l.Idle(h.job) {
		r.t.Fatalf("%s is closed and not idle", name(h.job))
	}
}

var errAway = errors.New("a member is away")

// A role proposes, awaits, keeps, fetches and reads. Registers and members answer late and in
// any order, reject requests, and are lost. The ledger hands out no tag before a majority has
// its record, out of order, twice, or after its register was lost. No register names a file
// that its keepers may sweep. Once all is answered and retried, the ledger has handed out every
// tag and nothing remains.
func TestRequestsFollowTheirRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &role{t: t, jobs: map[message.JobID]*held{}, loose: map[string]*request{}}
		r.world = newWorld(func(format string, args ...any) {
			t.Fatalf(format+"; the ledger did:\n%s", append(args, strings.Join(r.out, "\n"))...)
		})
		r.kind = rapid.IntRange(0, 3).Draw(t, "kind") == 0
		r.cruel = !r.kind
		for range 150 {
			r.step(t)
			if rapid.IntRange(0, 3).Draw(t, "acts") > 0 {
				r.settle()
			}
		}
		r.cruel, r.refuse = false, false
		if rapid.IntRange(0, 3).Draw(t, "ends") > 0 {
			r.finish()
		} else {
			r.leave()
		}
	})
}

// step is one random event.
func (r *role) step(t *rapid.T) {
	what := rapid.SampledFrom([]string{
		"open", "open", "change", "change", "change", "keep", "keep", "fetch", "accept", "accept", "accept", "kept", "kept", "kept", "kept", "kept",
		"fetched", "retry", "retry", "retry", "pass", "pass", "large", "close", "refuse", "refuse", "read", "lost",
	}).Draw(t, "what")
	h := r.any(t)
	if h == nil || what == "open" {
		r.open(t)
		return
	}
	switch what {
	case "change":
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			if !h.awaits && rapid.Bool().Draw(t, "file") {
				r.change(h, r.tag("f"))
			} else {
				r.change(h)
			}
		}
	case "large":
		h.large = h.awaits && !h.large
	case "keep":
		tag := r.tag("k")
		h.files[string(tag)] = &request{file: "file-" + tag}
		r.l.Keep(r, h.job, []byte("file-"+tag), tag)
	case "fetch":
		r.ask(t, h)
	case "read":
		tag := r.tag("r")
		r.loose[tag] = &request{}
		r.l.Read(r, message.JobID{9}, tag)
	case "accept":
		if q := r.at(h.job); len(q.updates) > 0 {
			r.accept(h.job, rapid.IntRange(1, len(q.updates)).Draw(t, "updates"))
		} else if q.seed != "" {
			r.accept(h.job, 1)
		}
	case "close":
		r.close(h, rapid.IntRange(0, 1).Draw(t, "how"))
	case "refuse":
		r.refuse = !r.refuse && !r.kind
	case "kept":
		r.answerKeep(t)
	case "fetched":
		if len(r.fetches) > 0 {
			err := rapid.SampledFrom([]error{nil, errAway, archive.ErrMissing}).Draw(t, "error")
			if r.kind {
				err = nil
			}
			r.bring(t, err)
		}
	case "lost":
		for n := rapid.IntRange(1, 2*GoneMax).Draw(t, "rounds"); n > 0 && !r.kind; n-- {
			for len(r.fetches) > 0 {
				r.bring(t, archive.ErrMissing)
			}
			r.settle()
			r.l.Retry(r)
		}
	case "retry":
		r.answerReads()
		r.again()
	case "pass":
		r.settle() // a role acts within the instant
		r.Advance(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
	}
}

func (r *role) ask(t *rapid.T, h *held) {
	tag := r.tag("g")
	h.files[string(tag)] = &request{once: rapid.Bool().Draw(t, "once")}
	d := archive.DigestOf([]byte(tag))
	r.here[d] = []byte(tag)
	if h.files[string(tag)].once {
		r.l.Borrow(r, h.job, d, tag)
	} else {
		r.l.Fetch(r, h.job, d, tag)
	}
}

func (r *role) answerKeep(t *rapid.T) {
	if len(r.keeps) == 0 {
		return
	}
	var err error
	if !r.kind && rapid.IntRange(0, 4).Draw(t, "refused") == 0 {
		err = archive.ErrFull
	}
	r.keep(rapid.IntRange(0, len(r.keeps)-1).Draw(t, "file"), err)
}

// bring answers one fetch.
func (r *role) bring(t *rapid.T, err error) {
	at := rapid.IntRange(0, len(r.fetches)-1).Draw(t, "fetch")
	if errors.Is(err, archive.ErrMissing) {
		tag := r.here[r.fetches[at].file]
		//lint:orderfree one of them has it
		for _, h := range r.jobs {
			if q := h.files[string(tag)]; q != nil {
				q.missing++
			}
		}
	}
	r.fetch(at, err)
}

func (r *role) answerReads() {
	for _, q := range r.reads {
		r.l.OnLease(&lease.Outcome{Kind: lease.Read, Job: q.job, Ticket: q.ticket})
	}
	r.reads = nil
}

func (r *role) again() {
	r.l.Retry(r)
	for _, job := range slices.SortedFunc(maps.Keys(r.jobs), message.JobID.Compare) {
		r.l.Resend(r, job)
	}
}

// leave closes all registers: the ledger hands out and retries nothing.
func (r *role) leave() {
	for _, job := range slices.SortedFunc(maps.Keys(r.jobs), message.JobID.Compare) {
		r.close(r.jobs[job], 1)
	}
	r.answerReads()
	r.settle()
	did := len(r.out)
	r.again()
	for len(r.keeps) > 0 {
		r.keep(0, nil)
	}
	for len(r.fetches) > 0 {
		r.fetch(0, nil)
	}
	if r.settle(); len(r.out) > did {
		r.t.Fatalf("of registers that are closed the ledger did:\n%s", strings.Join(r.out[did:], "\n"))
	}
	r.rests()
}

// finish answers and retries until nothing follows, and checks that no request was left out.
func (r *role) finish() {
	for range 20 {
		if r.settle(); !r.kind { // else all follows without it
			r.again()
			r.settle()
		}
		for len(r.keeps) > 0 {
			r.keep(0, nil)
			r.settle()
		}
		for len(r.fetches) > 0 {
			r.fetch(0, nil)
			r.settle()
		}
		r.answerReads()
		for _, job := range slices.SortedFunc(maps.Keys(r.jobs), message.JobID.Compare) {
			if q := r.at(job); len(q.updates) > 0 || q.seed != "" {
				r.accept(job, len(q.updates))
			}
			r.settle()
		}
	}
	for _, job := range slices.SortedFunc(maps.Keys(r.jobs), message.JobID.Compare) {
		h := r.jobs[job]
		if len(h.waits)+len(h.files) > 0 || !r.l.Idle(job) {
			r.t.Fatalf("%s: of %d changes %d do not follow, of its files %d; idle: %v", name(job), h.version, len(h.waits), len(h.files), r.l.Idle(job))
		}
		if got := r.version(r.at(job).record); got != h.version {
			r.t.Fatalf("%s: a majority has version %d, want %d", name(job), got, h.version)
		}
		r.l.Close(job)
	}
	if len(r.loose) > 0 {
		r.t.Fatalf("%d reads do not follow", len(r.loose))
	}
	r.rests()
}

func (r *role) rests() {
	r.l.Rests(func(what string, n, rest int) {
		if n != rest {
			r.t.Fatalf("%s: %d remain", what, n)
		}
	}, "role")
}
