package measure

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
)

// Deliveries measures what a broker answers to the messages of a step.
type Deliveries struct {
	late       uint64
	errors     uint64
	duplicates uint64
	consumed   Consumed
	records    uint64
	throttled  uint64
	ack        stats.Histogram
	connect    stats.Histogram
	confirm    stats.Histogram
	queues
	reply stats.Histogram
	reads
}

// reads are the records that consumers read.
type reads struct {
	batches uint64
	joins   uint64          // of groups, that gave partitions
	lag     stats.Histogram // of partitions, in thousandths of a record
	ends    stats.Histogram // from the time of a record, or of a stamp, until it was read
	undated uint64          // stamps that no clock of this machine wrote
}

// queues are the counts of messages that go to queues, and out of them.
type queues struct{ unconfirmed, returned uint64 }

// Deliveries returns what measures the account's broker.
func (a *Account) Deliveries() *Deliveries {
	if a.deliveries == nil {
		a.deliveries = new(Deliveries)
	}
	return a.deliveries
}

// Consumed counts what sessions ask of a consumer, and what its messages settle.
type Consumed struct {
	Pulls, Acks, Naks, Terms uint64 // that the kernel took
	Redelivered              uint64
}

// Consumed returns the counts of a consumer.
func (d *Deliveries) Consumed() *Consumed { return &d.consumed }

// Late returns the count of answers that no operation waited for any more.
func (d *Deliveries) Late() *uint64 { return &d.late }

// Errors returns the count of the server's errors that no operation waited for.
func (d *Deliveries) Errors() *uint64 { return &d.errors }

// Acknowledged counts a message that a stream acknowledged so long after it went out.
func (d *Deliveries) Acknowledged(after int64, duplicate bool) {
	d.ack.Record(uint64(max(0, after)))
	if duplicate {
		d.duplicates++
	}
}

// Record counts a record that its broker acknowledged so long after it went out.
func (d *Deliveries) Record(after int64) {
	d.ack.Record(uint64(max(0, after)))
	d.records++
}

// Read counts a record that a consumer read then, and its age; both in milliseconds since 1970. A record has
// no age whose time is below 0.
func (d *Deliveries) Read(now, written int64) {
	d.records++
	if written >= 0 {
		d.ends.Record(uint64(max(0, now-written)) * 1e6)
	}
}

// Arrived counts a message that came, so many nanoseconds after it was sent.
func (d *Deliveries) Arrived(after int64) { d.ends.Record(uint64(max(0, after))) }

// Undated counts a message whose stamp tells this machine nothing.
func (d *Deliveries) Undated() { d.undated++ }

// Lags counts an answer for a partition, which has so many records more.
func (d *Deliveries) Lags(records uint64) { d.lag.Record(1000 * min(records, 1<<53)) } // a server says it

// Batches counts batches that a consumer read.
func (d *Deliveries) Batches(n int) { d.batches += uint64(n) }

// Rebalanced counts partitions that a member of a group was given.
func (d *Deliveries) Rebalanced() { d.joins++ }

// Throttled counts an answer that asks to wait.
func (d *Deliveries) Throttled() { d.throttled++ }

// Again returns the count of messages that came again.
func (d *Deliveries) Again() *uint64 { return &d.duplicates }

// Connected counts a connection whose server welcomed it so long after its first word.
func (d *Deliveries) Connected(after int64) { d.connect.Record(uint64(max(0, after))) }

// Unconfirmed returns the count of messages that the kernel took and nothing confirms.
func (d *Deliveries) Unconfirmed() *uint64 { return &d.unconfirmed }

// Confirmed counts a message that the server confirmed so long after it went out.
func (d *Deliveries) Confirmed(after int64) { d.confirm.Record(uint64(max(0, after))) }

// Returned counts a message that no queue got.
func (d *Deliveries) Returned() { d.returned++ }

// Redelivered counts a message that was delivered before.
func (d *Deliveries) Redelivered() { d.consumed.Redelivered++ }

// Replied counts a reply that came so long after its request went out.
func (d *Deliveries) Replied(after int64) { d.reply.Record(uint64(max(0, after))) }

// wire appends the measures that happened.
func (d *Deliveries) wire(out message.Measures) message.Measures {
	if d == nil {
		return out
	}
	for _, m := range []message.Measure{
		{Name: plan.MeasureAcks, Count: d.consumed.Acks}, {Name: plan.MeasureNaks, Count: d.consumed.Naks}, {Name: plan.MeasureTerms, Count: d.consumed.Terms},
		{Name: plan.MeasurePulls, Count: d.consumed.Pulls}, {Name: plan.MeasureRedelivered, Count: d.consumed.Redelivered},
		{Name: plan.MeasureUnconfirmed, Count: d.unconfirmed}, {Name: plan.MeasureReturned, Count: d.returned},
		{Name: plan.MeasureDuplicates, Count: d.duplicates}, {Name: plan.MeasureLateAnswers, Count: d.late}, {Name: plan.MeasureServerErrors, Count: d.errors},
		{Name: plan.MeasureRecords, Count: d.records}, {Name: plan.MeasureThrottled, Count: d.throttled},
		{Name: plan.MeasureBatches, Count: d.batches}, {Name: plan.MeasureRebalances, Count: d.joins}, {Name: plan.MeasureStampsUnknown, Count: d.undated},
	} {
		if m.Kind = message.MeasureCount; m.Count > 0 {
			out.List = append(out.List, m)
		}
	}
	for _, m := range []struct {
		name string
		of   *stats.Histogram
	}{{plan.MeasureAckLatency, &d.ack}, {plan.MeasureConnectLatency, &d.connect}, {plan.MeasureConfirmLatency, &d.confirm}, {plan.MeasureReplyLatency, &d.reply}, {plan.MeasureEndToEnd, &d.ends}} {
		if m.of.Count() > 0 {
			out.List = append(out.List, message.Measure{Name: m.name, Kind: message.MeasureTimes, Times: m.of.Wire()})
		}
	}
	if d.lag.Count() > 0 {
		out.List = append(out.List, message.Measure{Name: plan.MeasureConsumerLag, Kind: message.MeasureAmounts, Times: d.lag.Wire()})
	}
	return out
}
