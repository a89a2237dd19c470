package schedule_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/sim"
	"hyperscale/sim/schedule"
)

// example is a file as the swarm writes one; testdata/example.sched holds it.
func example() schedule.File {
	return schedule.File{
		Scenario: "storm", Seed: 8123, Virtual: 5 * time.Minute, Wire: true, Commit: "(devel) 0123456789ab", Go: "go1.26.0",
		Hash: 0xfedcba98, Verdict: "violation", Detail: "T8 broken at 12.5s on manager-dc-a-1: shard x/0/1 was counted twice",
		Draws: []string{"2 x crash", "1 x loss"},
		Faults: []sim.Fault{
			{At: 3 * time.Second, For: 1500 * time.Millisecond, Kind: sim.FaultCrash, Nodes: []string{"gate-1"}},
			{At: 5 * time.Second, For: time.Minute, Kind: sim.FaultLoss, Value: 30_000},
			{At: 7 * time.Second, Kind: sim.FaultHalfOpen, Nodes: []string{"worker-dc-a-1"}, Peers: []string{"manager-dc-a-1", "manager-dc-a-2"}, Value: 1},
			{At: 8 * time.Second, Kind: sim.FaultLate, Value: 10_000, Aim: "timer:9.8-1ms", Hold: 2 * time.Second},
		},
	}
}

func TestFileIsWrittenAsPeopleReadIt(t *testing.T) {
	f := example()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/example.sched"
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-golden +written (REWRITE=1 go test writes it):\n%s", diff)
	}
	got, err := schedule.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&f, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

func drawn(t *rapid.T) schedule.File {
	text := rapid.StringN(0, 40, 200)
	name := rapid.StringN(1, 20, 100)
	length := rapid.Int64Range(0, int64(360*24*time.Hour))
	f := schedule.File{
		Scenario: name.Draw(t, "scenario"), Seed: rapid.Uint64().Draw(t, "seed"), Virtual: time.Duration(1 + length.Draw(t, "virtual")),
		Wire: rapid.Bool().Draw(t, "wire"), Commit: text.Draw(t, "commit"), Go: text.Draw(t, "go"), Hash: rapid.Uint64().Draw(t, "hash"),
		Verdict: text.Draw(t, "verdict"), Detail: text.Draw(t, "detail"), Draws: rapid.SliceOfN(text, 0, 4).Draw(t, "draws"),
	}
	f.Until = time.Duration(rapid.Int64Range(0, int64(f.Virtual)).Draw(t, "until"))
	for range rapid.IntRange(0, 5).Draw(t, "faults") {
		f.Faults = append(f.Faults, sim.Fault{
			At: time.Duration(length.Draw(t, "at")), For: time.Duration(length.Draw(t, "for")), Kind: name.Draw(t, "kind"),
			Nodes: rapid.SliceOfN(name, 0, 3).Draw(t, "nodes"), Peers: rapid.SliceOfN(name, 0, 3).Draw(t, "peers"),
			Value: rapid.Int64().Draw(t, "value"), Aim: text.Draw(t, "aim"), Hold: time.Duration(length.Draw(t, "hold")),
			Beyond: rapid.Bool().Draw(t, "beyond"),
		})
	}
	return f
}

// SCHEDULE-1.
func TestReadReturnsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawn(t)
		var b bytes.Buffer
		if err := want.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := schedule.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-written +read:\n%s", diff)
		}
		if got.Faults == nil {
			t.Fatal("a file without faults was read as one that lets the scenario draw its own")
		}
	})
}

// SCHEDULE-2, SCHEDULE-3: each error names what is wrong and what to change.
func TestBadFilesAreRefused(t *testing.T) {
	good, err := os.ReadFile("testdata/example.sched")
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, with string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("the example has no %q", old)
		}
		return strings.Replace(string(good), old, with, 1)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing at all", "", "read schedule: EOF"},
		{"not JSON", "storm 7", "line 1: invalid character"},
		{"a list", "[]", "cannot unmarshal array"},
		{"another schema", swap("schedule/v1", "schedule/v9"), `schema = "hyperscale.schedule/v9", want`},
		{"a field nobody knows", swap(`"wire"`, `"wires"`), `unknown field "wires"`},
		{"a fault's field nobody knows", swap(`"value"`, `"valeu"`), `unknown field "valeu"`},
		{"a field of another type", swap("8123", `"8123"`), "line 4: cannot unmarshal string"},
		{"a negative seed", swap("8123", "-1"), "cannot unmarshal number -1"},
		{"two files in one", string(good) + string(good), "more follows"},
		{"a hash that is none", swap("00000000fedcba98", "xyz"), `hash = "xyz"`},
		{"no duration", swap("5m0s", "soon"), `virtual = "soon" is no duration`},
		{"no virtual time", swap("5m0s", "0s"), "virtual = 0s must be above zero"},
		{"a fault before the beginning", swap(`"at":"3s"`, `"at":"-3s"`), "faults[0]: crash at -3s"},
		{"a fault without a kind", swap(`"kind":"loss"`, `"kind":""`), "faults[1]: kind has 0 bytes"},
		{"a node without a name", swap(`"gate-1"`, `""`), "names a node of 0 bytes"},
		{"too many faults", swap(`"faults": [`, `"faults": [`+strings.Repeat(`{"at":"0s","kind":"heal"},`, 10_001)), "above the bound of 10000"},
		{"a long text", swap("T8", strings.Repeat("x", 10_000)), "detail has 100"},
		{"an endless file", strings.Repeat(" ", 9<<20), "above the bound of 8388608 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := schedule.Read(strings.NewReader(tc.text))
			if !errors.Is(err, schedule.ErrSchedule) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want ErrSchedule that says %q", err, tc.want)
			}
		})
	}
}

func TestClipFitsAFile(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("é", 9_000), "bad \xff byte"} {
		f := example()
		f.Detail = schedule.Clip(s)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatalf("%.20q: %v", s, err)
		}
		got, err := schedule.Read(&b)
		if err != nil || got.Detail != f.Detail {
			t.Fatalf("%.20q became %.20q, %v", f.Detail, got.Detail, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	good, err := os.ReadFile("testdata/example.sched")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":"hyperscale.schedule/v1","scenario":"x","seed":1,"virtual":"1s","hash":"0","faults":[{"at":"1s","kind":"heal"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := schedule.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := first.Write(&again); err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		second, err := schedule.Read(&again)
		if err != nil {
			t.Fatalf("written, but not read again: %v", err)
		}
		if diff := cmp.Diff(first, second, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-first +second:\n%s", diff)
		}
	})
}
