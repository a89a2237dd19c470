package story

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim/journey"
)

// ErrNoJob is the error for a choice that matches no job.
var ErrNoJob = errors.New("no such job in this run")

// The choices that are not a job's ID.
const (
	All   = "all"
	First = "first"
)

// Jobs returns the jobs that a choice matches, in the order of acceptance: a job's ID or its
// beginning, its client's key, All, or First.
func (r *Recorder) Jobs(choice string) ([]message.JobID, error) {
	var chosen []message.JobID
	switch {
	case len(r.order) == 0:
		return nil, fmt.Errorf("story of %q: no job was accepted: choose a longer --virtual: %w", choice, ErrNoJob)
	case choice == All:
		return r.order, nil
	case choice == First:
		return r.order[:1], nil
	case choice != "":
		for _, id := range r.order {
			if strings.HasPrefix(id.String(), choice) || r.names[id] == choice {
				chosen = append(chosen, id)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("story of %q: choose `first`, `all`, or one of this run's jobs (%d), such as %s: %w", choice, len(r.order), r.some(), ErrNoJob)
	}
	return chosen, nil
}

// some names a few jobs.
func (r *Recorder) some() string {
	var names []string
	for _, id := range r.order[:min(3, len(r.order))] {
		name := id.String()
		if key := r.names[id]; key != "" {
			name += " (" + key + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Tell writes the stories of the matching jobs, one after the other.
func (r *Recorder) Tell(w io.Writer, choice string) error {
	jobs, err := r.Jobs(choice)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	moments := map[message.JobID][]int{}
	for i := range r.moments {
		if id := r.job(&r.moments[i]); id != (message.JobID{}) {
			moments[id] = append(moments[id], i)
		}
	}
	for i, id := range jobs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		r.tell(out, id, moments[id])
	}
	if r.dropped > 0 {
		fmt.Fprintf(out, "\n(%d later moments were left out: choose a shorter --virtual to see everything)\n", r.dropped)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the story: %w", err)
	}
	return nil
}

// line is one moment in words.
type line struct {
	at   time.Duration
	mark byte // '!' for what went wrong, ' ' for all else
	node string
	text string
	last time.Duration // time of the last equal line that is counted with this one
	more int
}

func (r *Recorder) tell(w io.Writer, id message.JobID, own []int) {
	title := "job " + id.String()
	if key := r.names[id]; key != "" {
		title += fmt.Sprintf(", key %q", key)
	}
	fmt.Fprintf(w, "%s\n\n", title)
	if len(own) == 0 {
		return // it came after the bound on moments
	}
	lines, progress := r.lines(own)
	wide := len("everybody")
	for _, l := range lines {
		wide = max(wide, len(l.node))
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s %c %-*s  %s", seconds(l.at), l.mark, wide, l.node, l.text)
		if l.more > 0 {
			fmt.Fprintf(w, " (%d times, until %s)", l.more+1, strings.TrimSpace(seconds(l.last)))
		}
		fmt.Fprintln(w)
	}
	if progress > 0 {
		fmt.Fprintf(w, "\n(reports of progress that are left out: %d)\n", progress)
	}
}

// lines describes the job's own moments, and the faults that hit its nodes between the first
// and the last of them.
func (r *Recorder) lines(own []int) (lines []line, progress int) {
	involved := map[node.ID]bool{}
	for _, i := range own {
		m := &r.moments[i]
		involved[m.node] = true
		if m.kind == kindSends {
			involved[r.tracker.Whom(m.journey)] = true
		}
	}
	for i := own[0]; i <= own[len(own)-1]; i++ {
		m := &r.moments[i]
		_, mine := slices.BinarySearch(own, i)
		if !mine && !r.concerns(m, involved) {
			continue
		}
		if m.message != nil && journey.Progress(m.message) {
			progress++
			continue
		}
		if l, ok := r.word(m, involved); ok {
			lines = fold(lines, l)
		}
	}
	return lines, progress
}

// concerns says whether a moment that is not about the job happened to a node of the job.
func (r *Recorder) concerns(m *moment, involved map[node.ID]bool) bool {
	switch m.kind {
	case kindStart, kindHalt:
		return involved[m.node]
	case kindFault:
		return hits(&m.fault, involved)
	}
	return false
}

// fold adds a line, or counts it with an equal one before it.
func fold(lines []line, l line) []line {
	if n := len(lines); n > 0 {
		last := &lines[n-1]
		if last.node == l.node && last.text == l.text && last.mark == l.mark {
			last.more++
			last.last = l.at
			return lines
		}
	}
	return append(lines, l)
}

// seconds writes a time to the microsecond, aligned.
func seconds(d time.Duration) string {
	micros := d.Microseconds()
	return fmt.Sprintf("%5d.%06d s", micros/1_000_000, micros%1_000_000)
}
