package lifeguard

import (
	"fmt"
	"time"

	"hyperscale/core/swim"
)

// Setting is a column of the tables.
type Setting struct {
	Name   string
	What   string
	Config swim.Config
}

// Indices of Settings: Plain is the baseline, Paper all of Lifeguard as published, Ours the
// settings of production.
const (
	Plain = 0
	Paper = 4
	Ours  = 5
)

// Settings returns all settings. All but the last use the paper's formulas: local health
// stretches by LHM + 1, alpha 5, beta 6, no cap.
func Settings() []Setting {
	part := func(change func(*swim.Config)) swim.Config {
		c := swim.Plain()
		change(&c)
		return c
	}
	return []Setting{
		{"SWIM", "none of Lifeguard", swim.Plain()},
		{"LHA-Probe", "local health stretches probes; nacks", part(func(c *swim.Config) { c.HealthProbe = true })},
		{"LHA-Suspicion", "confirmations shorten suspicions", part(func(c *swim.Config) { c.HealthSuspicion = true })},
		{"Buddy", "suspects hear of it first", part(func(c *swim.Config) { c.Buddy = true })},
		{"Lifeguard", "all three", swim.Paper()},
		{"ours", "the defaults of this system", swim.Default()},
	}
}

// Kind is the kind of an experiment.
type Kind string

// The experiments.
const (
	Threshold Kind = "threshold"
	Interval  Kind = "interval"
)

// Anomaly is what happens in one run.
type Anomaly struct {
	Kind   Kind
	C      int           // members blocked at once
	D      time.Duration // length of a block
	I      time.Duration // pause until the next block; 0 in a threshold experiment
	Repeat int
}

func (a Anomaly) String() string {
	return fmt.Sprintf("%s C=%d D=%v I=%v #%d", a.Kind, a.C, a.D, a.I, a.Repeat)
}

// Grid is the range of the parameters.
type Grid struct {
	C        []int
	D        []time.Duration
	I        []time.Duration
	Repeats  int // of each threshold experiment
	Failures int // of the longest ones, which give the times of detection
}

// Full is the grid of the published tables: the ranges of the paper in coarser
// steps, for a few minutes of one core.
func Full() Grid {
	ms := func(all ...int) (d []time.Duration) {
		for _, n := range all {
			d = append(d, time.Duration(n)*time.Millisecond)
		}
		return d
	}
	return Grid{
		C: []int{1, 4, 16, 32}, D: ms(128, 1024, 4096, 8192, 16384, 32768), I: ms(64, 1024, 4096, 16384),
		Repeats: 1, Failures: 20,
	}
}

// anomalies lists every run of the grid, for as many members.
func (g Grid) anomalies(members int) []Anomaly {
	var all []Anomaly
	longest := g.D[len(g.D)-1]
	for _, c := range g.C {
		if c > members/4 {
			break // most of the group must stay healthy
		}
		for _, d := range g.D {
			repeats := g.Repeats
			if d == longest {
				repeats = g.Failures
			}
			for r := range repeats {
				all = append(all, Anomaly{Threshold, c, d, 0, r})
			}
			for _, i := range g.I {
				all = append(all, Anomaly{Interval, c, d, i, 0})
			}
		}
	}
	return all
}
