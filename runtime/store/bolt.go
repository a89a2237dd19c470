package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"hyperscale/core/node"
)

// fileName is the store's file in the data directory.
const fileName = "store.db"

// format is that of the file: records with checksums in one bucket, the rest in another.
const format = 2

// The entries beside the records.
const (
	keyFormat      = "format"
	keyID          = "id"
	keyIncarnation = "incarnation"
	keyTotal       = "total"
)

// lockWait is how long Open waits for a process that is just ending.
const lockWait = time.Second

// Bolt is the Store of production.
type Bolt struct {
	db          *bbolt.DB
	path        string
	file        os.FileInfo // as opened
	incarnation uint64
	total       total // as committed
	intake      intake
	writer      sync.WaitGroup
	lost        chan error // holds one
	ended       chan struct{}
	ending      sync.Once // closes ended
}

var _ Store = (*Bolt)(nil)

// bucketRecords holds the records; bucketNode holds format, id and incarnation.
func bucketRecords() []byte { return []byte("records") }
func bucketNode() []byte    { return []byte("node") }

// Open opens the store of a node in dir, or makes it, and raises its
// incarnation.
func Open(dir string, id node.ID) (*Bolt, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, openError(dir, err)
	}
	path := filepath.Join(dir, fileName)
	if err := refuseDamage(dir, path); err != nil {
		return nil, err
	}
	s := &Bolt{path: path, lost: make(chan error, 1), ended: make(chan struct{})}
	s.intake.init()
	err := safely(func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout: lockWait, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		})
		return err
	})
	if err != nil {
		return nil, openError(dir, err)
	}
	if err = s.begin(dir, id); err == nil {
		err = syncDir(dir) // the file's own name must survive too
	}
	if err == nil {
		if s.file, err = os.Stat(path); err != nil {
			err = openError(dir, err)
		}
	}
	if err != nil {
		_ = s.db.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// refuseDamage reads all of a store before bbolt maps it.
func refuseDamage(dir, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // Open makes it
	}
	found, err := Inspect(dir)
	for end := time.Now().Add(lockWait); errors.Is(err, ErrInUse) && time.Now().Before(end); found, err = Inspect(dir) {
		time.Sleep(lockWait / 50)
	}
	switch {
	case errors.Is(err, ErrInUse):
		return openError(dir, bolterrors.ErrTimeout)
	case err != nil:
		return openError(dir, err)
	case len(found.Damages) > 0:
		return openError(dir, &found.Damages[0])
	}
	return nil
}

// begin checks whose store it is and raises the incarnation.
func (s *Bolt) begin(dir string, id node.ID) error {
	err := safely(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			if _, err := tx.CreateBucketIfNotExists(bucketRecords()); err != nil {
				return err
			}
			b, err := tx.CreateBucketIfNotExists(bucketNode())
			if err != nil {
				return err
			}
			if v := b.Get([]byte(keyFormat)); v != nil && !bytes.Equal(v, []byte{format}) {
				return fmt.Errorf("its format is %v, this program reads %d: use the version of hyperscale that wrote it, or choose another --data", v, format)
			}
			if v := b.Get([]byte(keyID)); v != nil && string(v) != string(id) {
				return fmt.Errorf("it belongs to node %q, not to %q: choose another --data, or start with --id %s", v, id, v)
			}
			s.total, _ = decodeTotal(b.Get([]byte(keyTotal))) // Open has compared it; a new store has none
			if v := b.Get([]byte(keyIncarnation)); len(v) == 8 {
				s.incarnation = binary.BigEndian.Uint64(v)
			}
			s.incarnation++
			if err := s.total.apply(tx.Bucket(bucketRecords()), []node.Record{selfRecord(id, s.incarnation)}); err != nil {
				return err
			}
			return errors.Join(
				b.Put([]byte(keyFormat), []byte{format}),
				b.Put([]byte(keyID), []byte(id)),
				b.Put([]byte(keyTotal), s.total.encode()),
				b.Put([]byte(keyIncarnation), binary.BigEndian.AppendUint64(nil, s.incarnation)))
		})
	})
	if err != nil {
		return openError(dir, err)
	}
	return nil
}

// openError says what to do about a data directory that cannot be used.
func openError(dir string, err error) error {
	remedy := ""
	var damage *DamageError
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("open data directory %s: another process uses it: stop that one, or choose another --data", dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		remedy = ": make it a directory that this user can write, or choose another --data"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = ": free space, or choose another --data"
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		remedy = ": " + fileName + " is damaged or not ours: " + DamageRemedy
	case errors.As(err, &damage):
		return fmt.Errorf("open data directory %s: %s is damaged: %w: %s; `hyperscale verify %s` lists all of it", dir, fileName, err, DamageRemedy, dir)
	}
	return fmt.Errorf("open data directory %s: %w%s", dir, err, remedy)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return openError(dir, err)
	}
	defer func() { _ = d.Close() }() // nothing was written to it
	if err := d.Sync(); err != nil {
		return openError(dir, err)
	}
	return nil
}

// safely turns a panic into an error: bbolt panics on pages that make no sense, and a file that
// becomes shorter faults where it is mapped.
func safely(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = &DamageError{Where: fileName, What: fmt.Sprintf("makes no sense: %v", v)}
		}
	}()
	return f()
}

// Incarnation implements Store.
func (s *Bolt) Incarnation() uint64 { return s.incarnation }

// Put implements node.Store.
func (s *Bolt) Put(records []node.Record, t node.WriteID) { s.intake.put(records, t) }

// Load implements node.Store. What is outside the bounds was not written by us
// and stops the node.
func (s *Bolt) Load(prefix string) []node.Record {
	var found []node.Record
	err := safely(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			c := tx.Bucket(bucketRecords()).Cursor()
			for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
				if string(k) == keySelf {
					continue
				}
				value, _, ok := opened(k, v)
				if !ok {
					return &DamageError{Where: "record " + quoted(k), What: "does not match its checksum"}
				}
				if err := check(k, value); err != nil {
					return err
				}
				found = append(found, node.Record{Key: string(k), Value: append([]byte{}, value...)})
			}
			return nil
		})
	})
	if err != nil {
		node.Bug("store: load %q: %v", prefix, err)
	}
	return found
}

// Serve implements Store.
func (s *Bolt) Serve(completed func(node.WriteID, error)) {
	s.writer.Go(func() {
		var batch []put
		for {
			var more bool
			if batch, more = s.intake.take(batch[:0]); !more {
				return
			}
			s.commit(batch)
			if s.isLost() {
				return // what it wrote is in no directory: no peer may hear of it
			}
			s.intake.count(batch)
			s.intake.tell(batch, completed)
		}
	})
	s.writer.Go(s.watch)
}

// lookEvery is how soon a file that was deleted or replaced is noticed without a write.
const lookEvery = 500 * time.Millisecond

// watch looks at the file while nothing is written.
func (s *Bolt) watch() {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-look.C:
			if s.isLost() {
				return
			}
		}
	}
}

// isLost reports that the directory no longer has the file, or another one in its place.
func (s *Bolt) isLost() bool {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) {
		return false
	}
	if err == nil {
		err = errors.New("another file stands in its place")
	}
	select {
	case s.lost <- fmt.Errorf("%s was deleted or replaced while the node ran: %w: start it with an empty data directory, it joins anew while a majority of its group kept theirs", s.path, err):
	default: // it is known
	}
	return true
}

// Lost implements Store.
func (s *Bolt) Lost() <-chan error { return s.lost }

// commit writes all Puts of a batch in one transaction. If that does not succeed
// each is tried alone, so that a large one on a full disk fails by itself.
func (s *Bolt) commit(batch []put) {
	err := s.write(batch)
	if err == nil {
		return
	}
	for i := range batch {
		if batch[i].err != nil {
			continue
		}
		if len(batch) > 1 {
			err = s.write(batch[i : i+1])
		}
		batch[i].err = err
	}
}

func (s *Bolt) write(batch []put) error {
	after := s.total
	err := safely(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketRecords())
			for _, p := range batch {
				if p.err != nil {
					continue
				}
				if err := after.apply(b, p.records); err != nil {
					return err
				}
			}
			return tx.Bucket(bucketNode()).Put([]byte(keyTotal), after.encode())
		})
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", fileName, err)
	}
	s.total = after
	return nil
}

// Close implements Store.
func (s *Bolt) Close() error { return s.end(false) }

// Kill implements Store.
func (s *Bolt) Kill() error { return s.end(true) }

func (s *Bolt) end(killed bool) error {
	s.intake.end(killed)
	s.ending.Do(func() { close(s.ended) })
	s.writer.Wait()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", fileName, err)
	}
	return nil
}

// Stats implements Store.
func (s *Bolt) Stats() Stats { return s.intake.statistics() }
