package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/gate/job"
	"hyperscale/core/lease/copies"
	"hyperscale/core/message"
)

// Gate is a member of the group that answers for itself, one page at a time: the next page leaves
// only when the one before is written, so that a slow disk slows the gate's pages and nothing else.
type Gate struct {
	Addr string
	Ask  func(context.Context, *message.BackupQuery) (*message.BackupPage, error)
}

// Task is a backup that is to be made.
type Task struct {
	Cluster, Environment, Version string
	Members                       []string // the configured gates
	Gates                         []Gate
	Now                           func() time.Time
	Tell                          func(func() string) // progress; called often
}

// collector collects the copies of a group.
type collector struct {
	*Task
	out      *Writer
	manifest Manifest
	jobs     map[message.JobID]*named
	have     map[message.FileDigest]bool // files that are written
}

// named is what the copies so far say of a job: its latest state, and the files that any copy names.
type named struct {
	state  message.LeaseState // without its record
	reaped bool
	open   bool
	files  []message.FileDigest
}

// Collect asks each gate for its registers, then for the files that these name, and writes a
// backup. A gate that does not answer is missing from it.
func Collect(ctx context.Context, t *Task, w io.Writer) (*Manifest, error) {
	out, err := NewWriter(w)
	if err != nil {
		return nil, err
	}
	c := &collector{Task: t, out: out, jobs: map[message.JobID]*named{}, have: map[message.FileDigest]bool{}}
	c.manifest = Manifest{
		Cluster: t.Cluster, Environment: t.Environment, Version: t.Version, Began: t.Now().UTC().Format(time.RFC3339),
		Members: slices.Sorted(slices.Values(t.Members)), Copies: []Copied{}, Missing: []Missing{}, Absent: []string{},
	}
	// A majority has a file before a record names it, so registers come first. Gates drop the files
	// of a job that has ended since: then its later record is asked for, which names its result.
	gates := t.Gates
	for round := range roundsMax {
		var answered []Gate
		for _, g := range gates {
			why, err := c.registers(ctx, g)
			switch {
			case err != nil:
				return nil, err
			case why == "":
				answered = append(answered, g)
			case round == 0:
				c.manifest.Missing = append(c.manifest.Missing, Missing{g.Addr, why})
			}
		}
		gates = answered
		if err := c.files(ctx, gates); err != nil {
			return nil, err
		}
		if len(c.manifest.Absent) == 0 {
			break
		}
	}
	for _, k := range c.manifest.Copies {
		c.manifest.Epoch = max(c.manifest.Epoch, k.Epoch)
	}
	c.manifest.Whole = c.manifest.counted() >= len(c.manifest.Members)/2+1
	c.manifest.Ended = t.Now().UTC().Format(time.RFC3339)
	return &c.manifest, c.out.Close(&c.manifest)
}

// roundsMax bounds how often registers are asked for again, as jobs have ended since.
const roundsMax = 4

// askTries is how often a gate is asked for one page.
const askTries = 3

// registers writes the pages of one gate. It returns why that gate is missing, and an error that
// ends the backup: what was written of a gate that stopped half way would be no copy.
func (c *collector) registers(ctx context.Context, g Gate) (missing string, err error) {
	k := Copied{Addr: g.Addr}
	sum := sha256.New()
	for q := (&message.BackupQuery{}); ; {
		p, err := c.ask(ctx, g, q)
		if err == nil {
			slices.Sort(p.Members)
		}
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && k.Registers == 0:
			return err.Error(), nil
		case err != nil:
			return "", fmt.Errorf("gate %s stopped after %d registers: make the backup again: %w", g.Addr, k.Registers, err)
		case !slices.Equal(p.Members, c.manifest.Members):
			return "", fmt.Errorf("gate %s is configured with the set %v, another one with %v: give all gates the same one", g.Addr, p.Members, c.manifest.Members)
		}
		k.Gate, k.Epoch = p.Gate, p.Epoch
		p.Request = message.RequestID{}
		body, err := c.out.Page(p)
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(body) // a hash takes all
		k.Registers += uint64(len(p.Registers))
		for i := range p.Registers {
			c.note(&p.Registers[i])
		}
		c.Tell(func() string { return fmt.Sprintf("%s: %d registers", g.Addr, k.Registers) })
		if !p.More || len(p.Registers) == 0 {
			break
		}
		q = &message.BackupQuery{After: p.Registers[len(p.Registers)-1].Job}
	}
	k.SHA256 = hex.EncodeToString(sum.Sum(nil))
	c.manifest.Copies = append(c.manifest.Copies, k)
	return "", nil
}

// ask asks a gate that answers for itself.
func (c *collector) ask(ctx context.Context, g Gate, q *message.BackupQuery) (*message.BackupPage, error) {
	var p *message.BackupPage
	var err error
	for range askTries {
		if p, err = g.Ask(ctx, q); err == nil && p.Addr == g.Addr {
			return p, nil
		}
		if err != nil {
			break // the client has repeated it
		}
		err = fmt.Errorf("gate %s answers in its place", p.Addr)
	}
	return nil, err
}

// note remembers which files a register names.
func (c *collector) note(r *message.LeaseRegister) {
	if r.Accepted.Token.Zero() {
		return
	}
	n := c.jobs[r.Job]
	if n == nil {
		n = &named{}
		c.jobs[r.Job] = n
	}
	var files []message.FileDigest
	open := false
	if !r.Reaped && len(r.Accepted.Record) > 0 {
		if rec, err := job.ReadRecord(r.Job, r.Accepted.Record); err == nil {
			files, open = rec.Files(), !rec.Last.To.Terminal()
		}
	}
	if n.state.Token.Zero() || copies.Later(&r.Accepted, r.Reaped, &n.state, n.reaped) {
		n.state, n.reaped, n.open, n.files = r.Accepted, r.Reaped, open, files
		n.state.Record = nil
	}
}

// files writes each file that the latest registers name, from the first gate that has it.
func (c *collector) files(ctx context.Context, gates []Gate) error {
	open := map[message.FileDigest]bool{} // named by a job that has not ended
	for _, n := range c.jobs {
		for _, d := range n.files {
			open[d] = open[d] || n.open
		}
	}
	all := make([]message.FileDigest, 0, len(open))
	for d := range open {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b message.FileDigest) int {
		if open[a] != open[b] { // these may be gone soon
			if open[a] {
				return -1
			}
			return 1
		}
		return slices.Compare(a[:], b[:])
	})
	c.manifest.Absent = c.manifest.Absent[:0]
	for i, d := range all {
		if c.have[d] {
			continue
		}
		b, err := c.file(ctx, gates, i, d)
		switch {
		case err != nil:
			return err
		case b == nil && open[d]:
			c.manifest.Absent = append(c.manifest.Absent, hex.EncodeToString(d[:]))
		case b != nil:
			if err := c.out.File(b); err != nil {
				return err
			}
			c.have[d] = true
			c.manifest.Files++
			c.manifest.FileBytes += uint64(len(b))
		}
		c.Tell(func() string { return fmt.Sprintf("%d of %d files", i+1, len(all)) })
	}
	return nil
}

// file returns a file, nil if no gate has it: a result that gates have forgotten, say.
func (c *collector) file(ctx context.Context, gates []Gate, first int, d message.FileDigest) ([]byte, error) {
	for i := range gates {
		g := gates[(first+i)%len(gates)]
		var b []byte
		for more := true; more; {
			p, err := c.ask(ctx, g, &message.BackupQuery{File: d, Offset: uint64(len(b))})
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil || len(p.Data) == 0 || len(b)+len(p.Data) > archive.FileMax {
				b = nil
				break
			}
			b = append(b, p.Data...)
			more = p.More
		}
		if b != nil && archive.DigestOf(b) == d {
			return b, nil
		}
	}
	return nil, nil
}
