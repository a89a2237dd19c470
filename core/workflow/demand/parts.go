package demand

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
)

// readPlaces reads stage[1]., tag[kind=read]., group[pay]. and datacenter[east]. in any order,
// and returns the rest.
func readPlaces(t *message.Threshold, left string, w Judged) (string, *language.Fault) {
	for {
		word, rest, bracket := strings.Cut(left, "[")
		if !bracket {
			return left, nil
		}
		inside, rest, closed := strings.Cut(rest, "]")
		rest, dotted := strings.CutPrefix(rest, ".")
		if !closed || !dotted {
			return "", language.Faultf("%q does not end", language.Clip(left, 40)).Do("as in \"stage[0].latency.p95 < 400ms\"")
		}
		left = rest
		var f *language.Fault
		switch word {
		case "stage":
			f = readStage(t, inside, w)
		case "tag":
			f = readTag(t, inside, w)
		case "group":
			f = readGroup(t, inside, w)
		case "datacenter":
			if t.Datacenter = inside; !plan.Name(inside) {
				f = language.Faultf("%q is not a datacenter's name", language.Clip(inside, 40)).Do("as in \"datacenter[east].errors < 1%%\"")
			}
		default:
			words := []string{"stage", "tag", "group", "datacenter"}
			f = language.Faultf("%q is none of %s", language.Clip(word, 40), strings.Join(words, ", ")).Meant(word, words)
		}
		if f != nil {
			return "", f
		}
	}
}

func readStage(t *message.Threshold, number string, w Judged) *language.Fault {
	if len(w.Stages) == 0 {
		return language.Faultf("the workflow has no stages").Do("take stage[%s] out, or write stages = [stage(\"1m\", vus = 10)]", language.Clip(number, 20))
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n >= uint64(len(w.Stages)) {
		return language.Faultf("the workflow has no stage[%s]", language.Clip(number, 20)).Do("write stage[0] to stage[%d]: the first stage is 0", len(w.Stages)-1)
	}
	for i, s := range w.Stages[:n+1] {
		t.From, t.Until = t.Until, t.Until+s.Duration
		if uint64(i) == n && s.Duration == 0 {
			return language.Faultf("stage[%d] lasts no time", n).Do("name one that lasts")
		}
	}
	if t.Until >= w.Duration {
		t.Until = 0 // with what ends behind it
	}
	return nil
}

func readTag(t *message.Threshold, tag string, w Judged) *language.Fault {
	name, value, ok := strings.Cut(tag, "=")
	if !ok {
		return language.Faultf("%q does not say which value", language.Clip(tag, 40)).Do("as in \"tag[kind=read].errors < 1%%\"")
	}
	var known []string
	for i := range w.Steps {
		for _, has := range w.Steps[i].Tags {
			known = append(known, has.Name+"="+has.Value)
			if has.Name == name && has.Value == value && w.Steps[i].Kind.Measured() {
				t.Steps = append(t.Steps, w.Steps[i].Name)
			}
		}
	}
	if len(t.Steps) == 0 {
		return language.Faultf("no measured step has the tag %q", language.Clip(tag, 40)).Meant(tag, known)
	}
	return nil
}

// readGroup reads a name of vu.group, or several with a / between nested ones. Functions make them
// while they run, so that nothing tells here whether one will.
func readGroup(t *message.Threshold, group string, w Judged) *language.Fault {
	function := func(s message.StepPlan) bool { return s.Kind > message.StepRequest }
	switch {
	case group == "" || len(group) > plan.GroupMax || strings.HasPrefix(group, "/") || strings.HasSuffix(group, "/"):
		return language.Faultf("%q is not a group's name", language.Clip(group, 40)).Do("as in \"group[pay].errors < 1%%\"")
	case !slices.ContainsFunc(w.Steps, function):
		return language.Faultf("the workflow has no function, so that it has no group %q", language.Clip(group, 40)).Do("write vu.group(%q, ...) in a step's function", language.Clip(group, 40))
	}
	t.Group = group
	return nil
}

// readTimes reads over 30s and after 1m, and returns the bound before them.
func readTimes(t *message.Threshold, right string, w Judged) (bound string, f *language.Fault) {
	words := strings.Fields(right)
	first := slices.IndexFunc(words, func(s string) bool { return s == "over" || s == "after" })
	if first < 0 {
		return strings.Join(words, " "), nil
	}
	bound = strings.Join(words[:first], " ")
	seen := map[string]bool{}
	for rest := words[first:]; len(rest) > 0; rest = rest[2:] {
		word := rest[0]
		if word != "over" && word != "after" || len(rest) == 1 || seen[word] {
			return "", language.Faultf("%q is not how it goes on", language.Clip(strings.Join(rest, " "), 40)).Do("as in \"errors < 1%% over 30s after 1m\"")
		}
		seen[word] = true
		d, err := time.ParseDuration(rest[1])
		if err != nil || d <= 0 || d > plan.DurationMax {
			return "", language.Faultf("%q is not how long something lasts", language.Clip(rest[1], 40)).Do("as in \"errors < 1%% %s 30s\"", word)
		}
		if word == "over" {
			t.Over, f = d, overFits(d, w)
		} else {
			f = readAfter(t, d, w)
		}
		if f != nil {
			return "", f
		}
	}
	return bound, tooMany(t, w)
}

func overFits(d time.Duration, w Judged) *language.Fault {
	switch {
	case w.Duration == 0:
		return language.Faultf("the workflow has no duration, so that nothing tells how many windows there are").Do("write duration = \"5m\", or take over out")
	case d < plan.OverMin:
		return language.Faultf("a window of %v is too short", d).Do("write over %v, or longer", plan.OverMin)
	}
	return nil
}

func readAfter(t *message.Threshold, d time.Duration, w Judged) *language.Fault {
	switch {
	case t.From > 0 || t.Until > 0:
		return language.Faultf("it says both a stage and after").Do("take one of them out: a stage says when it begins")
	case w.Duration > 0 && d >= w.Duration:
		return language.Faultf("after %v the workflow is over: it lasts %v", d, w.Duration).Do("write a shorter time behind after")
	}
	t.From = d
	return nil
}

// tooMany rejects windows that a run cannot count exactly.
func tooMany(t *message.Threshold, w Judged) *language.Fault {
	if n := len(plan.Cuts(&message.WorkflowPlan{Duration: w.Duration, Thresholds: []message.Threshold{*t}})); n > plan.CutsMax {
		return language.Faultf("windows of %v are too many for %v", t.Over, w.Duration).Do("write over %v, or longer", (2*w.Duration/plan.CutsMax + time.Second).Truncate(time.Second))
	}
	return nil
}
