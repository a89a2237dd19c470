package talk

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk/consumer"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/kafka/group"
)

// routed is a verb whose cluster tells where it goes.
type routed interface {
	verb
	cluster() *kafkaCluster
	// route returns the broker to go to: a leader, or the one to ask who leads.
	route(x *Exchange) (*Node, error)
	// strayed takes note that a leader could not be reached.
	strayed(x *Exchange)
}

// goes is where an exchange with a Kafka cluster goes.
type goes struct {
	topic     *kafkaTopic // nil: its leaders are not known
	asks      *Node       // who leads it
	partition int32
	tried     int    // brokers that were asked who leads, and could not be reached
	name      string // of the topic
	gathered         // of a record that goes with others
	reads            // of an operation that reads
}

// Astray takes note that an exchange failed, and reports whether it must go to another broker: it could not
// reach the one that it would have asked who leads, and has sent nothing of its record.
func (x *Exchange) Astray(kind http1.Kind) bool {
	if a, ok := x.plan.verb.(*askCluster); ok {
		a.astray(x, kind)
		return false
	}
	v := x.plan.routed
	if v == nil || kind == http1.KindCancelled || kind == http1.KindValue {
		return false
	}
	if x.trip == tripRouted {
		v.strayed(x)
		return false
	}
	of := v.cluster()
	of.passOver(x.goes.asks)
	if measure.TimedOut(string(kind)) || kind == http1.KindAuth || x.goes.tried+1 >= of.askable() {
		return false
	}
	x.goes.tried++
	x.trip, x.enough, x.got = tripBegins, false, 0
	return true
}

// reading is kafka.consume. An operation asks the leaders of the topics one after the other, until it has
// its records or its time is over.
type reading struct {
	of     *kafkaCluster
	topics []string
	count  int
	start  int64
	within int64
	most   int // bytes of the records that are kept

	group *membership // nil: each user is a consumer of its own
}

var (
	_ routed   = (*reading)(nil)
	_ personal = (*reading)(nil)
	_ keeper   = (*reading)(nil)
)

// reads is what an operation that reads has done.
type reads struct {
	consumer *consumer.Consumer
	asks     []kafka.Position
	consumer.Ask
	since   int64 // when it asked for records first; 0: it has not
	looks   int   // requests for records
	records int

	member
}

// Waits for records.
const (
	turnWait     = int64(100 * time.Millisecond) // at one of several leaders
	partitionMax = 1 << 20                       // bytes, as Kafka's own consumer has it
)

func (v *reading) openFor(x *Exchange) codec.Opening {
	o := v.open()
	if x.goes.member.need != nil && x.trip == tripRouted {
		o.Greeting.(*kafka.Greeting).Attend(v.group.Attends(v.group.broker()))
	}
	return o
}

func (v *reading) open() codec.Opening { return greeting(v.of) }

func (v *reading) cluster() *kafkaCluster { return v.of }

// route returns the leader to ask, or the broker to ask who leads.
func (v *reading) route(x *Exchange) (*Node, error) {
	r := &x.goes.reads
	if v.group != nil {
		if node, err := v.routeMember(x); node != nil || err != nil {
			return node, err
		}
	} else if r.consumer == nil {
		r.consumer = v.of.consumers.Of(x.user, v.topics, v.start)
	}
	for _, name := range v.topics {
		t := v.of.topics[name]
		if x.goes.topic, x.goes.name = t, name; t == nil {
			x.trip, x.goes.asks = tripBegins, v.of.asks()
			return x.goes.asks, nil
		}
		if v.group == nil {
			r.consumer.Fit(name, len(t.leaders))
		}
	}
	of := func(topic string, partition int32) any {
		if t := v.of.topics[topic]; int(partition) < len(t.leaders) {
			return t.leaders[partition]
		}
		return (*Node)(nil) // of a group that has met another topic of that name
	}
	r.Ask, r.asks = r.consumer.Next(of, r.asks)
	x.trip = tripRouted
	if node := r.Leader.(*Node); node != nil {
		return node, nil
	}
	v.passes(x)
	return nil, &http1.Error{Kind: "server LEADER_NOT_AVAILABLE", Detail: fmt.Sprintf("no broker leads partition %d of %s, as the cluster tells: the next operation asks again", r.asks[0].Partition, r.asks[0].Topic)}
}

// strayed implements routed.
func (v *reading) strayed(x *Exchange) {
	switch r := &x.goes.reads; {
	case r.need != nil:
		v.group.strays()
	case r.consumer != nil:
		v.passes(x)
	}
}

// passes leaves a leader that does not answer to a later operation, and makes what is known of its topics
// unknown.
func (v *reading) passes(x *Exchange) {
	r := &x.goes.reads
	v.forget(r.asks)
	r.consumer.Pass(r.Leader)
}

// forget makes what is known of topics unknown.
func (v *reading) forget(asks []kafka.Position) {
	for _, p := range asks {
		if t := v.of.topics[p.Topic]; t != nil {
			t.forget()
		}
	}
}

func (v *reading) say(x *Exchange, d codec.Dialogue) error {
	c, r := d.(*kafka.Conn), &x.goes.reads
	switch {
	case r.need != nil:
		return v.sayMember(x, c)
	case x.trip != tripRouted:
		x.trip = tripLearns
		x.shows(append([]byte("metadata "), x.goes.name...))
		return c.Learn(x.goes.name, kafka.Order{})
	case r.Locates:
		x.shows(kafka.ShowPositions([]byte("list offsets"), r.asks))
		return c.Locate(r.asks)
	}
	if r.since == 0 {
		r.since = max(1, x.said)
	}
	x.shows(kafka.ShowPositions([]byte("fetch"), r.asks))
	err := c.Fetch(r.asks, kafka.Window{Wait: int32(v.wait(x) / int64(time.Millisecond)), Bytes: partitionMax, Again: r.looks > 0})
	r.looks++
	return err
}

// wait is how long the leader may keep the request. Of several leaders each is looked at first, as another one
// may have records already.
func (v *reading) wait(x *Exchange) int64 {
	r := &x.goes.reads
	left := max(0, v.remains(x))
	if v.group != nil {
		left = min(left, memberWait)
	}
	switch {
	case v.count == 0 || r.Leaders > 1 && r.looks < r.Leaders:
		return 0
	case r.Leaders > 1:
		return min(left, turnWait)
	}
	return left
}

func (v *reading) remains(x *Exchange) int64 {
	return v.within - (x.stock.clock.Now - x.goes.reads.since)
}

func (v *reading) hear(x *Exchange, _ codec.MessageKind, _ []byte) bool {
	o := x.with.(*kafka.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	if o.Throttled > 0 {
		x.account.Deliveries().Throttled()
	}
	r := &x.goes.reads
	switch {
	case r.need != nil:
		v.hearMember(x, &o.Group)
	case x.trip == tripLearns && x.wrong == nil:
		v.of.learnt(x.goes.name, o.Layout)
		x.trip = tripElsewhere
	case x.trip == tripLearns:
	case x.wrong != nil:
		if r.consumer.Pass(r.Leader); o.Moved {
			v.forget(r.asks)
		}
	default:
		if v.found(x, o.Found); x.wrong == nil && !v.enough(x) {
			x.trip = tripElsewhere
		}
	}
	v.commits(x)
	if x.keeps && x.trip != tripElsewhere {
		if x.last = consumer.CloseRecords(x.last); x.stock.show != nil {
			x.stock.show("< ", x.last)
		}
	}
	return true
}

// found takes what a leader has answered. The first error is the operation's, and what came with it counts.
func (v *reading) found(x *Exchange, all []kafka.Found) {
	r := &x.goes.reads
	for i := range all {
		f := &all[i]
		if f.Err != nil {
			if x.wrong == nil {
				x.wrong = &http1.Error{Kind: f.Err.Kind, Detail: fmt.Sprintf("%s[%d]: %s", r.asks[f.At].Topic, r.asks[f.At].Partition, f.Err.Detail)}
			}
			if f.Moved {
				v.forget(r.asks[f.At : f.At+1])
			}
		}
		if !r.Locates {
			v.took(x, f, &r.asks[f.At])
		}
	}
	if r.consumer.Moves(r.asks, all); v.group != nil {
		v.group.Moved()
	}
	if !r.Locates {
		r.consumer.Turn()
	}
}

// took measures the records of a partition, and keeps them if anything reads them.
func (v *reading) took(x *Exchange, f *kafka.Found, from *kafka.Position) {
	d := x.account.Deliveries()
	if d.Batches(f.Batches); f.Err == nil && f.End >= 0 {
		d.Lags(uint64(max(0, f.End-f.Next)))
	}
	millis := x.stock.clock.Millis()
	for i := range f.Records {
		d.Read(millis, f.Records[i].Time)
		if x.keeps {
			x.last = consumer.AppendRecord(x.last, from, &f.Records[i])
		}
		if len(x.last) > v.most && x.wrong == nil {
			x.wrong, x.keeps, x.last = errMany, false, x.last[:0]
		}
	}
	x.goes.reads.records += len(f.Records)
}

// errMany says that what came does not fit into a response.
var errMany = &http1.Error{Kind: http1.KindTooLarge, Detail: "the records of one operation have more bytes than max_body: raise it, lower count, or read none of them"}

// enough reports that the operation ends: with an error where too few records have come in time.
func (v *reading) enough(x *Exchange) bool {
	r := &x.goes.reads
	over := v.remains(x) < int64(time.Millisecond)
	switch {
	case r.Locates:
		return false
	case v.count == 0 && r.looks < r.Leaders, v.count > 0 && r.records < v.count && !over:
		return false
	case r.records < v.count:
		x.wrong = &http1.Error{Kind: "few_records", Detail: fmt.Sprintf("%d of %d records came within %v", r.records, v.count, time.Duration(v.within))}
	}
	return true
}

func (v *reading) deaf() bool { return false }

func (v *reading) status() uint16 { return 200 }

func (v *reading) protocol() string { return "Kafka" }

func (v *reading) left(uint16, string) error { return nil }

// newReading returns the verb of a request that reads.
func newReading(c *request.KafkaConsumer, of *kafkaCluster, most int64) *reading {
	v := &reading{of: of, most: int(most), topics: c.Topics, count: c.Count, start: kafka.Earliest, within: int64(c.Within)}
	if c.Latest {
		v.start = kafka.Latest
	}
	if c.Group != "" {
		v.group = of.member(consumer.Group{Name: c.Group, Assignor: group.Assignor(c.Assignor), Topics: c.Topics, Start: v.start})
	}
	return v
}

// member is what an operation is to its membership.
type member struct {
	need    *group.Request // what it asks; nil: it reads, or learns
	queued  int64          // when it began to wait for its turn; 0: it did not
	until   int64          // it waits until then, and nothing is on its way; 0: it does not wait
	verdict *http1.Error   // of an operation that ends
	ends    bool           // it commits what was read, and ends
	slot    int32          // where it waits
	patient int64          // the deadline that it had
}

// memberWait is how long a leader or a wait keeps an operation of a member: then it looks at its group.
const memberWait = int64(500 * time.Millisecond)

// ErrParks says that an exchange waits for its turn: nothing is to be sent.
var ErrParks = &http1.Error{Kind: http1.KindTimeout, Detail: "its turn in the group did not come"}

// partitions says how many a topic has; below 0: that is not known.
func (v *reading) partitions(topic string) int {
	if t := v.of.topics[topic]; t != nil {
		return len(t.leaders)
	}
	return -1
}

// routeMember returns where the operation of a member goes; nil: to a leader, or to learn its topics.
func (v *reading) routeMember(x *Exchange) (*Node, error) {
	g, r := v.group, &x.goes.reads
	r.need = nil
	if g.holder == nil {
		g.holder = x
		g.Asked(true)
		x.stock.asks(g.Member)
	}
	if g.holder != x {
		if !slices.Contains(g.queue, x) {
			g.queue = append(g.queue, x)
			r.queued = x.stock.clock.Now
		}
		r.until = pool.Never
		return nil, ErrParks
	}
	if r.until > x.stock.clock.Now && r.until != pool.Never {
		return nil, ErrParks
	}
	r.until = 0
	for _, name := range v.topics {
		if v.of.topics[name] == nil {
			return nil, nil
		}
	}
	n := g.Next(x.stock.clock.Now, v.partitions, r.ends)
	r.need = n.Request
	switch {
	case n.Err != nil:
		if x.trip = tripRouted; g.Finds() {
			g.at = nil
		}
		return nil, n.Err
	case n.Topic != "":
		x.goes.topic, x.goes.name = nil, n.Topic
		x.trip, x.goes.asks = tripBegins, v.of.asks()
		return x.goes.asks, nil
	case n.Find:
		x.trip, x.goes.asks = tripBegins, v.of.asks()
		return x.goes.asks, nil
	case n.Request != nil:
		x.trip = tripRouted
		return g.at, nil
	}
	if r.consumer = g.Reads(); r.since == 0 && r.queued > 0 {
		r.since = max(1, r.queued, g.since) // it has waited for records since
	}
	return nil, nil
}

func (v *reading) sayMember(x *Exchange, c *kafka.Conn) error {
	r := &x.goes.reads
	if x.trip != tripRouted {
		x.trip = tripLearns
	}
	x.shows([]byte(r.need.Of.String() + " of group " + v.group.Name()))
	return c.Ask(*r.need, r.need.Of == group.Heartbeat && v.group.Empty() && r.looks == 0)
}

// hearMember takes what a coordinator answers.
func (v *reading) hearMember(x *Exchange, a *group.Answer) {
	g, r, now := v.group, &x.goes.reads, x.stock.clock.Now
	looks := a.Of == group.Heartbeat && a.Code == 0 && g.Empty()
	if a.Of == group.FindCoordinator && x.wrong == nil {
		g.at = v.of.coordinator(a.Host, a.Port)
		g.CoordinatedBy(g.broker())
	}
	var goesOn bool
	if goesOn, x.wrong = g.Heard(now, a, x.wrong, v.partitions); g.Finds() {
		g.at = nil
	}
	switch {
	case x.wrong != nil || !goesOn:
		return
	case a.Of == group.SyncGroup && a.Code == 0:
		g.since = now
		x.account.Deliveries().Rebalanced()
	case a.Of == group.OffsetCommit && r.ends:
		x.wrong = r.verdict
		return
	case looks:
		if r.Ask = (consumer.Ask{}); r.since == 0 {
			r.since = max(1, now)
		}
		r.looks++
		if v.enough(x) {
			return
		}
		r.until = now + min(memberWait, max(v.remains(x), int64(time.Millisecond)))
	}
	x.trip = tripElsewhere
}

// commits makes an operation that has its records, or fails, commit first what was read.
func (v *reading) commits(x *Exchange) {
	if g, r := v.group, &x.goes.reads; g != nil && r.need == nil && x.trip == tripRouted {
		if g.Dirty() {
			r.ends, r.verdict, x.wrong, x.trip = true, x.wrong, nil, tripElsewhere
		}
	}
}

// parks says that an exchange waits until then, or for its turn.
func (x *Exchange) parks(until int64) (*Node, error) {
	x.goes.until = until
	return nil, ErrParks
}

// Parks notes where an exchange waits, and the deadline that it has, and returns when to look again.
func (x *Exchange) Parks(slot int32, deadline int64) int64 {
	r := &x.goes.reads
	r.slot, r.patient = slot, deadline
	return min(deadline, r.until)
}

// Parked reports that an exchange waits for its turn, and until when it may.
func (x *Exchange) Parked() (deadline int64, is bool) {
	r := &x.goes.reads
	return r.patient, r.patient != 0
}

// Unparks says that an exchange waits no longer.
func (x *Exchange) Unparks() { x.goes.reads.patient = 0 }

// parts implements keeper: it gives the turn of an exchange to the next one.
func (v *reading) parts(x *Exchange) {
	g := v.group
	if g == nil {
		return
	}
	if at := slices.Index(g.queue, x); at >= 0 {
		g.queue = slices.Delete(g.queue, at, at+1)
	}
	if g.holder != x {
		return
	}
	if g.holder = nil; len(g.queue) == 0 {
		g.Asked(false)
		return
	}
	g.holder = g.queue[0]
	g.queue = g.queue[1:]
	x.stock.turns = append(x.stock.turns, g.holder.goes.reads.slot)
}
