package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hyperscale/core/archive"
	"hyperscale/core/gate/restore"
	"hyperscale/core/lease/copies"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/store"
)

// Order says which group is to be restored, and where its first disk is.
type Order struct {
	Cluster, Environment string
	ID                   node.ID
	Members              []node.Addr
	Directory            string
	Partial              bool   // also from less than a majority
	Draw                 uint64 // below copies.EpochDraw
}

// Restored is what a restore has made.
type Restored struct {
	Manifest *Manifest
	Epoch    uint64
	Token    message.LeaseToken
	Jobs     []restore.Job
	Absent   int // files that jobs name and the backup does not have
}

// Restore makes the data directory of one gate from a backup: the other gates start with empty
// ones. It reads all of the backup before it writes, and makes the directory at once, or not.
func Restore(file io.ReadSeeker, o *Order) (*Restored, error) {
	if err := vacant(o.Directory); err != nil {
		return nil, err
	}
	var all []copies.Copy
	more := map[string]int{} // by address: which copy goes on
	have := map[message.FileDigest]bool{}
	m, err := Scan(file, Visitor{
		Page: func(p *message.BackupPage) error {
			at, goes := more[p.Addr]
			if !goes {
				at, all = len(all), append(all, copies.Copy{Epoch: p.Epoch})
				more[p.Addr] = at
			}
			if !p.More {
				delete(more, p.Addr)
			}
			c := &all[at]
			c.Floor, c.Level = max(c.Floor, p.Floor), max(c.Level, p.Level)
			c.Registers = append(c.Registers, p.Registers...)
			return nil
		},
		File: func(d message.FileDigest, _ []byte) error { have[d] = true; return nil },
	})
	if err != nil {
		return nil, err
	}
	if err := o.fits(m); err != nil {
		return nil, err
	}
	g := copies.Ground{Group: groupGates, Members: o.Members, Merged: copies.Merge(all), Draw: o.Draw}
	out := &Restored{Manifest: m, Epoch: g.Epoch(), Token: g.Token()}
	if out.Jobs, err = restore.Mark(g.Merged.Registers, "a backup of "+m.Began); err != nil {
		return nil, err
	}
	for _, j := range out.Jobs {
		for _, d := range j.Files {
			if !have[d] && j.Unknown {
				out.Absent++
			}
		}
	}
	records, err := g.Disk()
	if err != nil {
		return nil, err
	}
	return out, o.write(file, records)
}

// vacant refuses a directory that has anything in it.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: a restore makes a new directory, and never mixes with an old one: choose another --data, or move that one away", dir)
	}
	return nil
}

func (o *Order) fits(m *Manifest) error {
	switch {
	case m.Cluster != o.Cluster:
		return fmt.Errorf("the backup is of cluster %q, and this gate is of %q: choose another file, or correct --cluster", m.Cluster, o.Cluster)
	case m.Environment != o.Environment:
		return fmt.Errorf("the backup is of environment %q, and this gate is of %q: choose another file, or correct --environment", m.Environment, o.Environment)
	case !m.Whole && !o.Partial:
		return fmt.Errorf("the backup has %d of %d gates, which are no majority: jobs that were acknowledged may be missing from it; use a whole one, or add --partial", m.counted(), len(m.Members))
	}
	return nil
}

// batchBytes bounds what waits for the store.
const batchBytes = 4 << 20

// write makes the directory beside its place, and then gives it its name.
func (o *Order) write(file io.ReadSeeker, records []node.Record) (err error) {
	dir := strings.TrimRight(o.Directory, string(filepath.Separator))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".restore-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made) // the first error says more
		}
	}()
	if err := o.fill(made, file, records); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty one may stand there
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// fill writes the records and the files of the backup into a new store.
func (o *Order) fill(dir string, file io.ReadSeeker, records []node.Record) error {
	s, err := store.Open(dir, o.ID)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	s.Serve(func(_ node.WriteID, err error) { done <- err })
	put := func(records []node.Record) error {
		s.Put(records, 1)
		return <-done
	}
	err = func() error {
		for batch := range batches(records) {
			if err := put(batch); err != nil {
				return err
			}
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := Scan(file, Visitor{File: func(_ message.FileDigest, b []byte) error {
			return put(archive.Records(groupGates, b))
		}})
		return err
	}()
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// batches cuts records into parts of bounded size.
func batches(records []node.Record) func(yield func([]node.Record) bool) {
	return func(yield func([]node.Record) bool) {
		for len(records) > 0 {
			n, size := 0, 0
			for n < len(records) && (n == 0 || size+len(records[n].Value) <= batchBytes) {
				size += len(records[n].Value)
				n++
			}
			if !yield(slices.Clip(records[:n])) {
				return
			}
			records = records[n:]
		}
	}
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // nothing was written to it
	return d.Sync()
}
