package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// A server that stands still for so long, under this rate, for so long in all.
const (
	stallRate  = 100
	stallAfter = 500 * time.Millisecond
	stallFor   = 2 * time.Second
	stallAll   = 3200 * time.Millisecond
)

// stall stops a server once, and keeps when it got each message and when it was about to answer.
type stall struct {
	mu       sync.Mutex
	arrivals []time.Time
	answers  []time.Time
}

// pass is called with each message, and returns when the server may answer it.
func (s *stall) pass() {
	s.mu.Lock()
	now := time.Now()
	k := len(s.arrivals)
	s.arrivals, s.answers = append(s.arrivals, now), append(s.answers, time.Time{})
	from := s.arrivals[0].Add(stallAfter)
	s.mu.Unlock()
	if until := from.Add(stallFor); now.After(from) && now.Before(until) {
		time.Sleep(time.Until(until))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[k] = time.Now()
}

// latencies are those that an open schedule says, in order: the k-th message was due k intervals behind the
// first, whenever it came, and was answered when the server did. The message that came soonest tells when the
// schedule began at the latest; unsure is how much earlier that may have been, not before the run.
func (s *stall) latencies(run time.Time) (out []time.Duration, unsure time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := func(k int) time.Duration { return time.Duration(k) * time.Second / stallRate }
	begin := s.arrivals[0]
	for k, at := range s.arrivals {
		if at = at.Add(-due(k)); at.Before(begin) {
			begin = at
		}
	}
	for k, at := range s.answers {
		out = append(out, at.Sub(begin.Add(due(k))))
	}
	slices.Sort(out)
	return out, begin.Sub(run)
}

// lateness measures how late this machine wakes a goroutine, until it ends.
func lateness() (end func() time.Duration) {
	stop, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		most := time.Duration(0)
		for {
			began := time.Now()
			select {
			case <-stop:
				worst <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, time.Since(began)-time.Millisecond)
			}
		}
	}()
	return func() time.Duration { close(stop); return <-worst }
}

// pongs is a server of Redis that knows no command but PING.
func pongs(t *testing.T, pass func()) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					if !strings.HasPrefix(line, "PING") {
						continue
					}
					pass()
					if _, err := io.WriteString(c, "+PONG\r\n"); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return "redis://" + l.Addr().String()
}

// While servers stand still the latencies are those of an open schedule, within 1 % and how late the machine
// itself was: when each arrival has a user, and when arrivals wait for one. They are never shorter, on any machine.
// It takes as long as the servers stand still, which has to be long beside what a busy machine is late.
func TestLatenciesOfServersThatStandStill(t *testing.T) {
	for _, vus := range []uint64{20, 400} {
		t.Run(fmt.Sprintf("%d users", vus), func(t *testing.T) {
			t.Parallel()
			all := make([]*stall, 4)
			for i := range all {
				all[i] = &stall{}
			}
			udp := reflects(t, func(uint64) int { all[0].pass(); return 1 })
			tcp := repeats(t, false, func(line string) string { all[1].pass(); return line })
			web := echo(t, false, func(e *echoer) { e.hold = func(uint64) { all[2].pass() } })
			redis := pongs(t, all[3].pass)
			w := loadFile(t, udp.URL, fmt.Sprintf(`workflow(name = "test", vus = %d, rate = "%d/s", when_full = "queue", duration = "%dms", timeout = "30s", steps = [parallel(
    step("udp", udp.exchange("TARGET", send = "hello")),
    step("tcp", tcp.exchange(%q, send = "hello\n", receive = tcp.line())),
    step("websocket", websocket.exchange("%s/", send = ["hello"], receive = 1)),
    step("redis", redis.command(%q, "PING")),
)])`, vus, stallRate, stallAll.Milliseconds(), tcp.URL, web.URL, redis))
			began, end := time.Now(), lateness()
			r := run(t, context.Background(), Config{Workflow: w, VUs: vus, Duration: stallAll, Timeout: time.Minute})
			late := end() + time.Duration(r.Stats.Generator.Lag.Max)
			for i, s := range all {
				s.agrees(t, r.Stats.Steps[i], began, late)
			}
		})
	}
}

// agrees compares what a step measured with what the schedule says of its server, on a machine that was so late, in a run that began then.
func (s *stall) agrees(t *testing.T, got message.StepStats, began time.Time, late time.Duration) {
	t.Helper()
	want, unsure := s.latencies(began)
	late += unsure
	if n := uint64(stallAll.Seconds() * stallRate); got.OK != got.Started || got.OK != uint64(len(want)) || got.Started > n || got.Started < n/2 {
		t.Fatalf("%s: ok %d of %d, of %d that were due, the server answered %d: %v", got.Name, got.OK, got.Started, n, len(want), got.Errors)
	}
	h, err := stats.FromWire(got.Latency)
	if err != nil {
		t.Fatal(err)
	}
	hurried := raced || late > stallFor/10 // answers wait for the generator, too: they only may not be shorter
	for _, ppm := range []int{500_000, 750_000, 900_000, 990_000, 1_000_000} {
		is, meant := time.Duration(h.Quantile(uint32(ppm))), want[(len(want)*ppm-1)/1_000_000]
		if is < meant-meant/100 || !hurried && is > meant+meant/100+late {
			t.Errorf("%s: p%v is %v, a schedule says %v (the machine was late by %v)", got.Name, float64(ppm)/1e4, is, meant, late)
		}
	}
	if most := want[len(want)*3/4]; most < stallFor/4 {
		t.Errorf("%s: three of four latencies are below %v: the server did not stand still", got.Name, most)
	}
}
