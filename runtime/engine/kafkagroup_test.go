package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/runtime/protocol/hostile/kafka/kafkatest"
)

// join runs a step that reads in a group, until a context ends or each user has read so often.
func join(ctx context.Context, t *testing.T, url, ask string, vus, each uint64) message.StepStats {
	t.Helper()
	return joined(ctx, t, url, ask, vus, each).Steps[0]
}

// joined returns all that such a run measures.
func joined(ctx context.Context, t *testing.T, url, ask string, vus, each uint64) message.Stats {
	t.Helper()
	often := ""
	if each > 0 {
		often = fmt.Sprintf("vu_iterations = %d, ", each)
	}
	w := loadFile(t, url, fmt.Sprintf("workflow(name = \"test\", %svus = %d, duration = \"60s\", steps = [step(\"take\", kafka.consume(\"TARGET\", [\"orders\"], group = \"load\", start = \"earliest\", %s))])", often, vus, ask))
	return run(t, ctx, Config{Workflow: w, VUs: vus, Duration: time.Minute, Timeout: 20 * time.Second}).Stats
}

// Users of a core share one member: each record goes to one of them, the group has committed what they were
// given, and the member leaves, so that the next run begins there at once.
func TestGroupsReadEachRecordOnce(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64, 500} {
		c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:5")
		read := uint64(0)
		for range 2 {
			if got := produce(t, c.URL(), "", `"orders", "tea"`, 1, 2*vus); got.OK != 2*vus {
				t.Fatal(got.Errors)
			}
			got := join(context.Background(), t, c.URL(), `count = 0`, vus, 30/min(vus, 15))
			all := measured(got)
			read += all[plan.MeasureRecords].Count
			if got.Failed+got.TimedOut > 0 || all[plan.MeasureRebalances].Count != 1 || got.Started != got.OK {
				t.Errorf("%d users: ok %d, %d rebalances: %v", vus, got.OK, all[plan.MeasureRebalances].Count, got.Errors)
			}
			for range 50 { // a busy broker deals with the goodbye behind its answer; a session lasts for longer than this
				if c.Members("load") == 0 {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			if n := c.Committed("load", "orders"); n != read || c.End("orders") != read || c.Members("load") != 0 {
				t.Errorf("%d users: %d read, %d committed of %d, and %d members", vus, read, n, c.End("orders"), c.Members("load"))
			}
		}
	}
}

// members is how many a group has, once they are as many as it should have or some time has passed.
func members(c *kafkatest.Cluster, want uint64) (n uint64) {
	for range 500 {
		if n = c.Members("load"); n == want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

// A run that breaks has committed what its users were given, and leaves.
func TestGroupsThatBreakAreLeft(t *testing.T) {
	t.Parallel()
	for _, vus := range []uint64{1, 64, 500} {
		c := kafkatest.Start(t, "-brokers", "2", "-topics", "orders:3")
		ctx, cancel := context.WithCancel(context.Background())
		put := make(chan struct{})
		go func() {
			defer close(put)
			produce(t, c.URL(), "", `"orders", "tea"`, 4, 400)
			for c.Committed("load", "orders") < 100 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		got := join(ctx, t, c.URL(), `within = "10s"`, vus, 0)
		<-put
		if n, read := c.Committed("load", "orders"), measured(got)[plan.MeasureRecords].Count; n != read || members(c, 0) != 0 || got.Failed+got.TimedOut > 0 {
			t.Errorf("%d users: %d read, %d committed, %d members: %v", vus, read, n, c.Members("load"), got.Errors)
		}
	}
}

// A consumer of librdkafka in the same group takes partitions over, and gives them back: each record is read
// by one of both, and each change is a rebalance.
func TestGroupsAreShared(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, "-brokers", "2", "-topics", "orders:4")
	path, err := exec.LookPath("kcat")
	if err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal("kcat is missing: .ci/run installs it")
		}
		t.Skip("kcat is missing")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	theirs := make(chan int, 1)
	go func() {
		defer cancel()
		for ctx.Err() == nil && c.Members("load") < 1 {
			time.Sleep(time.Millisecond)
		}
		kcat := exec.CommandContext(ctx, path, "-b", strings.Join(c.Addresses(), ","), "-G", "load", "-c", "40", "-X", "auto.offset.reset=earliest", "orders")
		ended := make(chan string, 1)
		go func() {
			out, _ := kcat.Output() // what it has read counts
			ended <- string(out)
		}()
		read := -1
		for ctx.Err() == nil && read < 0 {
			select {
			case text := <-ended:
				read = strings.Count(text, "tea")
			default:
				produce(t, c.URL(), "", `"orders", "tea"`, 4, 40)
			}
		}
		for ctx.Err() == nil && c.Committed("load", "orders") < c.End("orders") {
			time.Sleep(time.Millisecond)
		}
		theirs <- read
	}()
	got := join(ctx, t, c.URL(), `within = "10s"`, 4, 0)
	all := measured(got)
	if n := uint64(<-theirs); n != 40 || all[plan.MeasureRecords].Count+n != c.End("orders") || all[plan.MeasureRebalances].Count < 2 || got.Failed+got.TimedOut > 0 {
		t.Errorf("%d and %d of %d records, %d rebalances: %v", all[plan.MeasureRecords].Count, n, c.End("orders"), all[plan.MeasureRebalances].Count, got.Errors)
	}
}

// An error of the coordinator fails the operation that meets it, once: the next one goes on, and no record is
// lost or read twice but where a commit has failed.
func TestCoordinatorsThatFail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		api, code int
		name      string
		again     uint64 // records that are read again
	}{
		{kafkatest.FindCoordinator, 15, "COORDINATOR_NOT_AVAILABLE", 0},
		{kafkatest.JoinGroup, 16, "NOT_COORDINATOR", 0},
		{kafkatest.JoinGroup, 23, "INCONSISTENT_GROUP_PROTOCOL", 0},
		{kafkatest.OffsetCommit, 16, "NOT_COORDINATOR", 0},
		{kafkatest.OffsetCommit, 22, "ILLEGAL_GENERATION", 30},
		{kafkatest.OffsetCommit, 25, "UNKNOWN_MEMBER_ID", 30},
	} {
		c := kafkatest.Start(t, "-topics", "orders:1")
		produce(t, c.URL(), "", `"orders", "tea"`, 1, 30)
		if tt.code == 25 {
			c.Evict() // a coordinator that keeps the member would have its successor wait for it
		} else {
			c.Fault(tt.api, tt.code, 1)
		}
		got := join(context.Background(), t, c.URL(), "count = 0", 1, 6)
		if read := measured(got)[plan.MeasureRecords].Count; kinds(got)["server "+tt.name] != 1 || got.OK != 5 || read != 30+tt.again || c.Committed("load", "orders") != 30 {
			t.Errorf("%s of %d: ok %d, %d read, %d committed: %v", tt.name, tt.api, got.OK, read, c.Committed("load", "orders"), got.Errors)
		}
	}
}

// A coordinator that moves between the brokers of a cluster, while users read and records come: each move fails one
// operation at most, no record is lost or read twice, and the group has committed what the log has.
func TestCoordinatorsMove(t *testing.T) {
	t.Parallel()
	const moves, records = 5, 100
	for _, vus := range []uint64{1, 16} {
		c := kafkatest.Start(t, "-brokers", "3", "-topics", "orders:3")
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
		defer cancel()
		seen := map[uint64]bool{}
		played := make(chan struct{})
		go func() {
			defer close(played)
			defer cancel()
			for i := range uint64(moves + 1) {
				if put := produce(t, c.URL(), "", `"orders", "tea"`, 4, records); put.OK != records {
					t.Errorf("put %d: %v", put.OK, put.Errors)
				}
				for ctx.Err() == nil && c.Committed("load", "orders") < i*records+1 { // in the middle of reading
					time.Sleep(time.Millisecond)
				}
				if i == moves { // what came behind the last move is read, too
					break
				}
				seen[c.Coordinator("load")], seen[c.Rehash("load")] = true, true
			}
			for ctx.Err() == nil && c.Committed("load", "orders") < c.End("orders") {
				time.Sleep(time.Millisecond)
			}
		}()
		got := join(ctx, t, c.URL(), `within = "10s"`, vus, 0)
		<-played
		for range 50 { // a busy broker deals with the goodbye behind its answer
			if c.Members("load") == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		read := measured(got)[plan.MeasureRecords].Count
		if n := c.Committed("load", "orders"); read != (moves+1)*records || n != read || c.End("orders") != read || c.Members("load") != 0 || len(seen) < 2 {
			t.Errorf("%d users: %d read, %d committed of %d, %d members, %d coordinators: %v", vus, read, n, c.End("orders"), c.Members("load"), len(seen), got.Errors)
		}
		if bad := kinds(got)["server NOT_COORDINATOR"]; bad != got.Failed || bad == 0 || bad > moves || got.TimedOut > 0 {
			t.Errorf("%d users: %d failed, %d timed out: %v", vus, got.Failed, got.TimedOut, got.Errors)
		}
	}
}

// A run tells what its groups do not remember of what its users have read.
func TestGroupsTellWhatIsNotCommitted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code int
		want string
	}{
		{0, "[]"},
		{15, "[group load: 30 offsets are read and not committed, and its next member reads them again: the coordinator has not confirmed the last commit]"},
		{28, "[group load: 30 offsets are read and not committed, and its next member reads them again: the broker answered INVALID_COMMIT_OFFSET_SIZE (28)]"},
	} {
		c := kafkatest.Start(t, "-topics", "orders:1")
		produce(t, c.URL(), "", `"orders", "tea"`, 1, 30)
		if tt.code != 0 {
			c.Fault(kafkatest.OffsetCommit, tt.code, -1)
		}
		got := joined(context.Background(), t, c.URL(), "count = 0", 1, 1)
		if logs := fmt.Sprint(got.Logs); logs != tt.want || measured(got.Steps[0])[plan.MeasureRecords].Count != 30 {
			t.Errorf("%d: %s, want %s: %v", tt.code, logs, tt.want, got.Steps[0].Errors)
		}
	}
}

// A coordinator that rebalances without end, or finds each commit old, ends in errors of the operations, each
// within its time. The member leaves, unless the last operation's time was over: that closes its connection.
func TestCoordinatorsWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		api, code, count int // below 0: without end
		want             string
		members          uint64 // that are left
	}{
		{kafkatest.SyncGroup, 27, -1, "timeout", 1},
		{kafkatest.FindCoordinator, 15, 2, "server COORDINATOR_NOT_AVAILABLE", 0},
		{kafkatest.OffsetCommit, 22, -1, "server ILLEGAL_GENERATION", 0},
		{kafkatest.OffsetCommit, 27, -1, "server REBALANCE_IN_PROGRESS", 0},
	} {
		c := kafkatest.Start(t, "-topics", "orders:1")
		produce(t, c.URL(), "", `"orders", "tea"`, 1, 30)
		c.Fault(tt.api, tt.code, tt.count)
		got := join(context.Background(), t, c.URL(), `count = 0, within = "100ms", timeout = "500ms"`, 1, 2)
		if n := members(c, tt.members); kinds(got)[tt.want] != 2 || got.OK != 0 || n != tt.members {
			t.Errorf("%d of %d: ok %d, %d members: %v", tt.code, tt.api, got.OK, n, got.Errors)
		}
	}
}
