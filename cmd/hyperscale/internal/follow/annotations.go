package follow

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// annotationsMax bounds the lines: GitHub shows ten a step and drops the rest.
const annotationsMax = 10

// annotate reports failures to GitHub Actions, if this runs there: each failure at its line of
// the workflow file, and a table on the page of the run. Neither changes the exit code.
func annotate(w io.Writer, file string, r *report.Result) {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	_, _ = io.WriteString(w, annotations(inWorkspace(file), r)) // stderr that is gone has no reader
	page := os.Getenv("GITHUB_STEP_SUMMARY")
	if page == "" {
		return
	}
	if err := appendTo(page, stepSummary(r)); err != nil {
		_, _ = fmt.Fprintf(w, "GITHUB_STEP_SUMMARY: the table of this run is not on the page: %v\n", err)
	}
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// inWorkspace is a file as GitHub names it: below the repository's root. One that is
// elsewhere, or none, gets no place.
func inWorkspace(file string) string {
	root := os.Getenv("GITHUB_WORKSPACE")
	if file == "" || command.IsURL(file) || root == "" {
		return ""
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	if name, err := filepath.Rel(root, whole); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return ""
}

// annotations are workflow commands, a line each: failures of the job and of its
// workflows, then of thresholds.
func annotations(file string, r *report.Result) string {
	source := ""
	if r.Run != nil && len(r.Run.Files) > 0 {
		source = r.Run.Files[0].Text
	}
	var lines []string
	add := func(title, text, mark string) {
		place := "title=" + commandProperty(title)
		if file != "" {
			place = "file=" + commandProperty(file) + ",line=" + strconv.Itoa(literalLine(source, mark)) + "," + place
		}
		lines = append(lines, "::error "+place+"::"+commandText(text)+"\n")
	}
	if r.Outcome != "COMPLETED" {
		add("load test "+r.Outcome, because(r.Name+" "+r.Outcome, r.Error), "")
	}
	for _, w := range r.Workflows {
		if w.Outcome != "COMPLETED" {
			add("workflow "+w.Outcome, because(w.Name+" "+w.Outcome, w.Error), w.Name)
		}
	}
	for _, t := range r.Thresholds {
		if !t.OK {
			add("threshold missed", t.Workflow+": want "+t.Expr+", the value is "+ui.ThresholdValue(t), t.Expr)
		}
	}
	if more := len(lines) - annotationsMax; more > 0 {
		lines = append(lines[:annotationsMax-1], "::error title=more::"+strconv.Itoa(more+1)+" more failures: see the summary\n")
	}
	return strings.Join(lines, "")
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// literalLine is the line of a source that has a text as a literal; the first if none has.
func literalLine(source, mark string) int {
	if mark != "" {
		for _, quote := range []string{`"`, `'`} {
			if before, _, found := strings.Cut(source, quote+mark+quote); found {
				return 1 + strings.Count(before, "\n")
			}
		}
	}
	return 1
}

// commandText escapes the text after a workflow command, commandProperty a property within it.
func commandText(s string) string {
	return units.Clean(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(units.Shorten(s, annotatedMax)))
}

func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandText(s))
}

// annotatedMax bounds a text of an annotation.
const annotatedMax = 500

// rowsMax bounds the table's rows: a page takes a megabyte.
const rowsMax = 200

// stepSummary is Markdown for the page of a run.
func stepSummary(r *report.Result) string {
	var b strings.Builder
	row := func(cells ...string) {
		for i, c := range cells {
			cells[i] = markdown(c)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	head := func(cells ...string) {
		b.WriteString("\n")
		row(cells...)
		b.WriteString("|" + strings.Repeat("---|", len(cells)) + "\n")
	}
	fmt.Fprintf(&b, "### %s: %s\n\n", markdown(r.Name), markdown(outcomeText(r)))
	fmt.Fprintf(&b, "%s requests in %s, %s ok\n", units.Count(r.Requested.Started), units.Duration(time.Duration(r.DurationNS)), units.Share(r.Requested.OK, r.Requested.Started))
	if r.Error != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown(r.Error))
	}
	if len(r.Thresholds) > 0 {
		head("threshold", "workflow", "value", "met")
		for _, t := range r.Thresholds[:min(len(r.Thresholds), rowsMax)] {
			row(t.Expr, t.Workflow, ui.ThresholdValue(t), map[bool]string{true: "yes", false: "NO"}[t.OK])
		}
	}
	head("workflow", "step", "started", "failed", "timed out", "rate/s", "p50", "p99", "max")
	rows := 0
	for _, w := range r.Workflows {
		for _, s := range w.Shown() {
			if rows++; rows <= rowsMax {
				row(w.Name, s.Name, units.Count(s.Started), units.Count(s.Failed), units.Count(s.TimedOut), units.Milli(s.RateMilli),
					units.Latency(s.LatencyNS.P50), units.Latency(s.LatencyNS.P99), units.Latency(s.LatencyNS.Max))
			}
		}
	}
	if rows > rowsMax {
		fmt.Fprintf(&b, "\n%d more steps are in the result file.\n", rows-rowsMax)
	}
	b.WriteString("\n")
	return b.String()
}

// outcomeText is the outcome, and whether thresholds were missed.
func outcomeText(r *report.Result) string {
	missed := 0
	for _, t := range r.Thresholds {
		if !t.OK {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Sprintf("%s, %d of %d thresholds missed", r.Outcome, missed, len(r.Thresholds))
	}
	return r.Outcome
}

// markdown makes text from outside plain: on one line, no markup, no link, no mention.
func markdown(s string) string {
	var b strings.Builder
	for _, c := range units.Clean(units.Shorten(s, annotatedMax)) {
		if strings.ContainsRune("&<>@#\\`*_{}[]()!|~^$:", c) {
			fmt.Fprintf(&b, "&#%d;", c) // an entity is text wherever it stands
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}
