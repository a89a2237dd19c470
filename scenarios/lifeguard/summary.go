package lifeguard

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config configures all experiments.
type Config struct {
	Seed     uint64
	Members  int
	Grid     Grid
	Progress func(done, all int) // may be nil
}

// MembersMin is the smallest meaningful group: three seeds, and a member to block.
const MembersMin = 8

// Cell is a sum over runs with equal parameters.
type Cell struct {
	Setting   string  `json:"setting"`
	Kind      Kind    `json:"experiment"`
	C         int     `json:"c"`
	DMillis   int64   `json:"d_ms"`
	IMillis   int64   `json:"i_ms"`
	Runs      int     `json:"runs"`
	FP        uint64  `json:"fp"`
	FPHealthy uint64  `json:"fp_healthy"`
	Messages  float64 `json:"messages_per_member_second"`
	Bytes     float64 `json:"bytes_per_member_second"`
}

// Times are the detection times of true failures, in milliseconds.
type Times struct {
	Count  int   `json:"count"`
	Median int64 `json:"median_ms"`
	P99    int64 `json:"p99_ms"`
	P999   int64 `json:"p999_ms"`
}

// Column is one setting over all runs.
type Column struct {
	Setting   string  `json:"setting"`
	What      string  `json:"what"`
	FP        uint64  `json:"fp"` // of the interval experiments
	FPHealthy uint64  `json:"fp_healthy"`
	FPOnce    uint64  `json:"fp_once"` // of the threshold experiments
	FPOnceH   uint64  `json:"fp_once_healthy"`
	First     Times   `json:"first_detection"`
	Full      Times   `json:"full_dissemination"`
	Missed    int     `json:"missed"`
	Messages  float64 `json:"messages_per_member_second"` // of the interval experiments
	Bytes     float64 `json:"bytes_per_member_second"`
}

// Bar is a promised bound, and its measurement.
type Bar struct {
	Name string `json:"name"`
	Got  string `json:"got"`
	Met  bool   `json:"met"`
}

// Summary is the result of all experiments.
type Summary struct {
	Seed    uint64   `json:"seed"`
	Members int      `json:"members"`
	Runs    int      `json:"runs"`
	Columns []Column `json:"columns"`
	Bars    []Bar    `json:"bars"`
	Cells   []Cell   `json:"cells"`
}

// sums collects one setting's runs.
type sums struct {
	column      Column
	cells       []Cell
	first, full []time.Duration
	messages    uint64
	bytes       uint64
	seconds     float64 // of members, in interval experiments
}

// Play plays the whole grid in every setting.
func Play(c Config) Summary {
	anomalies, settings := c.Grid.anomalies(c.Members), Settings()
	s := Summary{Seed: c.Seed, Members: c.Members, Runs: len(anomalies) * len(settings)}
	all := make([]sums, len(settings))
	for n, a := range anomalies {
		for i := range settings {
			o := play(c.Seed, c.Members, &settings[i], a)
			all[i].add(settings[i].Name, a, &o, c.Members)
			if c.Progress != nil {
				c.Progress(n*len(settings)+i+1, s.Runs)
			}
		}
	}
	for i := range all {
		t := &all[i]
		t.column.Setting, t.column.What = settings[i].Name, settings[i].What
		t.column.First, t.column.Full = timesOf(t.first), timesOf(t.full)
		t.column.Messages, t.column.Bytes = float64(t.messages)/max(1, t.seconds), float64(t.bytes)/max(1, t.seconds)
		s.Columns = append(s.Columns, t.column)
		s.Cells = append(s.Cells, t.cells...)
	}
	s.Bars = bars(s.Columns)
	return s
}

func (t *sums) add(setting string, a Anomaly, o *Outcome, members int) {
	seconds := o.Virtual.Seconds() * float64(members)
	if a.Kind == Interval {
		t.column.FP += o.FP
		t.column.FPHealthy += o.FPHealthy
		t.messages, t.bytes, t.seconds = t.messages+o.Messages, t.bytes+o.Bytes, t.seconds+seconds
	} else {
		t.column.FPOnce += o.FP
		t.column.FPOnceH += o.FPHealthy
		t.column.Missed += o.Missed
		t.first, t.full = append(t.first, o.First...), append(t.full, o.Full...)
	}
	n := len(t.cells)
	if n == 0 || a.Repeat == 0 {
		t.cells = append(t.cells, Cell{Setting: setting, Kind: a.Kind, C: a.C, DMillis: a.D.Milliseconds(), IMillis: a.I.Milliseconds()})
		n++
	}
	cell := &t.cells[n-1]
	cell.Runs++
	cell.FP += o.FP
	cell.FPHealthy += o.FPHealthy
	cell.Messages += (float64(o.Messages)/seconds - cell.Messages) / float64(cell.Runs)
	cell.Bytes += (float64(o.Bytes)/seconds - cell.Bytes) / float64(cell.Runs)
}

func timesOf(all []time.Duration) Times {
	if len(all) == 0 {
		return Times{}
	}
	slices.Sort(all)
	at := func(part, of int) int64 { return all[min(len(all)-1, len(all)*part/of)].Milliseconds() }
	return Times{len(all), at(1, 2), at(99, 100), at(999, 1000)}
}

// bars compares the results with the promised bounds.
func bars(c []Column) []Bar {
	plain, paper, ours := c[Plain], c[Paper], c[Ours]
	ratio := float64(plain.FPHealthy) / max(1, float64(paper.FPHealthy))
	fewer := fmt.Sprintf("%d to %d", plain.FPHealthy, paper.FPHealthy)
	if paper.FPHealthy > 0 {
		fewer += fmt.Sprintf(": %.0f times fewer", ratio)
	}
	slower := percent(float64(ours.First.Median), float64(plain.First.Median))
	more := percent(ours.Messages, plain.Messages)
	return []Bar{
		{"Lifeguard has FP- at least 50 times fewer than SWIM", fewer, ratio >= 50},
		{"ours has no more FP- than Lifeguard", fmt.Sprintf("%d to %d", ours.FPHealthy, paper.FPHealthy), ours.FPHealthy <= paper.FPHealthy},
		{"ours detects at most 10 % later than SWIM in the median", fmt.Sprintf("%+.1f %%", slower), slower <= 10},
		{"ours sends at most 15 % more messages than SWIM", fmt.Sprintf("%+.1f %%", more), more <= 15},
	}
}

// percent returns by how many percent a exceeds b.
func percent(a, b float64) float64 { return 100 * (a - b) / max(1e-9, b) }

// Table returns the summary as a Markdown table.
func (s *Summary) Table() string {
	var b strings.Builder
	row := func(name string, value func(*Column) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for i := range s.Columns {
			fmt.Fprintf(&b, " %s |", value(&s.Columns[i]))
		}
		b.WriteString("\n")
	}
	row("", func(c *Column) string { return c.Setting })
	b.WriteString("|---|" + strings.Repeat("---:|", len(s.Columns)) + "\n")
	row("FP, interval", func(c *Column) string { return fmt.Sprint(c.FP) })
	row("FP-, interval", func(c *Column) string { return fmt.Sprint(c.FPHealthy) })
	row("FP-, of SWIM's", func(c *Column) string {
		return fmt.Sprintf("%.2f %%", 100*float64(c.FPHealthy)/max(1, float64(s.Columns[Plain].FPHealthy)))
	})
	row("FP, threshold", func(c *Column) string { return fmt.Sprint(c.FPOnce) })
	row("FP-, threshold", func(c *Column) string { return fmt.Sprint(c.FPOnceH) })
	times := func(name string, of func(*Column) Times) {
		row(name+", median", func(c *Column) string { return seconds(of(c).Median) })
		row(name+", p99", func(c *Column) string { return seconds(of(c).P99) })
		row(name+", p999", func(c *Column) string { return seconds(of(c).P999) })
	}
	times("first detection", func(c *Column) Times { return c.First })
	times("full dissemination", func(c *Column) Times { return c.Full })
	row("failures not known everywhere in time", func(c *Column) string { return fmt.Sprintf("%d of %d", c.Missed, c.Missed+c.Full.Count) })
	row("messages a member and second", func(c *Column) string { return fmt.Sprintf("%.2f", c.Messages) })
	row("bytes a member and second", func(c *Column) string { return fmt.Sprintf("%.0f", c.Bytes) })
	return b.String()
}

func seconds(ms int64) string { return fmt.Sprintf("%.2f s", float64(ms)/1000) }
