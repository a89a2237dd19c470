package store

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"hyperscale/core/node"
)

// Memory is a Store that forgets: for clients, and for a cluster that lives as
// long as one command.
type Memory struct {
	incarnation uint64
	intake      intake
	writer      sync.WaitGroup

	mu      sync.Mutex
	records map[string][]byte
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store. The incarnation is drawn by the caller, at
// random: nothing here knows the one before.
func NewMemory(incarnation uint64) *Memory {
	m := &Memory{incarnation: incarnation, records: map[string][]byte{}}
	m.intake.init()
	return m
}

// Incarnation implements Store.
func (m *Memory) Incarnation() uint64 { return m.incarnation }

// Put implements node.Store.
func (m *Memory) Put(records []node.Record, t node.WriteID) { m.intake.put(records, t) }

// Lost implements Store: it never is.
func (m *Memory) Lost() <-chan error { return nil }

// Load implements node.Store.
func (m *Memory) Load(prefix string) []node.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []node.Record
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		if strings.HasPrefix(key, prefix) {
			found = append(found, node.Record{Key: key, Value: slices.Clone(m.records[key])})
		}
	}
	return found
}

// Serve implements Store.
func (m *Memory) Serve(completed func(node.WriteID, error)) {
	m.writer.Go(func() {
		var batch []put
		for {
			var more bool
			if batch, more = m.intake.take(batch[:0]); !more {
				return
			}
			m.apply(batch)
			m.intake.count(batch)
			m.intake.tell(batch, completed)
		}
	})
}

func (m *Memory) apply(batch []put) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range batch {
		if p.err != nil {
			continue
		}
		for _, r := range p.records {
			if r.Value == nil {
				delete(m.records, r.Key)
			} else {
				m.records[r.Key] = r.Value
			}
		}
	}
}

// Close implements Store.
func (m *Memory) Close() error {
	m.intake.end(false)
	m.writer.Wait()
	return nil
}

// Kill implements Store.
func (m *Memory) Kill() error {
	m.intake.end(true)
	m.writer.Wait()
	return nil
}

// Stats implements Store.
func (m *Memory) Stats() Stats { return m.intake.statistics() }
