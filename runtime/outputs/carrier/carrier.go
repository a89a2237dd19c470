package carrier

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/outputs"
)

// MemoryMax bounds what all sinks of a gate hold, in bytes.
const MemoryMax = 64 << 20

// inMemory is how many bytes a batch takes beside each byte of its file: the file, and its rows once they are read.
const inMemory = 4

// inMemoryWithSums is the same with sums: each row of a step has one, which is as large as that of the file's ledger, and a
// batch has eight windows of a step or less.
const inMemoryWithSums = inMemory + 8

// newsEvery is how often a delivery that fails says so.
const newsEvery = 5 * time.Second

// checkEvery is how long a sink whose check has failed waits for the next one.
const checkEvery = 30 * time.Second

// Sink is a sink of the configuration.
type Sink struct {
	Name     string
	Settings *outputs.Settings
	Place    outputs.Sink
	Default  bool // jobs that name no sink have it
	Required bool // the gate is not ready while it takes no rows
}

// Config is what a carrier is made of.
type Config struct {
	Self   node.ID
	Sinks  []Sink
	Pace   outputs.Pace
	Read   func(batch []byte, sums bool) ([]outputs.Row, error) // with sums if the sink's kind needs them
	Tell   func(node.Delivered)                                 // takes answers; it never waits
	Logger *slog.Logger
	Memory int // bytes; 0: MemoryMax
}

// Carrier is the sinks of one gate.
type Carrier struct {
	config Config
	lines  []*line // in the order of the configuration
	byName map[string]*line

	mu   sync.Mutex
	open map[node.DeliveryID]*line // where a delivery waits, until its last answer
}

var _ node.Outputs = (*Carrier)(nil)

// New begins to deliver, and to check the sinks. Close ends both.
func New(c Config) *Carrier {
	if c.Memory == 0 {
		c.Memory = MemoryMax
	}
	r := &Carrier{config: c, byName: map[string]*line{}, open: map[node.DeliveryID]*line{}}
	for _, s := range c.Sinks {
		l := newLine(&r.config, s, c.Memory/len(c.Sinks))
		r.lines, r.byName[s.Name] = append(r.lines, l), l
	}
	for _, l := range r.lines {
		l.begin(r.answered)
	}
	return r
}

// Deliver takes a batch.
func (r *Carrier) Deliver(d node.Delivery) {
	l := r.byName[d.Sink]
	if l == nil {
		r.config.Tell(node.Delivered{ID: d.ID, Verdict: node.DeliveryUnconfigured, Why: fmt.Sprintf("sink %s is not configured on %s", d.Sink, r.config.Self)})
		return
	}
	r.mu.Lock()
	r.open[d.ID] = l
	r.mu.Unlock()
	if !l.add(d) {
		r.answered(node.Delivered{ID: d.ID, Verdict: node.DeliveryUnconfigured, Why: fmt.Sprintf("batches of other jobs for sink %s fill its share of the memory of %s: this one waits for room", d.Sink, r.config.Self)})
	}
}

// Forget drops a delivery.
func (r *Carrier) Forget(id node.DeliveryID) {
	r.mu.Lock()
	l := r.open[id]
	delete(r.open, id)
	r.mu.Unlock()
	if l != nil {
		l.drop(id)
	}
}

// answered passes an answer on, unless its delivery is forgotten.
func (r *Carrier) answered(d node.Delivered) {
	r.mu.Lock()
	_, open := r.open[d.ID]
	if d.Verdict != node.DeliveryTrying {
		delete(r.open, d.ID)
	}
	r.mu.Unlock()
	if open {
		r.config.Tell(d)
	}
}

// Close drops all deliveries, without an answer, and closes the sinks. One whose try hangs is closed once the try returns.
func (r *Carrier) Close() {
	r.mu.Lock()
	clear(r.open)
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, l := range r.lines {
		all.Go(l.close)
	}
	all.Wait()
}
