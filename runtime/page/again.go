package page

import (
	"strconv"
	"strings"
	"unicode"

	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// again holds what a reader needs to run the same test again.
type again struct {
	Command string
	Machine table
	Files   []source
	More    string
}

// source is a file with numbered lines.
type source struct {
	Name    string
	Numbers string
	Text    string
	Cut     bool
}

func (d *drawer) again() *again {
	run := d.result.Run
	if run == nil {
		return nil
	}
	a := &again{Command: d.command(run.Command), Machine: table{Caption: "Where it ran", Head: heads("", "")}}
	for _, row := range [][2]string{{"hyperscale", d.named(run.Version)}, {"built with", d.named(run.Go)}, {"system", d.named(run.System)}, {"processor", d.processor(run)}, {"seed", strconv.FormatUint(run.Seed, 10)}} {
		if row[1] != "" {
			a.Machine.Rows = append(a.Machine.Rows, words(row[0], row[1]))
		}
	}
	for i := range run.Files {
		if run.Files[i].Text == "" { // the run was not given --with-source
			continue
		}
		if d.source == 0 || i == d.rows {
			a.More = more(len(run.Files), i, "file")
			break
		}
		a.Files = append(a.Files, d.file(&run.Files[i]))
	}
	return a
}

func (d *drawer) processor(run *report.Run) string {
	cpu := units.Counted(uint64(max(run.CPUs, 0)), "thread")
	if run.CPU != "" {
		cpu = d.told(run.CPU) + ", " + cpu
	}
	return cpu
}

// file spends the room for source.
func (d *drawer) file(f *report.SourceFile) source {
	text := f.Text[:min(len(f.Text), d.source)]
	d.source -= len(text)
	s := source{Name: d.named(f.Name), Text: printable(text), Cut: f.Cut || len(text) < len(f.Text)}
	var numbers []byte
	for n := range strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1 {
		numbers = append(strconv.AppendInt(numbers, int64(n+1), 10), '\n')
	}
	s.Numbers = string(numbers)
	return s
}

// printable is text that a page can hold.
func printable(s string) string { return strings.ToValidUTF8(strings.Map(visible, s), "") }

// visible keeps lines and tabs, and replaces other invisible characters.
func visible(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	if r == '\r' {
		return -1
	}
	return '·'
}

// command writes arguments as a shell reads them.
func (d *drawer) command(args []string) string {
	words := []string{"hyperscale"}
	for _, arg := range first(args, d.rows) {
		words = append(words, quoted(d.told(arg)))
	}
	if len(args) > d.rows {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

// quoted quotes words that a shell would interpret.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
