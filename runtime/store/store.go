package store

import (
	"sync"

	"hyperscale/core/node"
)

// Store is a node's store: node.Store with its opening and closing.
type Store interface {
	node.Store
	// Incarnation is that of this start.
	Incarnation() uint64
	// Serve begins to complete Puts, in their order, from one goroutine. Call it
	// once.
	Serve(completed func(node.WriteID, error))
	// Lost has an error once the data directory no longer has the store's file. No completion
	// follows: what is written now survives nothing.
	Lost() <-chan error
	// Close writes the waiting Puts, reports no more completions, and releases the file.
	Close() error
	// Kill releases the file and drops the waiting Puts.
	Kill() error
	Stats() Stats
}

// Stats counts what a store has done so far.
type Stats struct {
	Puts    uint64 // completed without an error
	Failed  uint64 // completed with one
	Commits uint64 // transactions: Puts/Commits is the size of a group commit
	Records uint64 // written or deleted
	Bytes   uint64 // of the values written
	Waiting int    // Puts
}

// put is one Put that waits.
type put struct {
	records []node.Record
	writeID node.WriteID
	err     error // found before queueing: reported in its turn
	bytes   int
}

// batchBytes bounds one transaction: bbolt holds its pages in memory.
const batchBytes = 8 << 20

// intake is the queue of Puts in front of a writer.
type intake struct {
	wake chan struct{} // holds one

	mu      sync.Mutex
	waiting []put
	closed  bool // it takes no more Puts
	killed  bool // it drops the waiting Puts
	stats   Stats
}

func (q *intake) init() { q.wake = make(chan struct{}, 1) }

func (q *intake) put(records []node.Record, t node.WriteID) {
	p := put{records: records, writeID: t, err: checkAll(records)}
	for _, r := range records {
		p.bytes += len(r.Key) + len(r.Value)
	}
	q.mu.Lock()
	if !q.closed {
		q.waiting = append(q.waiting, p)
	}
	q.mu.Unlock()
	q.poke()
}

func (q *intake) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take moves a transaction's worth of Puts to batch. It returns false if no more can arrive.
func (q *intake) take(batch []put) ([]put, bool) {
	for {
		q.mu.Lock()
		if q.killed {
			q.mu.Unlock()
			return nil, false
		}
		bytes, n := 0, 0
		for n < len(q.waiting) && (n == 0 || bytes+q.waiting[n].bytes <= batchBytes) {
			bytes += q.waiting[n].bytes
			n++
		}
		batch = append(batch, q.waiting[:n]...)
		rest := copy(q.waiting, q.waiting[n:])
		clear(q.waiting[rest:])
		q.waiting = q.waiting[:rest]
		closed := q.closed
		q.mu.Unlock()
		if n > 0 {
			return batch, true
		}
		if closed {
			return nil, false
		}
		<-q.wake
	}
}

// end closes the intake; killed drops the waiting Puts.
func (q *intake) end(killed bool) {
	q.mu.Lock()
	q.closed = true
	q.killed = q.killed || killed
	q.mu.Unlock()
	q.poke()
}

// count files the outcome of a batch.
func (q *intake) count(batch []put) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Commits++
	for i := range batch {
		if batch[i].err != nil {
			q.stats.Failed++
			continue
		}
		q.stats.Puts++
		q.stats.Records += uint64(len(batch[i].records))
		for _, r := range batch[i].records {
			q.stats.Bytes += uint64(len(r.Value))
		}
	}
}

func (q *intake) statistics() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.stats
	s.Waiting = len(q.waiting)
	return s
}

// tell completes a batch. After the end of the intake no completion is delivered.
func (q *intake) tell(batch []put, completed func(node.WriteID, error)) {
	for i := range batch {
		q.mu.Lock()
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return
		}
		completed(batch[i].writeID, batch[i].err)
	}
}
