package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// listed is a step of a random list, and what the list makes of it.
type listed struct {
	name   string
	kind   string // request, function, check
	needs  []int
	by     string // how it needs them: a parameter, a value, a condition's parameter
	fails  bool
	never  bool // its when is False
	weight int
	state  stepState // in each iteration; a weighted step's: once it is taken
}

// text writes a step.
func (s *listed) text(all []listed) string {
	var names []string
	path := "TARGET/" + s.name + "?"
	for _, k := range s.needs {
		names = append(names, all[k].name)
		if s.by == "value" {
			path += "&v=${v" + all[k].name + "}"
		}
	}
	var more string
	if s.never {
		more += ", when = lambda vu: False"
	}
	if s.by == "condition" {
		more += fmt.Sprintf(", when = lambda %s: True", strings.Join(append([]string{"vu"}, names...), ", "))
	}
	if s.weight > 0 {
		more += fmt.Sprintf(", weight = %d", s.weight)
	}
	parameters := "vu"
	if s.by == "parameter" {
		parameters = strings.Join(append([]string{"vu"}, names...), ", ")
	}
	switch s.kind {
	case "check":
		return fmt.Sprintf("check(%q, lambda %s: %s)", s.name, parameters, map[bool]string{true: "\"wrong\"", false: "True"}[s.fails])
	case "function":
		return fmt.Sprintf("step(%q, lambda %s: vu.http.get(%q)%s)", s.name, parameters, path, more)
	}
	return fmt.Sprintf("step(%q, http.get(%q), extract = {\"v%s\": header(\"V\")}%s)", s.name, path, s.name, more)
}

// drawList draws elements, each a step, a parallel of several or the mix, and plays one
// iteration of them: the rules of docs/workflows.md in a few lines.
func drawList(t *rapid.T) (all []listed, elements [][]int, text string) {
	var parts []string
	mixed := false
	for range rapid.IntRange(1, 5).Draw(t, "elements") {
		form := rapid.SampledFrom([]string{"step", "step", "parallel", "mix"}).Draw(t, "form")
		if form == "mix" && mixed {
			form = "step"
		}
		members := 1
		if form != "step" {
			members = rapid.IntRange(2, 3).Draw(t, "members")
		}
		var element []int
		var inside []string
		first := len(all)
		for range members {
			s := listed{name: fmt.Sprintf("s%d", len(all)), kind: "request", fails: rapid.IntRange(0, 3).Draw(t, "fails") == 0}
			if form == "mix" {
				mixed, s.weight = true, rapid.IntRange(1, 3).Draw(t, "weight")
			} else {
				s.kind = rapid.SampledFrom([]string{"request", "request", "function", "check"}).Draw(t, "kind")
				s.never = s.kind != "check" && rapid.IntRange(0, 5).Draw(t, "never") == 0
			}
			s.by = map[string]string{"request": "value", "function": "parameter", "check": "parameter"}[s.kind]
			if s.kind == "request" && !s.never && rapid.IntRange(0, 2).Draw(t, "by condition") == 0 {
				s.by = "condition"
			}
			for k := range first {
				measured := all[k].kind != "check" && all[k].weight == 0
				if measured && (s.by != "value" || all[k].kind == "request") && rapid.IntRange(0, 2).Draw(t, "needs") == 0 {
					s.needs = append(s.needs, k)
				}
			}
			s.state = stepGood
			for _, k := range s.needs {
				s.state = max(s.state, all[k].state)
			}
			switch {
			case s.state != stepGood:
			case s.never:
				s.state = stepUntaken
			case s.fails:
				s.state = stepBad
			}
			element = append(element, len(all))
			all = append(all, s)
			inside = append(inside, s.text(all))
		}
		elements = append(elements, element)
		if form == "parallel" {
			parts = append(parts, "parallel("+strings.Join(inside, ", ")+")")
		} else {
			parts = append(parts, inside...)
		}
	}
	return all, elements, "workflow(name = \"test\", vus = 1, iterations = 3, steps = [\n    " + strings.Join(parts, ",\n    ") + ",\n])\n"
}

// ran reports that a step begins in an iteration that takes it: it is not skipped.
func (s *listed) ran(all []listed) bool {
	return !s.never && !slices.ContainsFunc(s.needs, func(k int) bool { return all[k].state != stepGood })
}

// server answers each step when all that run beside it have asked, and keeps the order of
// events.
type orderServer struct {
	lock   sync.Mutex
	events []string
	inside map[string]int // requests of an element that wait
	all    []listed
	of     map[string][]int
	woken  *sync.Cond
	late   bool
}

func (o *orderServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	o.lock.Lock()
	o.events = append(o.events, "+"+name)
	element := o.of[name]
	beside := 0
	for _, k := range element {
		if s := &o.all[k]; s.kind != "check" && s.weight == 0 && s.ran(o.all) {
			beside++
		}
	}
	if beside > 1 {
		key := o.all[element[0]].name
		o.inside[key]++
		round := (o.inside[key]-1)/beside + 1
		o.woken.Broadcast()
		for o.inside[key] < round*beside && !o.late {
			o.woken.Wait()
		}
	}
	o.events = append(o.events, "-"+name)
	o.lock.Unlock()
	w.Header().Set("V", name)
	i := slices.IndexFunc(o.all, func(s listed) bool { return s.name == name })
	if o.all[i].fails {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// giveUp answers all that wait.
func (o *orderServer) giveUp() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.late = true
	o.woken.Broadcast()
}

// For any list no step starts before the element before it has ended, and those of a parallel
// run at the same time. Each step runs once in each iteration, unless it needs one that failed
// or was left out; of a mix one.
func TestStepsRunInTheOrderOfTheirList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all, elements, text := drawList(r)
		o := &orderServer{all: all, of: map[string][]int{}, inside: map[string]int{}}
		o.woken = sync.NewCond(&o.lock)
		at := map[string]int{}
		for e, members := range elements {
			for _, k := range members {
				o.of[all[k].name], at[all[k].name] = members, e
			}
		}
		s := httptest.NewServer(o)
		defer s.Close()
		patience := time.AfterFunc(5*time.Second, o.giveUp)
		defer o.giveUp()
		defer patience.Stop()
		result := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL, text), VUs: 1, Timeout: 20 * time.Second})
		patience.Stop()
		o.lock.Lock()
		defer o.lock.Unlock()
		if o.late {
			r.Fatalf("the steps of a parallel do not run at the same time:\n%s\n%v", text, o.events)
		}
		last, open := 0, 0
		for _, event := range o.events {
			e := at[event[1:]]
			switch {
			case event[0] == '-':
				open--
				continue
			case open > 0 && e != last:
				r.Fatalf("%s starts before the element before has ended:\n%s\n%v", event[1:], text, o.events)
			case e < last && slices.ContainsFunc(elements[:e], func(m []int) bool { return surely(all, m) }):
				r.Fatalf("%s starts in front of its turn:\n%s\n%v", event[1:], text, o.events)
			}
			last, open = e, open+1
		}
		taken, least := uint64(0), uint64(3)
		if !slices.ContainsFunc(all, func(s listed) bool { return s.weight > 0 }) {
			least = 0
		}
		got := tallies(result)
		for i := range all {
			s := &all[i]
			n := uint64(3)
			if s.weight > 0 {
				n = got[s.name].Started + got[s.name].Skipped
				taken += n
			}
			want := tally{}
			switch {
			case s.ran(all) && s.fails:
				want = tally{Started: n, Failed: n}
			case s.ran(all):
				want = tally{Started: n, OK: n}
			case s.state == stepBad:
				want = tally{Skipped: n}
			case s.weight > 0: // what it needs is left out, and so is it
				least = 0
			}
			if diff := cmp.Diff(want, got[s.name]); diff != "" {
				r.Fatalf("step %s (-want +got):\n%s%s\n%v", s.name, diff, text, o.events)
			}
		}
		if taken > 3 || taken < least {
			r.Fatalf("three iterations took %d steps of the mix:\n%s", taken, text)
		}
	})
}

// surely reports that an element sends something in each iteration.
func surely(all []listed, element []int) bool {
	sends := func(k int) bool { return all[k].kind != "check" && all[k].ran(all) }
	if all[element[0]].weight > 0 {
		return !slices.ContainsFunc(element, func(k int) bool { return !sends(k) })
	}
	return slices.ContainsFunc(element, sends)
}

// What a function takes is kept for it, also when it is not the step right before, and when it
// is a condition.
func TestFunctionsGetResponsesOfEarlierSteps(t *testing.T) {
	s := serve(t, nil)
	for _, steps := range []string{
		`step("home", http.get("TARGET/")), step("item", http.get("TARGET/")), check("last", lambda vu, home: home.status == 200)`,
		`step("home", http.get("TARGET/")), step("item", http.get("TARGET/")), step("last", http.get("TARGET/"), when = lambda vu, home: home.status == 200)`,
		`step("home", http.get("TARGET/")), step("item", http.get("TARGET/"), after = ["home"]), check("last", lambda vu, home: home.status == 200, after = ["item"])`,
		`step("home", http.get("TARGET/")), step("item", http.get("TARGET/")), step("last", http.get("TARGET/"), after = ["home"], when = lambda vu, home: home.status == 200)`,
	} {
		r := run(t, context.Background(), Config{Workflow: loadFile(t, s.URL(), `workflow(name = "test", steps = [`+steps+`])`), VUs: 1})
		one := tally{Started: 1, OK: 1}
		if diff := cmp.Diff(map[string]tally{"home": one, "item": one, "last": one}, tallies(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", steps, diff, r.Stats.Steps)
		}
	}
}
