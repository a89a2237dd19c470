package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"

	"hyperscale/core/node"
)

// sealSize is what a value on disk has behind it: the checksum of its key and itself.
const sealSize = 8

// sealOf is the checksum of a record.
func sealOf(key, value []byte) uint64 {
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(len(key)))
	d := xxhash.New()
	_, _ = d.Write(size[:]) // a digest takes all
	_, _ = d.Write(key)
	_, _ = d.Write(value)
	return d.Sum64()
}

// sealed appends a record's checksum to its value.
func sealed(key string, value []byte) []byte {
	out := make([]byte, len(value), len(value)+sealSize)
	copy(out, value)
	return binary.LittleEndian.AppendUint64(out, sealOf([]byte(key), value))
}

// opened splits what stands on disk; false: it is not what was written.
func opened(key, stored []byte) (value []byte, seal uint64, ok bool) {
	if len(stored) < sealSize {
		return nil, 0, false
	}
	value = stored[:len(stored)-sealSize]
	seal = binary.LittleEndian.Uint64(stored[len(value):])
	return value, seal, seal == sealOf(key, value)
}

// total is over all records. A record that is missing, stands twice or is an older one shows in
// it, as single checksums cannot.
type total struct {
	records uint64
	sum     uint64 // of their checksums, wrapping around
}

func (t *total) add(seal uint64)    { t.records, t.sum = t.records+1, t.sum+seal }
func (t *total) remove(seal uint64) { t.records, t.sum = t.records-1, t.sum-seal }

func (t total) encode() []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.records), t.sum)
}

func decodeTotal(b []byte) (t total, ok bool) {
	if len(b) != 16 {
		return t, false
	}
	return total{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}

// apply writes the records of a Put and keeps the total.
func (t *total) apply(b *bbolt.Bucket, records []node.Record) error {
	for _, r := range records {
		key := []byte(r.Key)
		if old := b.Get(key); old != nil {
			_, seal, ok := opened(key, old)
			if !ok {
				return &DamageError{Where: "record " + quoted(key), What: "does not match its checksum"}
			}
			t.remove(seal)
		}
		if r.Value == nil {
			if err := b.Delete(key); err != nil {
				return err
			}
			continue
		}
		stored := sealed(r.Key, r.Value)
		t.add(binary.LittleEndian.Uint64(stored[len(r.Value):]))
		if err := b.Put(key, stored); err != nil {
			return err
		}
	}
	return nil
}

// keySelf is the store's own record: whose store it is, and the start that wrote it last. The
// node's entries have no checksum, and this record has one.
const keySelf = "store/node"

// startsMissed bounds the starts of an older version, which raises the incarnation and not this
// record.
const startsMissed = 1 << 16

func selfRecord(id node.ID, incarnation uint64) node.Record {
	return node.Record{Key: keySelf, Value: append(binary.BigEndian.AppendUint64(nil, incarnation), id...)}
}

// contradicts says how the node's entries differ from the store's own record, "" if they do not.
func contradicts(self []byte, id node.ID, incarnation uint64) string {
	if len(self) < 8 {
		return "is cut short"
	}
	of, start := node.ID(self[8:]), binary.BigEndian.Uint64(self)
	switch {
	case of != id:
		return fmt.Sprintf("is of node %q, and the node's entry id says %q", of, id)
	case incarnation < start || incarnation-start > startsMissed:
		return fmt.Sprintf("is of start %d, and the node's entry incarnation says %d", start, incarnation)
	}
	return ""
}
