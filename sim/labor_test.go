package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// laborer makes a number of looks for each ping, and records when it does.
type laborer struct {
	looks uint64
	all   uint64
	at    []string
}

func (l *laborer) Labor() uint64 { return l.all }

func (l *laborer) Step(env node.Env, in *node.Input) {
	if in.Kind == node.InputCommand {
		l.all += l.looks
		l.at = append(l.at, fmt.Sprint(env.Now().Sub(node.Instant(sim.ClockStart))))
	}
}

// A Step that looks at many workers delays its node's next input, in whole milliseconds. A slow
// processor multiplies the delay, and a node without costs pays nothing.
func TestLaborTakesTime(t *testing.T) {
	for _, row := range []struct {
		looks uint64
		costs time.Duration
		slow  int64
		want  string
		told  string
	}{
		{99_999, time.Microsecond, 0, "1s 1.000001s 1.000002s", ""},
		{250_000, time.Microsecond, 0, "1s 1.002001s 1.004002s", ""},
		{250_000, time.Microsecond, 10, "1s 1.02001s 1.04002s", ""},
		{900_000, time.Microsecond, 0, "1s 1.009001s 1.018002s", "9ms 9ms 9ms"},
		{900_000, 0, 0, "1s 1s 1s", ""},
	} {
		var told []string
		l := &laborer{looks: row.looks}
		w := sim.New(sim.Config{Seed: 1, LaborMax: 5 * time.Millisecond, Labored: func(_ node.ID, took time.Duration) {
			told = append(told, took.String())
		}, Network: netsim.Default()})
		w.Add(sim.Spec{ID: "a", Role: node.RoleToy, Place: "dc", Costs: sim.Costs{Default: row.costs}, New: func() node.Machine { return l }})
		w.Start("a")
		w.At(time.Second, func() {
			if row.slow > 0 {
				if err := w.Apply(sim.Fault{Kind: sim.FaultSlowCPU, Value: row.slow}); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				w.Command("a", &toy.Ping{}, func(node.Message) {})
			}
		})
		w.RunUntil(2 * time.Second)
		if got := strings.Join(l.at, " "); got != row.want {
			t.Errorf("%d looks at a cost of %v, %d times slower: inputs at %s, want %s", row.looks, row.costs, row.slow, got, row.want)
		}
		if got := strings.Join(told, " "); got != row.told {
			t.Errorf("%d looks: told of %q, want %q", row.looks, got, row.told)
		}
	}
}
