package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"hyperscale/core/node"
)

// fileName is the store's file in the data directory.
const fileName = "store.db"

// format is that of the file: raw records in one bucket, the rest in another.
const format = 1

// lockWait is how long Open waits for a process that is just ending.
const lockWait = time.Second

// Bolt is the Store of production.
type Bolt struct {
	db          *bbolt.DB
	incarnation uint64
	intake      intake
	writer      sync.WaitGroup
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
	s := &Bolt{}
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
	if err != nil {
		_ = s.db.Close() // the first error says more
		return nil, err
	}
	return s, nil
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
			if v := b.Get([]byte("format")); v != nil && !bytes.Equal(v, []byte{format}) {
				return fmt.Errorf("its format is %v, this program reads %d: use the version of hyperscale that wrote it, or choose another --data", v, format)
			}
			if v := b.Get([]byte("id")); v != nil && string(v) != string(id) {
				return fmt.Errorf("it belongs to node %q, not to %q: choose another --data, or start with --id %s", v, id, v)
			}
			if v := b.Get([]byte("incarnation")); len(v) == 8 {
				s.incarnation = binary.BigEndian.Uint64(v)
			}
			s.incarnation++
			return errors.Join(
				b.Put([]byte("format"), []byte{format}),
				b.Put([]byte("id"), []byte(id)),
				b.Put([]byte("incarnation"), binary.BigEndian.AppendUint64(nil, s.incarnation)))
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
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("open data directory %s: another process uses it: stop that one, or choose another --data", dir)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		remedy = ": make it a directory that this user can write, or choose another --data"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		remedy = ": free space, or choose another --data"
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		remedy = ": " + fileName + " is damaged or not ours: restore it from a copy, or choose another --data"
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

// safely turns a panic into an error: bbolt panics on pages that make no sense.
func safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s is damaged: %v: restore it from a copy, or choose another --data", fileName, v)
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
				if err := check(k, v); err != nil {
					return err
				}
				found = append(found, node.Record{Key: string(k), Value: append([]byte{}, v...)})
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
			s.intake.count(batch)
			s.intake.tell(batch, completed)
		}
	})
}

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
	err := safely(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketRecords())
			for _, p := range batch {
				if p.err != nil {
					continue
				}
				if err := apply(b, p.records); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", fileName, err)
	}
	return nil
}

func apply(b *bbolt.Bucket, records []node.Record) error {
	for _, r := range records {
		var err error
		if r.Value == nil {
			err = b.Delete([]byte(r.Key))
		} else {
			err = b.Put([]byte(r.Key), r.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements Store.
func (s *Bolt) Close() error { return s.end(false) }

// Kill implements Store.
func (s *Bolt) Kill() error { return s.end(true) }

func (s *Bolt) end(killed bool) error {
	s.intake.end(killed)
	s.writer.Wait()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", fileName, err)
	}
	return nil
}

// Stats implements Store.
func (s *Bolt) Stats() Stats { return s.intake.statistics() }
