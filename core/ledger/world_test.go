package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

const (
	late     = 15 * time.Second // of the ledger under test
	keepable = 2 * late         // how long after Kept the others keep a file that no record names
)

// world plays the registers and the archive: the ledger's requests wait until the test answers.
type world struct {
	*nodetest.Env
	fail func(string, ...any)
	l    *Ledger[string]
	out  []string // what the ledger requested and handed out

	registers map[message.JobID]*register
	refuse    bool // the world rejects updates
	rejected  []lease.Outcome
	reads     []asked

	here    map[message.FileDigest][]byte
	kept    map[message.FileDigest]node.Instant // when a majority last had it
	keeps   []asked
	fetches []asked
}

// register is one register: the record that a majority has, and those on their way.
type register struct {
	record  string
	updates []asked
	seed    string // of an acquisition
	sent    int    // version of the newest record that was sent
	named   string // the newest record that was sent and not rejected
}

// asked is a request that waits for its answer.
type asked struct {
	job    message.JobID
	record string
	file   message.FileDigest
	ticket uint64
}

func newWorld(fail func(string, ...any)) *world {
	w := &world{
		Env: nodetest.New(nodetest.Config{
			Self: node.Peer{ID: "n1", Incarnation: 1, Role: node.RoleGate, Addr: "n1:1"}, Seed: 1, New: func() node.Machine { return nil },
		}),
		fail: fail, l: New[string](late), registers: map[message.JobID]*register{},
		here: map[message.FileDigest][]byte{}, kept: map[message.FileDigest]node.Instant{},
	}
	w.Discard = true
	w.l.Start(w, (*desk)(w))
	return w
}

func (w *world) at(job message.JobID) *register {
	if w.registers[job] == nil {
		w.registers[job] = &register{}
	}
	return w.registers[job]
}

func (w *world) say(format string, args ...any) { w.out = append(w.out, fmt.Sprintf(format, args...)) }

// Acquire implements Registers.
func (w *world) Acquire(_ node.Env, job message.JobID, seed []byte) {
	w.say("acquire %s %s", name(job), seed)
	w.judge(job, string(seed))
	w.at(job).seed, w.at(job).named = string(seed), string(seed)
}

// Update implements Registers.
func (w *world) Update(_ node.Env, job message.JobID, record []byte, ticket uint64) {
	w.say("update %s %s", name(job), w.text(string(record)))
	w.judge(job, string(record))
	if w.refuse {
		w.rejected = append(w.rejected, lease.Outcome{Kind: lease.Rejected, Job: job, Ticket: ticket, Err: lease.ErrNotHolder})
		return
	}
	r := w.at(job)
	r.named = w.text(string(record))
	r.updates = append(r.updates, asked{job: job, record: string(record), ticket: ticket})
}

// Read implements Registers.
func (w *world) Read(_ node.Env, job message.JobID, ticket uint64) {
	w.say("read %s", name(job))
	w.reads = append(w.reads, asked{job: job, ticket: ticket})
}

// desk is the archive of a world.
type desk world

func (d *desk) Keep(_ node.Env, b []byte, ticket uint64) message.FileDigest {
	file := archive.DigestOf(b)
	d.here[file] = b
	(*world)(d).say("keep %s", b)
	d.keeps = append(d.keeps, asked{file: file, ticket: ticket})
	return file
}

func (d *desk) Fetch(_ node.Env, f message.FileDigest, ticket uint64) {
	(*world)(d).say("fetch %s", (*world)(d).here[f])
	d.fetches = append(d.fetches, asked{file: f, ticket: ticket})
}

func (d *desk) Borrow(_ node.Env, f message.FileDigest, ticket uint64) {
	(*world)(d).say("borrow %s", (*world)(d).here[f])
	d.fetches = append(d.fetches, asked{file: f, ticket: ticket})
}

func (d *desk) Have(f message.FileDigest) ([]byte, bool) {
	b, ok := d.here[f]
	return b, ok
}

func (d *desk) Stale(_ node.Env, f message.FileDigest) bool { return !(*world)(d).fresh(f) }

// fresh reports that a majority still has a file that no record names.
func (w *world) fresh(f message.FileDigest) bool {
	at, ok := w.kept[f]
	return ok && w.Now().Sub(at) < keepable
}

// The records of these tests are texts: a version, and the names of files behind it. A record
// that is itself a file is "=" and that file's bytes.
func (w *world) text(record string) string {
	if file, ok := strings.CutPrefix(record, "="); ok {
		return "=" + string(w.here[message.FileDigest([]byte(file))])
	}
	return record
}

func (w *world) version(record string) (v int) {
	_, _ = fmt.Sscanf(strings.TrimPrefix(w.text(record), "="), "v%d", &v)
	return v
}

// judge checks that a majority keeps each file when a record first names it (LEDGER-4), and
// that records go out in order (LEDGER-5). A sent record is on a majority before its files are
// swept, or its register is lost.
func (w *world) judge(job message.JobID, record string) {
	r := w.at(job)
	if file, ok := strings.CutPrefix(record, "="); ok && !w.fresh(message.FileDigest([]byte(file))) {
		w.fail("the register of %s names a record that no majority has: %s", name(job), w.text(record))
	}
	known := strings.Fields(r.named)
	for _, file := range strings.Fields(w.text(record))[1:] {
		if !slices.Contains(known, file) && !w.fresh(archive.DigestOf([]byte(file))) {
			w.fail("the register of %s names the file %s, which its keepers may sweep, or no majority has", name(job), file)
		}
	}
	if v := w.version(record); v < r.sent {
		w.fail("the record of %s with version %d goes out after one with version %d", name(job), v, r.sent)
	} else {
		r.sent = v
	}
}

// accept lets a majority take a number of updates, or an acquisition.
func (w *world) accept(job message.JobID, n int) {
	r := w.at(job)
	if r.seed != "" {
		r.record, r.seed = r.seed, ""
		w.l.Granted(w, job)
		return
	}
	done := r.updates[:n]
	r.updates = r.updates[n:]
	r.record = done[n-1].record
	for _, u := range done {
		w.l.OnLease(&lease.Outcome{Kind: lease.Updated, Job: job, Ticket: u.ticket})
	}
}

// lose ends a register.
func (w *world) lose(job message.JobID) {
	w.registers[job] = nil
	w.l.OnLease(&lease.Outcome{Kind: lease.Lost, Job: job})
}

// keep answers one of the Keeps that wait.
func (w *world) keep(at int, err error) {
	k := w.keeps[at]
	w.keeps = slices.Delete(w.keeps, at, at+1)
	o := archive.Outcome{Kind: archive.Kept, File: k.file, Ticket: k.ticket, Err: err}
	if err != nil {
		o.Kind = archive.Failed
	} else {
		w.kept[k.file] = w.Now()
	}
	w.l.OnFile(w, &o)
}

// fetch answers one of the fetches that wait.
func (w *world) fetch(at int, err error) {
	f := w.fetches[at]
	w.fetches = slices.Delete(w.fetches, at, at+1)
	o := archive.Outcome{Kind: archive.Fetched, File: f.file, Ticket: f.ticket, Bytes: w.here[f.file], Err: err}
	if err != nil {
		o.Kind, o.Bytes = archive.Failed, nil
	}
	w.l.OnFile(w, &o)
}

func name(job message.JobID) string { return fmt.Sprintf("j%d", job[0]) }
