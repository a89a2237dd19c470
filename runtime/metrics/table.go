package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"hyperscale/core/node"
	"hyperscale/runtime/certs"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/seal"
	"hyperscale/runtime/store"
	"hyperscale/runtime/transport"
)

// row is one metric of the table that is read from the counts of a subjob.
type row struct {
	name, help string
	gauge      bool
	labels     []string
	read       func(s *snapshot, emit emit)
}

// emit reports one value of a row, with the values of its labels.
type emit func(value float64, labels ...string)

// snapshot holds the values of one scrape.
type snapshot struct {
	loop      loop.Stats
	transport transport.Stats
	store     store.Stats
	outputs   []carrier.Stats
	lost      func(sink string) lostOf // what those sinks lack
}

// one is a row without labels.
func one(value func(s *snapshot) float64) func(*snapshot, emit) {
	return func(s *snapshot, e emit) { e(value(s)) }
}

// each is a row with one label.
func each(values func(s *snapshot) []labelled) func(*snapshot, emit) {
	return func(s *snapshot, e emit) {
		for _, v := range values(s) {
			e(v.value, v.label)
		}
	}
}

type labelled struct {
	label string
	value float64
}

// byLane labels one count for each lane.
func byLane[N int | uint64](values [node.Priorities]N) []labelled {
	var all []labelled
	for p, v := range values {
		all = append(all, labelled{node.Priority(p).String(), float64(v)})
	}
	return all
}

func inputs(s *snapshot, e emit) {
	for k := node.InputStart; k <= node.InputCommandEnd; k++ {
		for p := range node.Priorities {
			e(float64(s.loop.Handled[k][p]), k.String(), node.Priority(p).String())
		}
	}
}

// table lists every metric that a scrape reads, except the histogram of steps in metrics.go.
func table() []row {
	return slices.Concat(loopRows(), transportRows(), storeRows(), outputRows())
}

func loopRows() []row {
	return []row{
		{name: "hyperscale_loop_inputs_total", help: "Inputs that the machine has handled, by kind and lane.", labels: []string{"kind", "lane"}, read: inputs},
		{name: "hyperscale_loop_dropped_inputs_total", help: "Messages and commands refused because their lane was full.", labels: []string{"lane"},
			read: each(func(s *snapshot) []labelled { return byLane(s.loop.Dropped) })},
		{name: "hyperscale_loop_replaced_inputs_total", help: "Heartbeats and figures that a newer one replaced while they waited.", labels: []string{"lane"},
			read: each(func(s *snapshot) []labelled { return byLane(s.loop.Replaced) })},
		{name: "hyperscale_loop_waiting_inputs", help: "Inputs that wait in the mailbox.", gauge: true, labels: []string{"lane"},
			read: each(func(s *snapshot) []labelled { return byLane(s.loop.Waiting) })},
		{name: "hyperscale_loop_running_step_seconds", help: "How long the step that runs now has been going on; 0 between steps.", gauge: true,
			read: one(func(s *snapshot) float64 { return s.loop.Running.Seconds() })},
		{name: "hyperscale_loop_skipped_answers_total", help: "Answers of telemetry that a slow local session did not get.",
			read: one(func(s *snapshot) float64 { return float64(s.loop.Answers) })},
		{name: "hyperscale_loop_sessions", help: "Local commands that may still be answered.", gauge: true,
			read: one(func(s *snapshot) float64 { return float64(s.loop.Sessions) })},
	}
}

func transportRows() []row {
	return []row{
		{name: "hyperscale_transport_connections_total", help: "Connections accepted.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.Accepted) })},
		{name: "hyperscale_transport_accept_errors_total", help: "Connections that could not be accepted, mostly for want of file descriptors.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.AcceptErrors) })},
		{name: "hyperscale_transport_rejected_total", help: "Connections and datagrams rejected: refused = a node of another cluster, environment, version or role; garbage = no frame of this protocol; slow = no Hello in time; crowded = too many without a Hello; full = as many clients or nodes as the limit of open files allows; other = ended before its Hello.",
			labels: []string{"why"}, read: each(rejected)},
		{name: "hyperscale_transport_streams_opened_total", help: "Streams whose handshake succeeded, dialed or accepted.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.Opened) })},
		{name: "hyperscale_transport_streams_broken_total", help: "Streams that ended without being closed here, those included that never opened.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.Broken) })},
		{name: "hyperscale_transport_overflows_total", help: "Streams broken for want of room: queue = the peer read too slowly, lane = this node did.",
			labels: []string{"where"}, read: each(func(s *snapshot) []labelled {
				return []labelled{{"queue", float64(s.transport.Overflows.Queue)}, {"lane", float64(s.transport.Overflows.Lane)}}
			})},
		{name: "hyperscale_transport_streams", help: "Streams that are open or opening.", gauge: true,
			read: one(func(s *snapshot) float64 { return float64(s.transport.Streams) })},
		{name: "hyperscale_transport_strangers", help: "Connections that have not said Hello.", gauge: true,
			read: one(func(s *snapshot) float64 { return float64(s.transport.Strangers) })},
		{name: "hyperscale_transport_unsealed_total", help: "Connections, frames and datagrams whose seal did not open: plain = of a node without a secret; key = of one with other secrets; forged = changed, or made without the secret; replayed = datagrams that arrived before.",
			labels: []string{"why"}, read: each(func(s *snapshot) []labelled {
				u := &s.transport.Seal.Unsealed
				return []labelled{{"plain", float64(u.Plain)}, {"key", float64(u.Key)}, {"forged", float64(u.Forged)}, {"replayed", float64(u.Replayed)}}
			})},
		{name: "hyperscale_transport_sealed_streams", help: "Open streams by the secret that seals them, as `hyperscale secret show` names it; none = in clear.", gauge: true,
			labels: []string{"secret"}, read: each(sealed)},
		{name: "hyperscale_transport_rejected_certificates_total", help: "Handshakes that ended because of a certificate or what it claims, by reason: by = node, this node rejected the peer; by = peer, the peer rejected this node.",
			labels: []string{"reason", "by"}, read: rejectedCertificates},
		{name: "hyperscale_transport_certificate_expiry_seconds", help: "How long this node's certificate, and those that it hangs on, are valid; below zero, one has expired. Absent without a certificate.", gauge: true,
			read: func(s *snapshot, e emit) {
				if c := &s.transport.Seal.Certified; c.Has {
					e(c.Left.Seconds())
				}
			}},
		{name: "hyperscale_transport_messages_total", help: "Messages on streams.", labels: []string{"direction"},
			read: each(func(s *snapshot) []labelled {
				return []labelled{{"in", float64(s.transport.MessagesIn)}, {"out", float64(s.transport.MessagesOut)}}
			})},
		{name: "hyperscale_transport_skipped_messages_total", help: "Messages skipped because a newer version added their kinds.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.Unfit.Skipped) })},
		{name: "hyperscale_transport_misplaced_messages_total", help: "Messages of kinds that the sender's role does not send: their streams are broken.",
			read: one(func(s *snapshot) float64 { return float64(s.transport.Unfit.Misplaced) })},
		{name: "hyperscale_transport_stream_bytes_total", help: "Bytes of those messages, framing included.", labels: []string{"direction"},
			read: each(func(s *snapshot) []labelled {
				return []labelled{{"in", float64(s.transport.BytesIn)}, {"out", float64(s.transport.BytesOut)}}
			})},
		{name: "hyperscale_transport_datagrams_total", help: "Datagrams that came and went.", labels: []string{"direction"},
			read: each(func(s *snapshot) []labelled {
				return []labelled{{"in", float64(s.transport.Datagrams.In)}, {"out", float64(s.transport.Datagrams.Out)}}
			})},
		{name: "hyperscale_transport_dropped_datagrams_total", help: "Datagrams lost here: large = above the bound; other = no room, no address, or the socket refused.",
			labels: []string{"why"}, read: each(func(s *snapshot) []labelled {
				return []labelled{{"large", float64(s.transport.Datagrams.Large)}, {"other", float64(s.transport.Datagrams.Dropped)}}
			})},
	}
}

func sealed(s *snapshot) []labelled {
	var all []labelled
	for id, n := range s.transport.Seal.Streams {
		name := id.String()
		if id == (seal.ID{}) {
			name = "none"
		}
		all = append(all, labelled{name, float64(n)})
	}
	slices.SortFunc(all, func(a, b labelled) int { return strings.Compare(a.label, b.label) })
	return all
}

func rejectedCertificates(s *snapshot, e emit) {
	if !s.transport.Seal.Certified.Has {
		return
	}
	for _, r := range certs.Reasons() {
		e(float64(s.transport.Seal.Certified.Here[r]), string(r), "node")
		e(float64(s.transport.Seal.Certified.ByPeer[r]), string(r), "peer")
	}
}

func rejected(s *snapshot) []labelled {
	return []labelled{
		{"refused", float64(s.transport.Refused)}, {"garbage", float64(s.transport.Garbage)}, {"slow", float64(s.transport.Slow)},
		{"crowded", float64(s.transport.Crowded)}, {"full", float64(s.transport.Full)}, {"other", float64(s.transport.Handshakes)},
	}
}

func storeRows() []row {
	return []row{
		{name: "hyperscale_store_puts_total", help: "Puts that were completed.", labels: []string{"outcome"},
			read: each(func(s *snapshot) []labelled {
				return []labelled{{"ok", float64(s.store.Puts)}, {"failed", float64(s.store.Failed)}}
			})},
		{name: "hyperscale_store_commits_total", help: "Transactions: puts for each of them is what the group commit saves.",
			read: one(func(s *snapshot) float64 { return float64(s.store.Commits) })},
		{name: "hyperscale_store_records_total", help: "Records written or deleted.",
			read: one(func(s *snapshot) float64 { return float64(s.store.Records) })},
		{name: "hyperscale_store_written_bytes_total", help: "Bytes of the values written.",
			read: one(func(s *snapshot) float64 { return float64(s.store.Bytes) })},
		{name: "hyperscale_store_waiting_puts", help: "Puts that wait for their transaction.", gauge: true,
			read: one(func(s *snapshot) float64 { return float64(s.store.Waiting) })},
	}
}

func (r *row) kind() prometheus.ValueType {
	if r.gauge {
		return prometheus.GaugeValue
	}
	return prometheus.CounterValue
}
