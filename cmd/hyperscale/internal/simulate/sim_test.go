package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/scenarios"
)

func TestSeedRanges(t *testing.T) {
	for _, tc := range []struct {
		text string
		want seedRange
		err  string
	}{
		{"7", seedRange{7, 7}, ""},
		{"0..3", seedRange{0, 3}, ""},
		{"18446744073709551615", seedRange{math.MaxUint64, math.MaxUint64}, ""},
		{"5..1", seedRange{}, "write 1..5"},
		{"", seedRange{}, "write a whole number"},
		{"..", seedRange{}, "write a whole number"},
		{"1..", seedRange{}, "write a whole number"},
		{"1..2..3", seedRange{}, "write a whole number"},
		{"18446744073709551616", seedRange{}, "write a whole number"},
	} {
		var got seedRange
		err := got.Set(tc.text)
		if tc.err == "" && (err != nil || got != tc.want) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%q: got %v, %v, want %v, %q", tc.text, got, err, tc.want, tc.err)
		}
	}
}

func TestCausesAreGroupedWithoutNamesAndNumbers(t *testing.T) {
	result := func(seed uint64, verdict scenarios.Outcome, detail string) simResult {
		return simResult{simLine: simLine{Scenario: "storm", Seed: seed, Verdict: verdict, Detail: detail}}
	}
	causes := groupCauses([]simResult{
		result(9, scenarios.Violation, "T8 broken at 1m0.5s on manager-dc-a-1: shard 60pwrxxb7jq1ypnkwmcrvacygg/1/0 was counted twice in subjob 1.1.0, now under 1.1.2"),
		result(3, scenarios.Panicked, "bug: 3 cores\ngoroutine 7"),
		result(2, scenarios.Violation, "T8 broken at 26.5s on manager-dc-c-3: shard qrv2v1wrb6jbmnb1b7pserbhbr/0/12 was counted twice in subjob 1.2.0, now under 1.2.7"),
		result(4, scenarios.Panicked, "bug: 7 cores\ngoroutine 9"),
		result(5, scenarios.Violation, "T9 broken at 26.5s on worker-dc-c-3: core 1 was given twice"),
		result(6, scenarios.Panicked, "bug: 1 workers"),
		result(1, scenarios.Violation, "T8 broken at 3s on manager-dc-c-3: shard qrv2v1wrb6jbmnb1b7pserbhbr/0/1 was counted twice in subjob 1.2.0, now under 1.2.7"),
	})
	var got [][]uint64
	for _, c := range causes {
		var seeds []uint64
		for _, r := range c.runs {
			seeds = append(seeds, r.Seed)
		}
		got = append(got, seeds)
	}
	if diff := cmp.Diff([][]uint64{{1, 2, 9}, {3, 4}, {6}, {5}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRuleOfThree(t *testing.T) {
	for n, want := range map[int]string{0: "too few", 2: "too few", 500: "fewer than 1 of 166 seeds", 20_000: "fewer than 1 of 6,666 seeds"} {
		if got := ruleOfThree(n); !strings.Contains(got, want) {
			t.Errorf("%d runs: got %q, want %q", n, got, want)
		}
	}
}

func TestLastLinesKeepsWholeLines(t *testing.T) {
	for _, size := range []int{1, 7, 10, 33} {
		end := &lastLines{most: 100}
		for i := range 1000 {
			fmt.Fprintf(end, "%0*d\n", size, i%10)
		}
		got := string(end.lines())
		want := min(1000, 100/(size+1))
		if n := strings.Count(got, "\n"); n != want || len(got) != want*(size+1) {
			t.Errorf("lines of %d bytes: kept %d lines in %d bytes, want %d", size+1, n, len(got), want)
		}
	}
	short := &lastLines{most: 100}
	fmt.Fprint(short, "one\n")
	if got := string(short.lines()); got != "one\n" {
		t.Errorf("got %q", got)
	}
}

// fakeRunner is a child that answers each task, until it meets seed 3.
func fakeRunner(atThree string) []string {
	return []string{"sh", "-c", `while read -r task; do
	seed=${task#*'"seed":'}; seed=${seed%%,*}
	if [ "$seed" = 3 ]; then ` + atThree + `; fi
	case $task in *'"canary":true'*) verdict=${CANARY:-ok} ;; *) verdict=ok ;; esac
	echo '{"scenario":"storm","seed":'$seed',"hash":"00","events":5,"virtual_ms":7,"real_ms":1,"verdict":"'$verdict'","detail":"said so"}'
done`}
}

// playFake lets a fleet of fake children play seeds 1 to 6.
func playFake(t *testing.T, f *fleet) (map[uint64]simResult, error) {
	t.Helper()
	got := map[uint64]simResult{}
	var seed uint64
	f.limit = max(f.limit, 200*time.Millisecond)
	f.next = func() (simTask, bool) {
		seed++
		return simTask{Scenario: "storm", Seed: seed}, seed <= 6
	}
	f.done = func(r simResult) { got[r.Seed] = r }
	return got, f.run(context.Background())
}

// A run that ends its process, or never ends, is one failed run.
func TestFleetSurvivesItsChildren(t *testing.T) {
	for _, tc := range []struct {
		name, atThree string
		want          scenarios.Outcome
		detail        string
		limit         time.Duration
	}{
		{"a fatal error", "echo 'fatal error: out of memory' >&2; exit 2", scenarios.Panicked, "its process ended: fatal error: out of memory", time.Minute},
		{"a silent end", "exit 7", scenarios.Panicked, "its process ended: exit status 7", time.Minute},
		{"nonsense", "echo nonsense; continue", scenarios.Panicked, "its process answered \"nonsense\"", time.Minute},
		{"no end", "sleep 600", scenarios.Stuck, "not back after 200ms", 200 * time.Millisecond},
	} {
		for _, jobs := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d jobs", tc.name, jobs), func(t *testing.T) {
				got, err := playFake(t, &fleet{command: fakeRunner(tc.atThree), jobs: jobs, limit: tc.limit})
				if err != nil || len(got) != 6 {
					t.Fatalf("%d results, %v", len(got), err)
				}
				for seed := uint64(1); seed <= 6; seed++ {
					want := scenarios.OK
					if seed == 3 {
						want = tc.want
					}
					if got[seed].Verdict != want {
						t.Errorf("seed %d: %+v, want %s", seed, got[seed], want)
					}
				}
				if !strings.Contains(got[3].Detail, tc.detail) {
					t.Errorf("detail %q, want %q", got[3].Detail, tc.detail)
				}
			})
		}
	}
}

// A checker that sees nothing in a world that must break something ends the
// swarm before a single run is believed.
func TestFleetStopsAtADeadCanary(t *testing.T) {
	t.Setenv("CANARY", "violation")
	got, err := playFake(t, &fleet{command: fakeRunner("true"), jobs: 2, limit: time.Minute, canary: &simTask{Scenario: "storm", Seed: 1, Canary: true}})
	if err == nil || !strings.Contains(err.Error(), "the canary, scenario storm: said so") || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := playFake(t, &fleet{command: []string{"/no/such/program"}, jobs: 2, limit: time.Minute}); err == nil {
		t.Error("a program that does not exist was started")
	}
}

// The checker sees the loss that its world shows, in this very program.
func TestCanarySings(t *testing.T) {
	task := (&swarm{}).canary()
	if task == nil {
		t.Fatal("no scenario shows a loss: there is no canary")
	}
	if r, err := runTask(*task); err != nil || r.Verdict != scenarios.OK {
		t.Errorf("the canary: %+v, %v", r, err)
	}
	task.Virtual = time.Second // nothing is lost in a second
	if r, err := runTask(*task); err != nil || r.Verdict != scenarios.Violation {
		t.Errorf("a dead canary: %+v, %v", r, err)
	}
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	result := func(seed uint64) simResult {
		return simResult{simLine: simLine{Scenario: "storm", Seed: seed, Verdict: scenarios.Violation}, Files: []string{filepath.Join(dir, fmt.Sprintf("storm-%d.sched", seed))}}
	}
	open := func(virtual time.Duration) *journal {
		t.Helper()
		j, err := openJournal(dir, virtual, false)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	first := open(0)
	for seed := uint64(1); seed <= 3; seed++ {
		if err := first.add(result(seed)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openJournal(dir, 0, false); err == nil || !strings.Contains(err.Error(), "another swarm writes there") {
		t.Errorf("a second swarm in the same folder: %v", err)
	}
	first.close()

	// A line that was cut short is played again, and not left in the way.
	name := filepath.Join(dir, journalName)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-5); err != nil {
		t.Fatal(err)
	}
	second := open(0)
	if _, known := second.find("storm", 3); known || len(second.done) != 2 {
		t.Errorf("after a torn line: %v", second.done)
	}
	if err := second.add(result(4)); err != nil {
		t.Fatal(err)
	}
	second.close()
	third := open(0)
	if r, known := third.find("storm", 4); !known || len(third.done) != 3 || cmp.Diff(result(4), r, cmp.AllowUnexported(simResult{})) != "" {
		t.Errorf("after the torn line was written over: %v", third.done)
	}
	third.close()

	// What was played in another way counts for nothing. Its failures stay listed, with
	// their files, and so do those of the program before that.
	if err := os.WriteFile(result(1).Files[0], nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, virtual := range []time.Duration{time.Second, time.Minute} {
		other := open(virtual)
		if want := map[time.Duration]int{time.Second: 3, time.Minute: 0}[virtual]; len(other.done) != 0 || other.over != want || len(other.before) != 3 {
			t.Errorf("of another --virtual: %d done, %d over, %d failures listed; want 0, %d, 3", len(other.done), other.over, len(other.before), want)
		}
		if _, err := openJournal(dir, virtual, false); err == nil {
			t.Error("a second swarm in the same folder, beside one that replaced its journal")
		}
		other.close()
	}
	if _, err := os.Stat(result(1).Files[0]); err != nil {
		t.Errorf("a failure that is listed: %v", err)
	}
}

// The last line says nothing of a kind of failure that is not in the catalogue,
// unless it happened.
func TestTotalsAddUp(t *testing.T) {
	var s swarm
	for _, v := range []scenarios.Outcome{scenarios.OK, scenarios.OK, scenarios.Violation, scenarios.Stuck, scenarios.Panicked} {
		s.count(simResult{simLine: simLine{Verdict: v, Events: 10}})
	}
	text, err := json.Marshal(s.total)
	if want := `{"seeds":5,"ok":2,"violations":1,"stuck":1,"panics":1,"events":50,"real_ms":0}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	if got := s.exitCode(); got != 5 {
		t.Errorf("exit code %d, want that of the worst, 5", got)
	}
	s.count(simResult{simLine: simLine{Verdict: scenarios.Diverged}})
	if s.total.Diverged != 1 || len(s.failed) != 4 {
		t.Errorf("a run that diverged: %+v", s.total)
	}
}
