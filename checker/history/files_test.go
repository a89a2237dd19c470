package history_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

func TestHistoryReadsWhatItWrote(t *testing.T) {
	want := []history.Record{
		{At: time.Second, Node: "w1", Incarnation: 3, Local: 5, Event: event.ShardStarted{Cores: []int{0, 2}, Total: 4}},
		{At: 2 * time.Second, Node: "g1", Incarnation: 1, Event: event.Shed{What: "submit", Why: "full"}},
	}
	var b []byte
	for _, r := range want {
		var err error
		if b, err = history.AppendJSON(b, r); err != nil {
			t.Fatal(err)
		}
	}
	var got []history.Record
	if err := history.Read(bytes.NewReader(b), func(r history.Record) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-written +read:\n%s", diff)
	}
}

// A killed process may have written a part of a line, after which another process continues.
func TestHistoryOfAKilledProcess(t *testing.T) {
	whole, err := history.AppendJSON(nil, history.Record{At: time.Second, Node: "g1", Incarnation: 1, Event: event.Shed{What: "submit", Why: "full"}})
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(whole)-1; cut++ {
		text := slices.Concat(whole, whole[:cut], []byte{'\n'}, whole, whole[:cut])
		n := 0
		if err := history.Read(bytes.NewReader(text), func(history.Record) { n++ }); err != nil || n != 2 {
			t.Fatalf("cut at %d: %d records, error %v: want the 2 whole ones", cut, n, err)
		}
	}
}

func TestHistoryThatIsNoneIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"not JSON", "hello\n", "line 1"},
		{"an unknown event", `{"event":"moon-landing","data":{}}` + "\n", "moon-landing"},
		{"fields of another type", `{"event":"shed","data":{"What":7}}` + "\n", "shed"},
		{"an endless line", strings.Repeat("x", 2<<20), "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := history.Read(strings.NewReader(tc.text), func(history.Record) {})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want it to name %q", err, tc.want)
			}
		})
	}
}

// Files of one machine's nodes become one history, in the order of its one clock.
func TestMergeOrdersFilesOfOneMachine(t *testing.T) {
	file := func(id node.ID, seconds ...int) *bytes.Reader {
		var b []byte
		for _, s := range seconds {
			var err error
			b, err = history.AppendJSON(b, history.Record{At: time.Duration(s) * time.Second, Node: id, Incarnation: 1, Event: event.Shed{}})
			if err != nil {
				t.Fatal(err)
			}
		}
		return bytes.NewReader(b)
	}
	all, err := history.Merge(file("g1", 1, 3, 5), file("g2", 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, string(r.Node)+"@"+time.Duration(r.Local).String())
	}
	if diff := cmp.Diff("g1@1s g2@2s g1@3s g2@3s g2@4s g1@5s", strings.Join(got, " ")); diff != "" {
		t.Fatal(diff)
	}
	if _, err := history.Merge(file("g1", 1), bytes.NewReader([]byte("hello\n"))); err == nil || !strings.Contains(err.Error(), "file 2: history line 1") {
		t.Fatalf("got %v, want it to name the file and its line", err)
	}
}
