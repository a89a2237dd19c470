package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"hyperscale/core/node"
)

// DamageError says what of a store is not as it was written.
type DamageError struct {
	Where string // the page or the record
	What  string // a verb and what follows
}

func (e *DamageError) Error() string { return e.Where + " " + e.What }

// DamageRemedy is the one safe way on: an older copy has promised less than its node has.
const DamageRemedy = "move the directory away and start with an empty one: the node joins anew while a majority of its group kept theirs. Never put a copy in its place"

// Inspection is what a store's file holds.
type Inspection struct {
	Format      byte    // Format, or that of another version; 0: no node has written to it
	ID          node.ID // of the node that it belongs to
	Incarnation uint64
	Bytes       int64 // of the file
	Records     map[string]Kind
	Damages     []DamageError // at most 100
}

// Kind counts the records whose keys begin with the same word.
type Kind struct {
	Records uint64
	Bytes   uint64 // of their values
}

// ErrInUse says that a node has the directory open.
var ErrInUse = errors.New("a node uses it")

// Inspect reads all of a directory's store and compares it with its checksums. It changes
// nothing.
func Inspect(dir string) (Inspection, error) { return Read(dir, nil) }

// Read does what Inspect does, and shows each record that matches its checksum, in the order of
// the keys. The visitor keeps no value.
func Read(dir string, visit func(key string, value []byte)) (Inspection, error) {
	f, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		return Inspection{}, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return Inspection{}, ErrInUse
		}
		return Inspection{}, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	info, err := f.Stat()
	if err != nil {
		return Inspection{}, err
	}
	i := inspector{visit: visit}
	i.report.Bytes, i.report.Records = info.Size(), map[string]Kind{}
	i.image = image{file: f, size: info.Size(), entry: i.entry}
	i.image.walk()
	i.judge()
	return i.report, nil
}

type inspector struct {
	image  image
	report Inspection
	counts total
	want   []byte // the total as written
	self   []byte // the store's own record; nil: an older version wrote it
	visit  func(key string, value []byte)
}

func (i *inspector) entry(bucket string, key, value []byte) {
	switch {
	case bucket == string(bucketRecords()):
		i.record(key, value)
	case bucket != string(bucketNode()):
		i.image.damaged("bucket "+quoted([]byte(bucket)), "is none of a store's")
	case string(key) == keyTotal:
		i.want = append([]byte{}, value...)
	case string(key) == keyFormat && len(value) == 1:
		i.report.Format = value[0]
	case string(key) == keyID:
		i.report.ID = node.ID(value)
	case string(key) == keyIncarnation && len(value) == 8:
		i.report.Incarnation = binary.BigEndian.Uint64(value)
	default:
		i.image.damaged("entry "+quoted(key), "is none of a store's")
	}
}

func (i *inspector) record(key, stored []byte) {
	value, seal, ok := opened(key, stored)
	i.counts.add(seal)
	kind, _, _ := strings.Cut(string(key), "/")
	switch err := check(key, value); {
	case !ok:
		i.image.damaged("record "+quoted(key), "does not match its checksum")
		return
	case err != nil:
		i.image.damaged("record "+quoted(key), "is out of bounds: %v", err)
		return
	}
	if string(key) == keySelf {
		i.self = append([]byte{}, value...)
		return
	}
	if i.visit != nil {
		i.visit(string(key), value)
	}
	k := i.report.Records[kind]
	k.Records, k.Bytes = k.Records+1, k.Bytes+uint64(len(value))
	i.report.Records[kind] = k
}

// judge compares the whole with what was written of it.
func (i *inspector) judge() {
	want, ok := decodeTotal(i.want)
	r := &i.report
	switch {
	case len(i.image.found) > 0 || r.Format == 0 && !i.image.written || r.Format != 0 && r.Format != format:
	case r.Format == 0:
		i.image.damaged("the node's entry "+keyFormat, "is missing")
	case r.ID == "" || r.Incarnation == 0:
		i.image.damaged("the node's entries "+keyID+" and "+keyIncarnation, "are missing")
	case !ok:
		i.image.damaged("the node's entry "+keyTotal, "is missing")
	case want != i.counts:
		i.image.damaged("the whole", "has %d records where %d were written, or an older one among them", i.counts.records, want.records)
	case i.self != nil:
		if why := contradicts(i.self, r.ID, r.Incarnation); why != "" {
			i.image.damaged("record "+quoted([]byte(keySelf)), "%s", why)
		}
	}
	i.report.Damages = i.image.found
}

func quoted(key []byte) string { return strconv.Quote(string(key[:min(len(key), 64)])) }

// Foreign reports that another version of hyperscale wrote the store, which Inspect cannot judge.
func (i *Inspection) Foreign() bool { return i.Format != 0 && i.Format != format }
