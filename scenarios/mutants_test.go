package scenarios_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/scenarios"
)

// planted is the environment variable that tells a binary with a planted bug what to play. Only
// this package and the roles are in that binary, because linking the whole product for every
// bug takes longer than playing.
const planted = "HYPERSCALE_PLANTED"

// playing is one run in its own process.
type playing struct {
	Scenario string
	Seed     uint64
	Virtual  time.Duration
	Until    time.Duration // cut the run short there; zero: do not
	First    bool          // end the run at the first violation, unless the world loses something on purpose
	Shrink   time.Duration // shrink a failure for so long; zero: do not
	Planted  []span        // where the bug is
	Bug      int           // which bug of the build; zero: none
}

// played is the result that it prints behind verdictMark.
type played struct {
	Outcome scenarios.Outcome
	Detail  string
	Hash    uint64
	Others  []string      // further violations
	Broken  time.Duration // a run that ends there fails too; zero: only the whole run does
	Reached uint64        // how often the planted code was executed
	Faults  int           // number of faults
	Left    int           // faults after shrinking, -1 without
}

// broke reports that one of the violations is the expected one.
func (p *played) broke(expect string) bool {
	return slices.ContainsFunc(append(p.Others, p.Detail), func(s string) bool { return strings.Contains(s, expect) })
}

const verdictMark = "\nverdict: "

// TestPlanted plays one world and prints its outcome.
func TestPlanted(t *testing.T) {
	var p playing
	if json.Unmarshal([]byte(os.Getenv(planted)), &p) != nil {
		t.Skip("TestMutantsAreCaught runs this in a process of its own")
	}
	s, err := scenarios.Find(p.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	o := scenarios.Options{Seed: p.Seed, Virtual: p.Virtual, Until: p.Until, First: p.First && s.ExpectedLoss == ""}
	r := s.Run(o)
	reached := uint64(0)
	for _, b := range executed() {
		if slices.ContainsFunc(p.Planted, func(s span) bool { return s.File == b.File && s.First <= b.Last && s.Last >= b.First }) {
			reached = max(reached, b.count) // the most: other blocks may be declarations
		}
	}
	result := played{Reached: reached, Outcome: r.Outcome, Detail: r.Detail, Hash: r.Hash, Faults: len(r.Faults), Left: -1}
	if o.First {
		result.Broken = r.Broken
	}
	for _, v := range r.Violations {
		result.Others = append(result.Others, v.String())
	}
	if r.Outcome != scenarios.OK && p.Shrink > 0 {
		start := time.Now()
		if small, ok := s.Shrink(o, r, func() bool { return time.Since(start) > p.Shrink }, nil); ok {
			result.Left = len(small.Report.Faults)
		}
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", verdictMark, text)
}

// playMax bounds a process without shrinking: a longer one runs for ever while no virtual time
// passes.
const playMax = 2 * time.Minute

// playingAtOnce bounds the worlds that play, and the builds, at the same time: they compute, while most other tests wait for something.
var playingAtOnce = make(chan struct{}, runtime.GOMAXPROCS(0)+1)

// play starts a binary for one run.
func (p playing) play(bin string) (played, error) {
	playingAtOnce <- struct{}{}
	defer func() { <-playingAtOnce }()
	spec, err := json.Marshal(p)
	if err != nil {
		return played{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), playMax+p.Shrink)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.run=^TestPlanted$")
	cmd.Env = append(os.Environ(), planted+"="+string(spec), chosen(p.Bug), "GOMAXPROCS=1", collectLess)
	out, err := cmd.CombinedOutput()
	_, verdict, ok := strings.Cut(string(out), verdictMark)
	if !ok && ctx.Err() != nil {
		return played{Outcome: scenarios.Stuck, Detail: fmt.Sprintf("not back after %v of real time", playMax), Left: -1}, nil
	}
	if !ok {
		return played{}, fmt.Errorf("%s, seed %d: %w\n%s", p.Scenario, p.Seed, err, out)
	}
	verdict, _, _ = strings.Cut(verdict, "\n")
	var r played
	return r, json.Unmarshal([]byte(verdict), &r)
}

// virtualMax is the longest run in which a mutant must be caught.
const virtualMax = 5 * time.Minute

// virtualOf returns how long to play a world.
func (m *mutant) virtualOf(name string) time.Duration {
	if m.virtual > 0 {
		return m.virtual
	}
	s, err := scenarios.Find(name)
	if err != nil {
		return 0
	}
	return min(s.Virtual, virtualMax)
}

// hunt tries seeds until one catches the bug: the recorded seed, then the first ones of each
// scenario in turn.
func (m *mutant) hunt(s *schemata, dir string, tries int, shrink time.Duration) (r row) {
	if m.test != "" {
		return m.unit(s, dir, shrink)
	}
	r = row{mutant: m.name, left: -1}
	bin, p, err := s.world(m, dir)
	if err != nil {
		r.trouble = err.Error()
		return r
	}
	for r.tries < tries {
		p.Scenario, p.Seed = m.scenarios[0], m.seed
		if n := r.tries - 1; n >= 0 {
			p.Scenario, p.Seed = m.scenarios[n%len(m.scenarios)], uint64(1+n/len(m.scenarios))
		}
		p.Virtual = m.virtualOf(p.Scenario)
		r.tries++
		got, err := p.toBreak(bin, m.expect)
		if err != nil {
			r.trouble = err.Error()
			return r
		}
		r.reached += got.Reached
		if got.Outcome == scenarios.OK {
			continue
		}
		if !got.broke(m.expect) {
			r.trouble = fmt.Sprintf("%s, seed %d, broke something else: %s", p.Scenario, p.Seed, got.Detail)
			continue
		}
		if control, err := p.control(got.Broken); err != nil || control.Outcome != scenarios.OK {
			r.trouble = fmt.Sprintf("%s, seed %d, fails without the bug: %v %s", p.Scenario, p.Seed, err, control.Detail)
			continue
		}
		r.caught, r.scenario, r.seed, r.trouble = by(&got), p.Scenario, p.Seed, ""
		if shrink > 0 {
			p.Shrink = shrink
			if small, err := p.play(bin); err == nil {
				r.faults, r.left = small.Faults, small.Left
			}
		}
		return r
	}
	return r
}

// toBreak plays a run with a bug up to its first violation. It plays the whole run if that
// violation is not the expected one.
func (p playing) toBreak(bin, expect string) (played, error) {
	p.First = true
	got, err := p.play(bin)
	if err != nil || got.Outcome == scenarios.OK || got.broke(expect) {
		return got, err
	}
	p.First = false
	return p.play(bin)
}

// controls holds the control of each run: the same run catches many bugs.
var controls sync.Map // of a playing's text, to *cleanRun

// cleanRun is what a run did without a bug.
type cleanRun struct {
	mutex sync.Mutex
	until time.Duration // it was played so far
	whole bool          // it was played to its end
	got   played
	err   error
}

// controlBehind is how long a control goes on behind the violation: a bug that moves a violation which
// the product has, too, is not caught.
const controlBehind = 10 * time.Second

// control plays the run without the bug, in the unchanged product, until a while after the bug broke it:
// what follows proves nothing of this bug. Zero plays the whole run, as does a second bug that
// needs more than was played.
func (p playing) control(broken time.Duration) (played, error) {
	p.Planted, p.Bug, p.Shrink = nil, 0, 0
	kept, _ := controls.LoadOrStore(fmt.Sprint(p), new(cleanRun))
	c := kept.(*cleanRun)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if broken > 0 {
		broken += controlBehind
	}
	if c.whole || broken > 0 && broken <= c.until {
		return c.got, c.err
	}
	clean, err := os.Executable()
	if err != nil {
		return played{}, err
	}
	if c.until == 0 {
		p.Until = broken
	}
	c.got, c.err = p.play(clean)
	c.until, c.whole = p.Until, p.Until == 0
	return c.got, c.err
}

// Each planted bug is caught by its recorded seed, or by one of the first
// HYPERSCALE_MUTANTS_TRIES: a change of any role moves every schedule, but some seed must still
// catch the bug. HYPERSCALE_MUTANTS_SHRINK=20s shrinks the failure. HYPERSCALE_MUTANTS_RECORD=1
// writes the seed that caught it.
func TestMutantsAreCaught(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("HYPERSCALE_MUTANTS_TRIES"))
	if tries <= 0 {
		t.Skip("`make mutants` runs this: it takes minutes")
	}
	shrink, err := time.ParseDuration(os.Getenv("HYPERSCALE_MUTANTS_SHRINK"))
	if err != nil && os.Getenv("HYPERSCALE_MUTANTS_SHRINK") != "" {
		t.Fatal(err)
	}
	record := os.Getenv("HYPERSCALE_MUTANTS_RECORD") != ""
	start := time.Now()
	var mutex sync.Mutex
	var rows []row
	all, dir := mutants(t), t.TempDir()
	var asked []*mutant // complete before the hunt for any of them
	build := sync.OnceValues(func() (*schemata, error) { return newSchemata(dir, asked) })
	told := newTold(t)
	t.Run("all", func(t *testing.T) {
		for i := range all {
			m := &all[i]
			if m.equivalent != "" {
				continue
			}
			t.Run(m.name, func(t *testing.T) {
				asked = append(asked, m)
				told.whole++
				t.Parallel()
				s, err := build()
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				r := m.hunt(s, t.TempDir(), tries, shrink)
				r.took = time.Since(began)
				mutex.Lock()
				defer mutex.Unlock()
				rows = append(rows, r)
				told.row(&r)
				m.judge(t, &r, record)
			})
		}
	})
	told.end()
	if s, err := build(); err == nil {
		fmt.Printf("\n%d bugs in one build; each in a build of its own: %s\n", len(s.bugs), strings.Join(s.alone(), ", "))
	}
	fmt.Print(table(all, rows, time.Since(start)))
}
