package talk

import (
	"crypto/rand"
	"fmt"
	"slices"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// record is kafka.produce.
type record struct {
	of        *kafkaCluster
	operation *kafka.Operation
	partition int32 // below 0: that of the key
	gathers   request.KafkaBatches
}

var (
	_ routed = (*record)(nil)
	_ keeper = (*record)(nil)
)

func (v *record) open() codec.Opening { return greeting(v.of) }

// greeting begins a connection to a broker.
func greeting(of *kafkaCluster) codec.Opening {
	var random kafka.Random
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: of.begins.Greet(random)}
}

func (v *record) cluster() *kafkaCluster { return v.of }

// strayed implements routed: what is known of the topic is old.
func (v *record) strayed(x *Exchange) {
	if x.goes.topic != nil && v.gathers.Linger == 0 { // else its batch does
		x.goes.topic.forget()
	}
}

// route returns the leader of the record's partition, or the broker to ask who that is.
func (v *record) route(x *Exchange) (*Node, error) {
	name, err := v.operation.In(x.stock.text[:0], x.values)
	if x.stock.text = name; err != nil {
		return nil, err
	}
	t := v.of.topics[string(name)]
	x.goes.topic = t
	if t == nil {
		if v.gathers.Linger > 0 && !v.of.learning.begin(string(name), x) {
			return x.parks(pool.Never)
		}
		x.trip, x.goes.asks = tripBegins, v.of.asks()
		return x.goes.asks, nil
	}
	v.of.learning.end(x)
	at := v.partition
	if at < 0 {
		at, x.stock.text = v.operation.Choose(len(t.leaders), x.values, x.stock.text)
	}
	switch {
	case at < 0 && v.gathers.Linger > 0:
		at = t.sticky()
	case at < 0:
		at = t.next()
	}
	x.goes.partition, x.trip = at, tripRouted
	switch {
	case int(at) >= len(t.leaders):
		t.forget()
		return nil, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("partition: the topic has %d, from 0 on, and %d is asked for", len(t.leaders), at)}
	case t.leaders[at] == nil:
		t.forget()
		return nil, &http1.Error{Kind: "server LEADER_NOT_AVAILABLE", Detail: fmt.Sprintf("no broker leads partition %d, as the cluster tells: the next operation asks again", at)}
	}
	if v.gathers.Linger > 0 {
		v.gather(x)
		return x.parks(pool.Never)
	}
	return t.leaders[at], nil
}

func (v *record) say(x *Exchange, d codec.Dialogue) error {
	c := d.(*kafka.Conn)
	if x.trip != tripRouted {
		return v.learn(x, c)
	}
	if x.stock.show != nil {
		x.shows(v.operation.Show(nil, x.goes.partition, x.values))
	}
	return c.Produce(v.operation, x.goes.partition, kafka.Order{
		Values: x.values, Now: x.stock.clock.Millis(), Keeps: x.keeps, Sent: x.account.Messages().Sent(),
	})
}

// learn asks who leads the partitions of the topic.
func (v *record) learn(x *Exchange, c *kafka.Conn) error {
	name, err := v.operation.In(x.stock.text[:0], x.values)
	if x.stock.text = name; err != nil {
		return err
	}
	x.trip = tripLearns
	x.shows(append([]byte("metadata "), name...))
	return c.Learn(string(name), kafka.Order{})
}

func (v *record) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*kafka.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	if o.Throttled > 0 {
		x.account.Deliveries().Throttled()
	}
	switch {
	case x.trip == tripLearns && x.wrong != nil:
	case x.trip == tripLearns:
		name, _ := v.operation.In(x.stock.text[:0], x.values) // it was asked for
		x.stock.text = name
		v.of.learnt(string(name), o.Layout)
		x.trip = tripElsewhere
	case x.wrong == nil:
		x.account.Deliveries().Record(x.stock.clock.Now - x.said)
		x.keep(payload)
	case o.Moved && x.goes.topic != nil:
		x.goes.topic.forget()
	}
	return true
}

func (v *record) deaf() bool { return v.operation.Acks == kafka.AcksNone }

func (v *record) status() uint16 { return 200 }

func (v *record) protocol() string { return "Kafka" }

func (v *record) left(uint16, string) error { return nil }

// parts implements keeper: a record whose time is over goes with no batch, and holds up no other one.
func (v *record) parts(x *Exchange) {
	if v.gathers.Linger == 0 {
		return
	}
	v.of.learning.end(x)
	if b := x.goes.batch; b != nil {
		b.records[x.goes.place].x = nil
		b.live--
	}
}

// gathered is what a record is to the batch that it goes with.
type gathered struct {
	batch  *kafkaBatch // nil: it is in none
	place  int         // there
	landed bool        // its outcome is known
	learns bool        // it asks who leads its topic, or waits for that
	kind   http1.Kind  // why its batch failed; empty: it did not
	detail string
}

// gather puts a record into the batch of its partition.
func (v *record) gather(x *Exchange) {
	key := batchKey{x.goes.topic.name, x.goes.partition, v.operation.Acks, v.operation.Compression, v.gathers}
	size := v.operation.Size(x.values)
	b, t := v.of.batches[key], x.goes.topic
	sticks := t.sticks // records without keys go on with the batch that this one begins
	if b != nil && (b.bytes+size > v.gathers.Size || len(b.records) == recordsMost) {
		b.fills()
		b = nil
	}
	if b == nil {
		b, t.sticks = v.of.begin(key, x), sticks
	}
	x.said, x.goes.batch, x.goes.place = 0, b, len(b.records)
	b.records = append(b.records, batched{x, x.account, x.stock.clock.Millis()})
	b.live++
	if b.bytes += size; b.bytes >= v.gathers.Size {
		b.fills()
	}
}

// Bounds of batches.
const (
	recordsMost   = 10_000 // of a batch, as librdkafka has it
	flightsMost   = 5      // batches under way to a broker, as a Java client has it
	batchesSpared = 64
)

// batchKey is what the records of a batch have in common.
type batchKey struct {
	topic       string
	partition   int32
	acks        kafka.Acks
	compression kafka.Compression
	gathers     request.KafkaBatches
}

// kafkaBatch gathers records of several users, and is the verb of the exchange that carries them.
type kafkaBatch struct {
	of      *kafkaCluster
	key     batchKey
	topic   *kafkaTopic
	records []batched // in order
	entries []kafka.Entry
	live    int // records whose exchanges wait
	bytes   int
	due     int64 // it goes then at the latest
	shut    bool  // it takes no more records
	carrier *Exchange
	plan    Plan
	flights *flights // to its leader; nil: it has not set out
	queue   *flights // where it waits; nil: it does not
}

// batched is a record of a batch.
type batched struct {
	x       *Exchange // nil: it waits no longer
	account *measure.Account
	millis  int64 // when it came
}

// flights are the batches under way to a broker.
type flights struct {
	now   int
	waits []*kafkaBatch // for their turn, in order
}

// leave takes a batch out that waits, or whose turn has come.
func (f *flights) leave(b *kafkaBatch) {
	if at := slices.Index(f.waits, b); at >= 0 {
		f.waits = slices.Delete(f.waits, at, at+1)
	}
	b.queue = nil
}

// passes gives the turn to the first batch that waits.
func (f *flights) passes(k *Stock) {
	if f.now < flightsMost && len(f.waits) > 0 {
		k.turns = append(k.turns, f.waits[0].carrier.goes.slot)
	}
}

var (
	_ routed = (*kafkaBatch)(nil)
	_ keeper = (*kafkaBatch)(nil)
)

// begin begins a batch, with an exchange that carries it.
func (c *kafkaCluster) begin(key batchKey, like *Exchange) *kafkaBatch {
	b := new(kafkaBatch)
	if last := len(c.spare) - 1; last >= 0 {
		b, c.spare = c.spare[last], c.spare[:last]
	}
	k := like.stock
	*b = kafkaBatch{of: c, key: key, topic: like.goes.topic, due: k.clock.Now + int64(key.gathers.Linger), records: b.records[:0], entries: b.entries[:0]}
	b.plan = Plan{verb: b, routed: b, Host: like.plan.Host, Shown: like.plan.Shown, stays: like.plan.stays}
	b.carrier = k.Begin(&b.plan, like.account, nil, k.clock.Now, false)
	k.carriers = append(k.carriers, b.carrier)
	if c.batches == nil {
		c.batches = map[batchKey]*kafkaBatch{}
	}
	c.batches[key] = b
	return b
}

// closes says that a batch takes no more records.
func (b *kafkaBatch) closes() {
	if b.shut {
		return
	}
	b.shut = true
	delete(b.of.batches, b.key)
	if t := b.of.topics[b.key.topic]; t != nil && t.sticks == b.key.partition+1 {
		t.sticks = 0
	}
}

// fills says that a batch is full: it goes at once.
func (b *kafkaBatch) fills() {
	b.closes()
	if _, waits := b.carrier.Parked(); waits {
		b.carrier.stock.turns = append(b.carrier.stock.turns, b.carrier.goes.slot)
	}
}

// errNone says that a batch has nothing to carry.
var errNone = &http1.Error{Kind: http1.KindValue, Detail: "no record of the batch waits any more"}

// route returns the leader of a batch that is full or due, and whose turn has come.
func (b *kafkaBatch) route(x *Exchange) (*Node, error) {
	if !b.shut && x.stock.clock.Now < b.due {
		return x.parks(b.due)
	}
	t, at := b.of.topics[b.key.topic], int(b.key.partition)
	if b.live == 0 || t == nil || at >= len(t.leaders) || t.leaders[at] == nil { // what is known has changed
		b.scatters()
		return nil, errNone
	}
	b.topic = t
	f := b.of.flightsTo(t.leaders[at])
	if before := b.queue; before != nil && before != f { // its leader has moved
		before.leave(b)
		before.passes(x.stock)
	}
	if f.now >= flightsMost || b.queue == nil && len(f.waits) > 0 { // others were there before
		if b.queue == nil {
			f.waits, b.queue = append(f.waits, b), f
		}
		return x.parks(pool.Never)
	}
	f.leave(b)
	f.now++
	f.passes(x.stock)
	b.flights, x.trip = f, tripRouted
	b.closes()
	return t.leaders[at], nil
}

// flightsTo returns the batches under way to a broker.
func (c *kafkaCluster) flightsTo(n *Node) *flights {
	f := c.flights[n.Host.Key]
	if f == nil {
		if c.flights == nil {
			c.flights = map[string]*flights{}
		}
		f = new(flights)
		c.flights[n.Host.Key] = f
	}
	return f
}

// scatters lets the records of a batch find their ways anew.
func (b *kafkaBatch) scatters() {
	b.closes()
	for i := range b.records {
		if x := b.records[i].x; x != nil {
			x.goes.batch = nil
			x.stock.turns = append(x.stock.turns, x.goes.slot)
		}
	}
	b.empty()
}

// empty forgets the records.
func (b *kafkaBatch) empty() {
	clear(b.records)
	clear(b.entries)
	b.records, b.entries, b.live = b.records[:0], b.entries[:0], 0
}

func (b *kafkaBatch) open() codec.Opening { return greeting(b.of) }

// say queues the records whose time is not over.
func (b *kafkaBatch) say(x *Exchange, d codec.Dialogue) error {
	b.records = slices.DeleteFunc(b.records, func(r batched) bool { return r.x == nil })
	if len(b.records) == 0 {
		return errNone
	}
	for i := range b.records {
		r := &b.records[i]
		r.x.said, r.x.goes.place = x.said, i
		operation := r.x.plan.verb.(*record).operation
		if x.stock.show != nil {
			x.shows(operation.Show(nil, b.key.partition, r.x.values))
		}
		b.entries = append(b.entries, kafka.Entry{Operation: operation, Values: r.x.values, Now: r.millis, Sent: r.account.Messages().Sent(), Begun: &r.account.Sent})
	}
	return d.(*kafka.Conn).ProduceAll(b.entries, b.key.partition, false)
}

// hear gives each record its outcome.
func (b *kafkaBatch) hear(x *Exchange, _ codec.MessageKind, _ []byte) bool {
	o := x.with.(*kafka.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	if o.Throttled > 0 {
		b.pays().Deliveries().Throttled()
	}
	if o.Moved {
		b.topic.forget()
	}
	if x.wrong == nil {
		b.pays().Deliveries().Batches(1)
	}
	for i := range b.records {
		r := &b.records[i]
		switch {
		case r.x == nil && x.wrong == nil:
			*r.account.Deliveries().Late()++
		case r.x == nil:
		case x.wrong != nil:
			r.x.wrong = x.wrong
		default:
			r.account.Deliveries().Record(x.stock.clock.Now - x.said)
			if r.x.keeps {
				x.stock.text = kafka.AppendPlace(x.stock.text[:0], b.key.topic, b.key.partition, o.Offset+int64(i))
				r.x.keep(x.stock.text)
			}
		}
	}
	return true
}

// pays returns the account of the first record, which has what a batch as a whole costs.
func (b *kafkaBatch) pays() *measure.Account { return b.carrier.account }

func (b *kafkaBatch) cluster() *kafkaCluster { return b.of }

func (b *kafkaBatch) strayed(*Exchange) { b.topic.forget() }

func (b *kafkaBatch) deaf() bool { return b.key.acks == kafka.AcksNone }

func (b *kafkaBatch) status() uint16 { return 200 }

func (b *kafkaBatch) protocol() string { return "Kafka" }

func (b *kafkaBatch) left(uint16, string) error { return nil }

// parts implements keeper: the next batch to the same broker may set out.
func (b *kafkaBatch) parts(x *Exchange) {
	b.closes()
	if f := b.queue; f != nil {
		f.leave(b)
		f.passes(x.stock)
	}
	if f := b.flights; f != nil {
		f.now--
		f.passes(x.stock)
	}
	b.empty()
	if b.carrier = nil; len(b.of.spare) < batchesSpared {
		b.of.spare = append(b.of.spare, b)
	}
}

// Carriers returns the exchanges that carry what others have gathered, and have not begun.
func (k *Stock) Carriers() []*Exchange {
	out := k.carriers
	k.carriers = nil
	return out
}

// Shown is where the exchange goes, for people.
func (x *Exchange) Shown() *http1.Call { return &x.plan.Shown }

// Pays returns the account that has what the exchange costs.
func (x *Exchange) Pays() *measure.Account { return x.account }

// Carries calls for the slot of each exchange that a carrier carries, and returns the deadline of the last one.
func (x *Exchange) Carries(each func(slot int32)) (deadline int64) {
	for _, r := range x.plan.verb.(*kafkaBatch).records {
		if r.x != nil {
			each(r.x.goes.slot)
			deadline = max(deadline, r.x.goes.patient)
		}
	}
	return deadline
}

// Lands gives those that a carrier carries its outcome: their turns have come.
func (x *Exchange) Lands(kind http1.Kind, detail string) {
	b := x.plan.verb.(*kafkaBatch)
	for i := range b.records {
		if of := b.records[i].x; of != nil {
			of.lands(kind, detail)
		}
	}
	b.empty()
}

func (x *Exchange) lands(kind http1.Kind, detail string) {
	x.goes.gathered = gathered{landed: true, kind: kind, detail: detail}
	x.enough = kind == http1.KindNone
	x.stock.turns = append(x.stock.turns, x.goes.slot)
}

// Landed reports that the outcome of an exchange is known, which another one has carried.
func (x *Exchange) Landed() (kind http1.Kind, detail string, is bool) {
	return x.goes.kind, x.goes.detail, x.goes.landed
}

// Overdue is the error of an exchange that waits beyond its time.
func (x *Exchange) Overdue() *http1.Error {
	b := x.goes.batch
	switch {
	case b == nil && x.plan.routed != nil && x.goes.learns:
		return errUnlearnt
	case b == nil:
		return ErrParks
	case b.flights == nil:
		return errGathers
	case x.said == 0:
		return errUnsaid
	}
	return errUnanswered
}

var (
	errUnlearnt   = &http1.Error{Kind: http1.KindTimeout, Detail: "nothing told in time who leads the topic"}
	errGathers    = &http1.Error{Kind: http1.KindTimeout, Detail: "its batch did not set out in time: a broker has 5 under way at most, and linger counts in timeout"}
	errUnsaid     = &http1.Error{Kind: http1.KindConnectTimeout, Detail: "its batch found no connection in time"}
	errUnanswered = &http1.Error{Kind: http1.KindTimeout, Detail: "its batch had no answer in time"}
)

// learning has the topics whose leaders one exchange asks for, while others wait.
type learning map[string]*learner

// learner is the exchange that asks, and those that wait.
type learner struct {
	by    *Exchange
	waits []*Exchange
}

// begin reports whether an exchange asks itself: else it waits for the one that does.
func (l *learning) begin(topic string, x *Exchange) bool {
	if *l == nil {
		*l = learning{}
	}
	x.goes.learns = true
	of := (*l)[topic]
	if of == nil {
		(*l)[topic] = &learner{by: x}
		x.goes.name = topic
		return true
	}
	if x.goes.name = topic; of.by != x {
		of.waits = append(of.waits, x)
		return false
	}
	return true
}

// end takes an exchange out. If it was the one that asked, the others go on, or fail by what the broker told.
func (l *learning) end(x *Exchange) {
	if !x.goes.learns {
		return
	}
	x.goes.learns = false
	of := (*l)[x.goes.name]
	if of == nil {
		return
	}
	if of.by != x {
		of.waits = slices.DeleteFunc(of.waits, func(one *Exchange) bool { return one == x })
		return
	}
	delete(*l, x.goes.name)
	for _, one := range of.waits {
		one.goes.learns = false
		if x.wrong != nil {
			one.wrong = x.wrong
			one.lands(http1.KindNone, "")
			continue
		}
		x.stock.turns = append(x.stock.turns, one.goes.slot)
	}
}
