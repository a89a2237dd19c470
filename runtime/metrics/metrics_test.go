package metrics

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/loop"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/carrier"
	"hyperscale/runtime/store"
	"hyperscale/runtime/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sources are those of a node that has done something of everything.
func sources() Sources {
	return Sources{
		Self: node.Peer{ID: "manager-1", Role: node.RoleManager}, Place: "east",
		Loop: func() loop.Stats {
			s := loop.Stats{StepTime: 2 * time.Second, Steps: [9]uint64{5, 0, 1, 0, 0, 0, 0, 0, 1}, Dropped: [4]uint64{0, 0, 0, 3}, Replaced: [4]uint64{6, 0, 0, 0}}
			s.Handled[node.InputTimer][node.High] = 7
			s.Handled[node.InputShed][node.High] = 5
			return s
		},
		Transport: func() transport.Stats {
			return transport.Stats{Garbage: 4, Unfit: transport.Unfit{Skipped: 8}, Streams: 2}
		},
		Store: func() store.Stats { return store.Stats{Puts: 9, Commits: 2} },
		Outputs: func() []carrier.Stats {
			house := outputs.Report{Rows: 10, Delivered: 7, Rejected: 1, Lost: 2, LostRequests: 20, PerhapsTwice: 3, Tries: 99}
			return []carrier.Stats{{Sink: "hook", Kind: "webhook"}, {Sink: "warehouse", Kind: "postgres", Total: house, Waiting: 4, Bytes: 500, Behind: 6 * time.Second, Tries: 8}}
		},
	}
}

// observed returns one of each event with its own metric.
func observed() []node.Event {
	return []node.Event{
		event.JobChanged{To: message.JobRunning}, event.WorkflowChanged{To: message.WorkflowRunning}, event.ShardStarted{},
		event.ShardEnded{State: message.WorkflowCompleted}, event.ShardLost{}, event.ExecutorGone{}, event.ExecutorWatched{State: "stuck"}, event.MemoryLevel{Level: "pressed"}, event.BudgetSpent{Scope: "workflow"}, event.FenceRefused{},
		event.PeerRegistered{Role: node.RoleWorker}, event.PeerLost{Role: node.RoleWorker}, event.StoreFailed{}, event.Shed{Reason: event.ShedLane}, event.Shed{Reason: event.ShedSlots, Kind: message.KindShardDispatch},
		event.BoundNear{Setting: "gate.files_max", Near: true}, event.BoundUsed{Setting: "gate.files_max", Used: 8, Bound: 10},
		event.Ignored{}, event.Implausible{What: "term"}, event.Acted{}, event.LettersKept{Letters: 2, Bytes: 700}, event.CoresWanted{Datacenter: "fra", Cores: 9}, event.DispatchesPaced{Rate: 50, Bound: 100},
		event.Alert{Alert: "queue-high", Severity: "warning", Change: event.AlertRaised}, event.Alert{Alert: "dead-letters", Severity: "warning", Change: event.AlertTaken},
		event.Alert{Alert: "emergency", Severity: "critical", Change: event.AlertRaised}, event.Alert{Alert: "emergency", Severity: "critical", Change: event.AlertCleared},
		event.CircuitChanged{State: "open"}, event.LoadChanged{Level: "emergency", Rank: 3}, event.JobBegan{Waited: time.Minute, Took: time.Second},
		event.FleetCounted{Healthy: 4, Unhealthy: 1, Overloaded: 2, Draining: 1, CoresFree: 5, CoresTotal: 12},
		event.LeaseGranted{}, event.LeaseGranted{}, event.LeaseExtended{}, event.LeaseEnded{Reason: "released"}, event.LeaseCalled{What: "acquire"},
		event.LeaseReturned{OK: true}, event.AcceptorWrote{}, event.GroupJoined{How: "founded"}, event.GroupLevel{Level: 1}, event.GroupAlarm{Speaks: true}, event.GroupRefused{}, event.GroupMoved{Version: 1},
		event.ClockSuspect{Jump: true}, event.MemberChanged{From: "unknown", To: "alive"}, event.MemberChanged{From: "alive", To: "suspect"},
		event.HealthChanged{Multiplier: 3}, event.Voted{Term: 7}, event.Elected{Term: 7}, event.SteppedDown{}, event.LeaderKnown{Term: 8},
		event.NameResolved{Name: "dns:m:1", Addrs: 4, Added: 2, Removed: 1}, event.NameFailed{Name: "dns:m:1", Kept: 3},
		event.SinkEnded{Sink: "hook", Delivered: 9}, event.SinkEnded{Sink: "hook", Lost: 4, LostRequests: 60, Failed: "its time is over"}, event.SinkEnded{Sink: "hook", Lost: 4, LostRequests: 60, Failed: "its time is over", Again: true},
	}
}

// onlyNamed are events without a metric of their own: they are counted by name alone.
var onlyNamed = []node.Event{
	event.JobSubmitted{}, event.SubjobChanged{}, event.Acted{}, event.FenceStored{}, event.ShardCounted{}, event.SegmentCounted{}, event.SubjobCounted{}, event.SubjobGivenUp{}, event.SubjobLate{}, event.ShardDispatched{},
	event.SubjobDispatched{}, event.PeerRefused{}, event.Reached{}, event.ClientCalled{}, event.ClientReturned{}, event.ShardRenewed{},
	event.WorkflowAborted{}, event.RowsTaken{}, event.WaitsReleased{}, event.BarrierReleased{}, event.CoreFreed{}, event.DatacenterFavoured{}, event.ManagerJudged{},
	event.WorkflowEnded{}, event.ReportsPaced{}, event.ClientTold{}, event.AskedAgain{}, event.GatesKnown{}, event.GatesRecalled{}, event.GatePreferred{},
}

// A new event has a metric, or a line here says that its name is enough.
func TestEveryEventIsTreated(t *testing.T) {
	treated := map[string]bool{}
	for _, e := range append(observed(), onlyNamed...) {
		treated[e.EventName()] = true
	}
	for _, e := range event.All() {
		if !treated[e.EventName()] {
			t.Errorf("%s moves no metric of its own: give it one, or list it as counted by name alone", e.EventName())
		}
	}
}

func TestTableIsClean(t *testing.T) {
	m := New(sources())
	for _, e := range observed() {
		m.Observe(e)
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestEveryEventOfTheTableMovesItsMetric(t *testing.T) {
	m := New(sources())
	for _, e := range observed() {
		m.Observe(e)
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	moved := map[string]float64{}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			moved[f.GetName()] += one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())
		}
	}
	for _, want := range []struct {
		name  string
		value float64
	}{
		{"hyperscale_node_events_total", float64(len(observed()))}, {"hyperscale_job_transitions_total", 1},
		{"hyperscale_workflow_transitions_total", 1}, {"hyperscale_shard_transitions_total", 2}, {"hyperscale_shard_losses_total", 1},
		{"hyperscale_executor_deaths_total", 1}, {"hyperscale_executor_watch_total", 1}, {"hyperscale_executor_memory_total", 1}, {"hyperscale_budget_spent_total", 1}, {"hyperscale_fence_refusals_total", 1}, {"hyperscale_peer_changes_total", 2},
		{"hyperscale_store_refusals_total", 1}, {"hyperscale_node_shed_requests_total", 2}, {"hyperscale_worker_claims_refused_total", 1}, {"hyperscale_node_ignored_messages_total", 1},
		{"hyperscale_lease_grants_total", 2}, {"hyperscale_lease_extensions_total", 1}, {"hyperscale_lease_ends_total", 1}, {"hyperscale_lease_held", 1},
		{"hyperscale_lease_calls_total", 1}, {"hyperscale_lease_returns_total", 1}, {"hyperscale_lease_acceptor_writes_total", 1},
		{"hyperscale_lease_member", 1}, {"hyperscale_lease_joins_total", 1}, {"hyperscale_lease_alarms_total", 1},
		{"hyperscale_lease_set_mismatches_total", 1}, {"hyperscale_node_clock_alarms_total", 1}, {"hyperscale_swim_changes_total", 2},
		{"hyperscale_swim_members", 1}, {"hyperscale_swim_health_multiplier", 3}, {"hyperscale_election_votes_total", 1},
		{"hyperscale_election_wins_total", 1}, {"hyperscale_election_step_downs_total", 1}, {"hyperscale_election_leader", 0},
		{"hyperscale_alert", 2}, {"hyperscale_alert_transitions_total", 3}, {"hyperscale_gate_circuit_state", 2}, {"hyperscale_gate_load_level", 3}, {"hyperscale_gate_wanted_cores", 9},
		{"hyperscale_gate_queue_wait_seconds", 1}, {"hyperscale_gate_start_seconds", 1}, {"hyperscale_manager_workers", 8}, {"hyperscale_manager_cores", 12},
		{"hyperscale_output_given_up_jobs_total", 1}, {"hyperscale_output_given_up_rows_total", 4}, {"hyperscale_output_given_up_requests_total", 60},
		{"hyperscale_election_term", 8}, {"hyperscale_election_leader_changes_total", 1}, {"hyperscale_discovery_candidates", 3}, {"hyperscale_discovery_failing", 1}, {"hyperscale_discovery_changes_total", 3},
	} {
		if moved[want.name] != want.value {
			t.Errorf("%s = %v, want %v", want.name, moved[want.name], want.value)
		}
	}
}

// TestCountsOfSinks: each figure has its name and its sink. Lost rows are those of tries that failed, and those that were
// given up before a try.
func TestCountsOfSinks(t *testing.T) {
	m := New(sources())
	m.Observe(event.SinkEnded{Sink: "warehouse", Lost: 2, LostRequests: 20}) // a kind that repeats nothing
	m.Observe(event.SinkEnded{Sink: "warehouse", Lost: 5, LostRequests: 50, Failed: "its time is over"})
	m.Observe(event.SinkEnded{Sink: "warehouse", Lost: 5, LostRequests: 50, Failed: "its time is over", Again: true})
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), "hyperscale_output_")
		for _, one := range f.GetMetric() {
			labels := ""
			for _, l := range one.GetLabel() { // sorted by name
				labels += " " + l.GetValue()
			}
			if ours {
				got[name+labels] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
			}
		}
	}
	want := map[string]float64{
		"rows_total postgres delivered warehouse": 7, "rows_total postgres rejected warehouse": 1, "rows_total postgres lost warehouse": 7,
		"lost_requests_total postgres warehouse": 70, "perhaps_twice_rows_total postgres warehouse": 3, "failed_tries_total postgres warehouse": 8,
		"behind_seconds postgres warehouse": 6, "waiting_batches postgres warehouse": 4, "waiting_bytes postgres warehouse": 500,
		"rows_total webhook delivered hook": 0, "rows_total webhook rejected hook": 0, "rows_total webhook lost hook": 0, "lost_requests_total webhook hook": 0, "perhaps_twice_rows_total webhook hook": 0,
		"given_up_jobs_total hook": 0, "given_up_rows_total hook": 0, "given_up_requests_total hook": 0, "given_up_jobs_total warehouse": 1, "given_up_rows_total warehouse": 5, "given_up_requests_total warehouse": 50,
		"failed_tries_total webhook hook": 0, "behind_seconds webhook hook": 0, "waiting_batches webhook hook": 0, "waiting_bytes webhook hook": 0,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestCountsOfTheSubjobs(t *testing.T) {
	want := `
# HELP hyperscale_loop_dropped_inputs_total Messages and commands refused because their lane was full.
# TYPE hyperscale_loop_dropped_inputs_total counter
hyperscale_loop_dropped_inputs_total{lane="critical"} 0
hyperscale_loop_dropped_inputs_total{lane="high"} 0
hyperscale_loop_dropped_inputs_total{lane="low"} 3
hyperscale_loop_dropped_inputs_total{lane="normal"} 0
# HELP hyperscale_loop_replaced_inputs_total Heartbeats and figures that a newer one replaced while they waited.
# TYPE hyperscale_loop_replaced_inputs_total counter
hyperscale_loop_replaced_inputs_total{lane="critical"} 6
hyperscale_loop_replaced_inputs_total{lane="high"} 0
hyperscale_loop_replaced_inputs_total{lane="low"} 0
hyperscale_loop_replaced_inputs_total{lane="normal"} 0
# HELP hyperscale_loop_step_duration_seconds How long the machine took for one input.
# TYPE hyperscale_loop_step_duration_seconds histogram
hyperscale_loop_step_duration_seconds_bucket{le="1e-05"} 5
hyperscale_loop_step_duration_seconds_bucket{le="5e-05"} 5
hyperscale_loop_step_duration_seconds_bucket{le="0.0002"} 6
hyperscale_loop_step_duration_seconds_bucket{le="0.001"} 6
hyperscale_loop_step_duration_seconds_bucket{le="0.005"} 6
hyperscale_loop_step_duration_seconds_bucket{le="0.025"} 6
hyperscale_loop_step_duration_seconds_bucket{le="0.25"} 6
hyperscale_loop_step_duration_seconds_bucket{le="1"} 6
hyperscale_loop_step_duration_seconds_bucket{le="+Inf"} 7
hyperscale_loop_step_duration_seconds_sum 2
hyperscale_loop_step_duration_seconds_count 7
# HELP hyperscale_node_info The node of this process: always 1.
# TYPE hyperscale_node_info gauge
hyperscale_node_info{datacenter="east",node="manager-1",role="manager"} 1
# HELP hyperscale_store_puts_total Puts that were completed.
# TYPE hyperscale_store_puts_total counter
hyperscale_store_puts_total{outcome="failed"} 0
hyperscale_store_puts_total{outcome="ok"} 9
# HELP hyperscale_transport_skipped_messages_total Messages skipped because a newer version added their kinds.
# TYPE hyperscale_transport_skipped_messages_total counter
hyperscale_transport_skipped_messages_total 8
`
	err := testutil.GatherAndCompare(New(sources()).registry, strings.NewReader(want), "hyperscale_loop_dropped_inputs_total",
		"hyperscale_loop_replaced_inputs_total", "hyperscale_transport_skipped_messages_total", "hyperscale_loop_step_duration_seconds", "hyperscale_node_info", "hyperscale_store_puts_total")
	if err != nil {
		t.Error(err)
	}
}

// The metric of inputs has every kind that a loop counts.
func TestEveryKindOfInputIsCounted(t *testing.T) {
	families, err := New(sources()).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "hyperscale_loop_inputs_total" {
			continue
		}
		sum := 0.0
		for _, one := range f.GetMetric() {
			sum += one.GetCounter().GetValue()
		}
		if sum != 12 {
			t.Errorf("%v inputs are counted, want the 7 timers and the 5 stubs", sum)
		}
		return
	}
	t.Fatal("hyperscale_loop_inputs_total is missing")
}

func TestAdmin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	no := func() (bool, string) { return false, "the node is stopping" }
	yes := func() (bool, string) { return true, "" }
	a := New(sources()).Serve(l, slog.New(slog.DiscardHandler), yes, no)
	defer a.Close(t.Context())
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	for _, c := range []struct {
		path string
		code int
		body string
	}{
		{"/healthz", 200, "ok\n"}, {"/readyz", 503, "the node is stopping\n"}, {"/metrics", 200, "hyperscale_store_commits_total 2\n"}, {"/", 404, ""}, {"/v1/jobs", 404, "--api and --api-tokens turn on"},
	} {
		r, err := client.Get("http://" + a.Addr() + c.path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != c.code || !strings.Contains(string(b), c.body) {
			t.Errorf("GET %s: %d %.200q %v, want %d with %q", c.path, r.StatusCode, b, err, c.code, c.body)
		}
	}
}

// TestAFloodLeavesRoomLater: more connections than are served at a time wait,
// garbage is answered, and Close ends them all.
func TestAFloodLeavesRoomLater(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	yes := func() (bool, string) { return true, "" }
	a := New(sources()).Serve(l, slog.New(slog.DiscardHandler), yes, yes)
	var held []net.Conn
	for range adminConnections + 10 {
		c, err := net.Dial("tcp", a.Addr())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if _, err := held[0].Write([]byte("\xff\xff\xff\xff\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = held[0].SetReadDeadline(time.Now().Add(5 * time.Second))
	if b, err := io.ReadAll(held[0]); err != nil || !strings.Contains(string(b), "400 Bad Request") {
		t.Errorf("garbage: %q, %v", b, err)
	}
	for _, c := range held {
		_ = c.Close()
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	r, err := client.Get("http://" + a.Addr() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	a.Close(ctx)
}
