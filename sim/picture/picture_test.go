package picture_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
	"hyperscale/sim/picture"
)

// small plays a few moments of a gate, a manager and a worker.
func small(r *picture.Recorder) {
	at := time.Duration(0)
	tick := func() time.Duration { at += time.Millisecond; return at }
	peer := func(id node.ID, role node.Role) node.Peer {
		return node.Peer{ID: id, Role: role, Addr: node.Addr(id + ":1")}
	}
	manager, worker := peer("manager", node.RoleManager), peer("worker", node.RoleWorker)
	up, down := netsim.ConnID(1).Of(0), netsim.ConnID(1).Of(1) // the worker opened it
	r.Input(tick(), "worker", &node.Input{Kind: node.InputStart})
	r.Effect(tick(), "worker", &sim.Effect{Kind: sim.EffectOpen, Stream: up, To: "manager:1"})
	r.Input(tick(), "worker", &node.Input{Kind: node.InputStreamOpened, Stream: up, From: manager})
	send := func(s node.StreamID, from node.ID, m node.Message) {
		r.Effect(tick(), from, &sim.Effect{Kind: sim.EffectSend, Stream: s, Message: m})
	}
	get := func(s node.StreamID, to node.ID, from node.Peer, m node.Message) {
		r.Input(tick(), to, &node.Input{Kind: node.InputMessage, Stream: s, From: from, Message: m})
	}
	beat := &message.WorkerHeartbeat{Datacenter: "dc-a", Sequence: 1, CoresTotal: 4}
	send(up, "worker", beat)
	get(down, "manager", worker, beat)
	slice := message.ShardID{Job: message.JobID{1}, Ordinal: 1}
	order := &message.ShardDispatch{Shard: slice, Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}, Workflow: "</script><b>", VUs: 4, Cores: 2}
	r.Event(tick(), "manager", 1, event.ShardDispatched{Shard: slice, Worker: "worker"})
	send(down, "manager", order)
	get(up, "worker", manager, order)
	r.Input(tick(), "worker", &node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartWorker, node.WorkerHeartbeat)})
	r.Input(tick(), "worker", &node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartWorker, node.WorkerShard)})
	send(up, "worker", &message.ShardResult{Shard: slice, State: message.WorkflowCompleted}) // never arrives
	send(up, "worker", &message.WorkerHeartbeat{Datacenter: "dc-a", Sequence: 2, CoresTotal: 4})
	r.Fault(tick(), sim.Fault{Kind: sim.FaultCrash, Nodes: []string{"worker"}, For: 3 * time.Millisecond})
	r.Fault(tick(), sim.Fault{Kind: sim.FaultLoss, Value: 10_000})
	r.Event(tick(), "manager", 1, event.ShardLost{Shard: slice, Worker: "worker", Reason: "silent"})
	r.Input(tick(), "worker", &node.Input{Kind: node.InputStart})
	r.Input(tick(), "gate", &node.Input{Kind: node.InputMessage, From: manager, Message: &toy.Ping{Counter: 1}}) // a copy
	r.Effect(tick(), "manager", &sim.Effect{Kind: sim.EffectHalt, Reason: "asked"})
}

func about() picture.About {
	return picture.About{Title: "small <&> fine", Notes: []string{"hyperscale sim run small"}, Broken: "T8 broken", BrokenAt: 15 * time.Millisecond, BrokenOn: "manager"}
}

func written(t *testing.T, r *picture.Recorder, a picture.About) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func data(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no data")
	}
	return found[1]
}

// TestSmallPicture rewrites with -rewrite.
func TestSmallPicture(t *testing.T) {
	datadriven.RunTest(t, "testdata/small.txt", func(t *testing.T, d *datadriven.TestData) string {
		r := picture.NewRecorder(picture.FromBeginning)
		small(r)
		var rows map[string]json.RawMessage
		if err := json.Unmarshal([]byte(data(t, written(t, r, about()))), &rows); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, key := range []string{"title", "notes", "window", "until", "jobs", "broken", "lanes", "arrows", "marks", "bands", "down"} {
			b.WriteString(key + "\n")
			var list []json.RawMessage
			if json.Unmarshal(rows[key], &list) != nil {
				list = []json.RawMessage{rows[key]}
			}
			for _, item := range list {
				b.WriteString("  " + string(item) + "\n")
			}
			delete(rows, key)
		}
		if len(rows) > 0 {
			t.Errorf("the data has parts that are not looked at: %v", rows)
		}
		return b.String()
	})
}

// PICTURE-1, PICTURE-4: the page is well formed whatever the run holds, and makes no request.
func TestPageStandsAlone(t *testing.T) {
	r := picture.NewRecorder(picture.FromBeginning)
	small(r)
	page := written(t, r, about())
	for _, address := range regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+`).FindAllString(page, -1) {
		if !strings.Contains(address, "w3.org") {
			t.Errorf("the page names %s", address)
		}
	}
	for _, bad := range []string{"src=", "@import", "url(", "fetch(", "XMLHttpRequest", "<link"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has a %q", bad)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(page))
	elements := map[string]int{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
		}
	}
	if elements["script"] != 2 || elements["canvas"] != 1 || elements["b"] != 0 {
		t.Errorf("the page has %v", elements)
	}
}

// play records n pings, a millisecond apart, each with a long text.
func play(r *picture.Recorder, n int, text string) {
	for i := range n {
		at := time.Duration(i) * time.Millisecond
		r.Event(at, "gate-1", 1, event.Shed{What: text, Why: text})
		r.Effect(at, "gate-1", &sim.Effect{Kind: sim.EffectDatagram, To: "x:1", Message: &message.ShardRefused{Detail: text, Code: message.CodeNoCores}})
	}
}

// PICTURE-2, and the window's bound.
func TestPageIsBounded(t *testing.T) {
	r := picture.NewRecorder(picture.FromBeginning)
	play(r, 20_000, strings.Repeat("é", 5_000))
	page := written(t, r, picture.About{Title: "long"})
	if len(page) > picture.BytesMax {
		t.Errorf("%d bytes, above %d", len(page), picture.BytesMax)
	}
	if n := strings.Count(page, `"n":`); n > picture.WindowMax {
		t.Errorf("%d things, above %d", n, picture.WindowMax)
	}
	if want := "the beginning of a run that lasted 19.999s"; !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestWindowIsAroundWhatBroke(t *testing.T) {
	for _, tc := range []struct {
		name           string
		around         time.Duration
		from, to, lies int64 // microseconds
	}{
		{"in the middle", 10 * time.Second, 8_312_500, 10_562_500, 10_000_000},
		{"near the beginning", 100 * time.Millisecond, 0, 662_500, 100_000},
		{"at the end", 20 * time.Second, 17_750_000, 19_999_000, 19_999_000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := picture.NewRecorder(tc.around)
			play(r, 20_000, "x")
			var got struct {
				Window        [2]int64
				Marks, Arrows []struct{}
			}
			if err := json.Unmarshal([]byte(data(t, written(t, r, picture.About{}))), &got); err != nil {
				t.Fatal(err)
			}
			if n := len(got.Marks) + len(got.Arrows); n > picture.AroundMax {
				t.Errorf("%d things, above %d", n, picture.AroundMax)
			}
			near := func(a, b int64) bool { return max(a, b)-min(a, b) <= 2_000 }
			if !near(got.Window[0], tc.from) || !near(got.Window[1], tc.to) || got.Window[0] > tc.lies || got.Window[1] < tc.lies {
				t.Errorf("window %v, want about %d to %d with %d inside", got.Window, tc.from, tc.to, tc.lies)
			}
		})
	}
}

// PICTURE-3.
func TestEqualRunsGiveEqualBytes(t *testing.T) {
	var pages []string
	for range 2 {
		r := picture.NewRecorder(picture.FromBeginning)
		small(r)
		pages = append(pages, written(t, r, about()))
	}
	if pages[0] != pages[1] {
		t.Error("two pictures of one run differ")
	}
}
