package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/protocol/hostile/hostiletest"
	"hyperscale/runtime/report"
)

// killsWanted is how many real kills a test makes: HYPERSCALE_KILLS, else so many.
func killsWanted(t *testing.T, otherwise string) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("HYPERSCALE_KILLS"), otherwise))
	if err != nil || n < 1 {
		t.Fatalf("HYPERSCALE_KILLS = %q: it is a number from 1", os.Getenv("HYPERSCALE_KILLS"))
	}
	return n
}

// What one job of the test is.
const (
	lossWorkers = 6
	lossCores   = 4
	lossRate    = 200
	lossEvery   = 9 * time.Second // between two kills
	lossFirst   = 3 * time.Second
	lossAfter   = 9 * time.Second // from the last kill to the end
	lossKills   = 3               // of one job, at most: a shard may be lost so often
	lossBack    = 8 * time.Second
)

const lossFile = `
target = param("target", default = "http://localhost:8080")
workflow(name = "load", duration = "30s", vus = 40, rate = "200/s", cores = 4, steps = [step("home", http.get(target + "/home"))])
`

// Workers are killed in the middle of a run with a rate, every third time together with a
// manager, and return. What began, what was dropped and what was not offered are what the plan
// asks for. The target counted what the result says, within the bound that the result states.
// The load is back soon, and the run ends on time.
func TestLossesCostGaps(t *testing.T) {
	t.Parallel()
	left := killsWanted(t, "2")
	var mu sync.Mutex
	var back []time.Duration
	t.Run("jobs", func(t *testing.T) {
		for n := 0; left > 0; n++ {
			kills := min(left, lossKills)
			left -= kills
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				took := loseSome(t, rand.New(rand.NewPCG(uint64(n), 1)), kills)
				mu.Lock()
				defer mu.Unlock()
				back = append(back, took...)
			})
		}
	})
	if len(back) == 0 {
		t.Log("no killed worker had a shard")
		return
	}
	slices.Sort(back)
	p99 := back[len(back)*99/100]
	if p99 > lossBack {
		t.Errorf("the load was back within %v for 99 of 100 losses, at most %v were called for", p99, lossBack)
	}
	t.Logf("%d losses: load back after %v (p50), %v (p99), %v at most", len(back), back[len(back)/2], p99, back[len(back)-1])
}

// losing is a cluster of one gate, three managers and spare workers.
type losing struct {
	*cluster
	managers []*process
	addrs    []string
	starts   map[string][]startedAt // of shards, by shard
}

// startedAt is when an attempt began, as its worker's log says.
type startedAt struct {
	worker string
	at     time.Time
}

func (l *losing) startManager(i int) {
	l.managers[i] = l.node("manager", fmt.Sprintf("manager-%d", i+1), l.addrs[i], "--datacenter", "here", "--gates", l.gateAddr, "--managers", strings.Join(l.addrs, ","))
}

func startLosing(t *testing.T) *losing {
	t.Helper()
	l := &losing{cluster: &cluster{t: t, dir: t.TempDir(), workers: make([]*process, lossWorkers), admins: map[string]string{}}, managers: make([]*process, 3), starts: map[string][]startedAt{}}
	l.startGate(hostiletest.FreeAddress(t))
	l.gateAddr = l.gate.await(upLine)
	for range l.managers {
		l.addrs = append(l.addrs, hostiletest.FreeAddress(t))
	}
	for i := range l.managers {
		l.startManager(i)
	}
	l.managerAddr = strings.Join(l.addrs, ",")
	for i := range l.workers {
		l.startWorker(i + 1)
	}
	l.cores(lossWorkers)
	return l
}

var shardStarted = regexp.MustCompile(`time=(\S+) .*msg=shard-started node=(\S+) .*shard=(\S+) fence`)

// read collects the starts in a worker's log. A worker that is killed has its log read before.
func (l *losing) read(p *process) {
	for _, m := range shardStarted.FindAllStringSubmatch(p.err.String(), -1) {
		at, err := time.Parse(time.RFC3339, m[1])
		if err != nil {
			l.t.Fatal(err)
		}
		l.starts[m[3]] = append(l.starts[m[3]], startedAt{m[2], at})
	}
}

// loseSome runs one job with so many kills, and returns how long each lost shard was away.
func loseSome(t *testing.T, r *rand.Rand, kills int) []time.Duration {
	l := startLosing(t)
	url := serveTarget(t, "--latency", "5ms")
	length := lossFirst + time.Duration(kills-1)*lossEvery + lossAfter
	watch, out := l.watch(l.submit(write(t, "load.star", lossFile), "--set", "target="+url, "--duration", length.String()))
	eventually(t, "the load has begun", patience, func() bool { return stats(t, url).Requests > 0 })
	began := time.Now()
	killed := map[string][]time.Time{}
	for k := range kills {
		time.Sleep(time.Until(began.Add(lossFirst + time.Duration(k)*lossEvery + time.Duration(r.IntN(500))*time.Millisecond)))
		w, m := r.IntN(lossWorkers), r.IntN(len(l.managers))
		if k%3 == 1 {
			l.managers[m].kill()
		}
		l.workers[w].kill()
		killed[fmt.Sprintf("worker-%d", w+1)] = append(killed[fmt.Sprintf("worker-%d", w+1)], time.Now())
		l.read(l.workers[w])
		time.Sleep(2 * time.Second)
		if k%3 == 1 {
			l.startManager(m)
		}
		l.startWorker(w + 1)
	}
	watch.expect(command.ExitGood)
	for _, w := range l.workers {
		l.read(w)
	}
	l.judge(readResult(t, out), stats(t, url).Requests, length)
	return l.away(killed)
}

// judge compares the result with what the plan asks for, and with what the target counted.
func (l *losing) judge(r *report.Result, seen uint64, length time.Duration) {
	t, w := l.t, r.Workflows[0]
	g, want := w.Generator, uint64(length/time.Second)*lossRate
	if asked := g.Begun + g.Dropped + g.NotOffered; asked != want {
		t.Errorf("%d began, %d were dropped, %d were not offered: together %d, want %d; lost %+v", g.Begun, g.Dropped, g.NotOffered, asked, want, w.Lost)
	}
	bound := uint64(0) // a shard has a fourth of the rate
	for _, lost := range w.Lost {
		bound += uint64(lost.UnreportedNS)*lossRate/lossCores/1e9 + 2
	}
	if sent := w.Totals.Sent; seen < sent || seen > sent+bound {
		t.Errorf("the target counted %d, the result has %d and at most %d unreported; lost %+v", seen, sent, bound, w.Lost)
	}
	if took := time.Duration(w.DurationNS); took < length-time.Second || took > length+time.Second {
		t.Errorf("it took %v, want %v", took, length)
	}
	t.Logf("%d asked, %d begun, %d not offered, %d sent, the target counted %d, at most %d unreported, %v of %v", want, g.Begun, g.NotOffered, w.Totals.Sent, seen, bound, time.Duration(w.DurationNS), length)
}

// away returns how long each shard of a killed worker ran nowhere.
func (l *losing) away(killed map[string][]time.Time) (all []time.Duration) {
	//lint:orderfree each shard by itself
	for shard, starts := range l.starts {
		slices.SortFunc(starts, func(a, b startedAt) int { return a.at.Compare(b.at) })
		for i, s := range starts {
			for _, at := range killed[s.worker] {
				over := i+1 < len(starts) && starts[i+1].at.Before(at)
				if at.Before(s.at) || over {
					continue
				}
				if i+1 == len(starts) {
					l.t.Errorf("shard %s was lost on %s and ran nowhere again", shard, s.worker)
				} else {
					all = append(all, starts[i+1].at.Sub(at))
				}
				break
			}
		}
	}
	return all
}
