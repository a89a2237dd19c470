package nodetest

import (
	"maps"
	"slices"
	"strings"

	"hyperscale/core/node"
)

// Storage is a node's disk, and the Puts that have not completed.
type Storage struct {
	// Held holds completions of the store back until Complete.
	Held bool
	// Failure, if set, is the error of every completion from now on.
	Failure error

	recorder *Recorder
	disk     map[string][]byte
	puts     []put
	starting bool
}

type put struct {
	records []node.Record
	writeID node.WriteID
}

// Pending returns how many Puts have not completed.
func (s *Storage) Pending() int { return len(s.puts) }

// Disk returns the keys that would survive a crash now, sorted.
func (s *Storage) Disk() []string { return slices.Sorted(maps.Keys(s.disk)) }

// Write gives a node that does not run a disk with records.
func (s *Storage) Write(records ...node.Record) {
	for _, r := range records {
		s.disk[r.Key] = slices.Clone(r.Value)
	}
}

// LoseRecords deletes the records whose keys begin with a prefix.
func (s *Storage) LoseRecords(prefix string) {
	maps.DeleteFunc(s.disk, func(key string, _ []byte) bool { return strings.HasPrefix(key, prefix) })
}

// complete executes the next Put, unless it fails.
func (s *Storage) complete(err error) node.Input {
	p := s.puts[0]
	s.puts = s.puts[1:]
	for _, r := range p.records {
		switch {
		case err != nil:
		case r.Value == nil:
			delete(s.disk, r.Key)
		default:
			s.disk[r.Key] = r.Value
		}
	}
	return node.Input{Kind: node.InputStored, WriteID: p.writeID, Err: err}
}

// store is the durable part of Env.
type store Storage

// Put implements node.Store.
func (s *store) Put(records []node.Record, t node.WriteID) {
	for _, r := range records {
		if r.Key == "" || len(r.Key) > 256 || len(r.Value) > 1<<20 {
			node.Bug("nodetest: record %q of %d bytes is outside the bounds of a store", r.Key, len(r.Value))
		}
		if s.recorder.Hidden["put"] {
			continue
		}
		if r.Value == nil {
			s.recorder.line("put %s deleted", s.recorder.text.shorten(r.Key))
		} else {
			s.recorder.line("put %s", s.recorder.text.shorten(r.Key))
		}
	}
	s.puts = append(s.puts, put{records, t})
}

// Load implements node.Store.
func (s *store) Load(prefix string) []node.Record {
	if !s.starting {
		node.Bug("nodetest: load of %q outside InputStart", prefix)
	}
	var found []node.Record
	for _, k := range slices.Sorted(maps.Keys(s.disk)) {
		if strings.HasPrefix(k, prefix) {
			found = append(found, node.Record{Key: k, Value: slices.Clone(s.disk[k])})
		}
	}
	return found
}
