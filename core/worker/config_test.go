package worker

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// A configuration within its range is valid. With one value pushed out it reports one fault,
// which names that value's key and the remedy.
func TestOneFaultIsNamedAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Datacenter = strings.Repeat("d", rapid.SampledFrom([]int{1, 64}).Draw(t, "datacenter"))
		for i := range rapid.SampledFrom([]int{1, 3, 64}).Draw(t, "managers") {
			c.Managers = append(c.Managers, node.Addr(fmt.Sprintf("m%d:1", i)))
		}
		c.Cores = rapid.IntRange(1, 1024).Draw(t, "cores")
		c.Heartbeat = time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Minute)).Draw(t, "heartbeat"))
		c.Silence = 2*c.Heartbeat + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "silence"))
		c.RenewalTimeout = 2*c.Heartbeat + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "renewal"))
		c.ReconnectMax = c.ReconnectMin + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "reconnect"))
		c.OutboxMax = rapid.IntRange(1, 2000).Draw(t, "outbox")
		c.FencesMax = rapid.IntRange(1, math.MaxInt).Draw(t, "fences")
		free := map[string]*time.Duration{
			"progress_interval": &c.ProgressInterval, "kill_grace": &c.KillGrace, "result_retry": &c.ResultRetry,
			"drain_timeout": &c.DrainTimeout, "fence_age": &c.FenceAge, "sweep_interval": &c.SweepInterval,
		}
		name := rapid.SampledFrom([]string{"progress_interval", "kill_grace", "result_retry", "drain_timeout", "fence_age", "sweep_interval"}).Draw(t, "duration")
		*free[name] = time.Millisecond
		if err := c.Validate(); err != nil {
			t.Fatalf("within its range, and yet: %v", err)
		}
		outs := []struct {
			key, remedy string
			push        func()
		}{
			{"datacenter", "name the datacenter", func() { c.Datacenter = "" }}, {"datacenter", "name the datacenter", func() { c.Datacenter = strings.Repeat("d", 65) }},
			{"managers", "list the managers", func() { c.Managers = nil }}, {"managers", "list the managers", func() { c.Managers = make([]node.Addr, 65) }},
			{"cores", "physical cores", func() { c.Cores = 0 }}, {"cores", "physical cores", func() { c.Cores = 1025 }},
			{name, "leave it out", func() { *free[name] = time.Millisecond - 1 }},
			{"silence", "one lost heartbeat", func() { c.Silence = max(2*c.Heartbeat-1, time.Millisecond) }},
			{"renewal_timeout", "renews what runs", func() { c.RenewalTimeout = max(2*c.Heartbeat-1, time.Millisecond) }},
			{"reconnect_max", "raise it", func() { c.ReconnectMin = c.ReconnectMax + 1 }},
			{"outbox_max", "leave it out", func() { c.OutboxMax = 0 }}, {"outbox_max", "must be 1 to 2000", func() { c.OutboxMax = 2001 }},
			{"fences_max", "leave it out", func() { c.FencesMax = 0 }},
		}
		out := outs[rapid.IntRange(0, len(outs)-1).Draw(t, "out")]
		out.push()
		err := c.Validate()
		if err == nil {
			t.Fatalf("worker.%s is out of its range, and nothing is reported", out.key)
		}
		if faults := strings.Split(err.Error(), "\n"); len(faults) != 1 || !strings.HasPrefix(faults[0], "worker."+out.key) || !strings.Contains(faults[0], out.remedy) {
			t.Fatalf("worker.%s is out of its range; want one fault that says %q, got:\n%v", out.key, out.remedy, err)
		}
	})
}

func TestValidateNamesEveryFault(t *testing.T) {
	if err := small().Validate(); err != nil {
		t.Fatal(err)
	}
	err := Config{Cores: -1, Silence: time.Second, Heartbeat: time.Second}.Validate()
	for _, key := range []string{"datacenter", "managers", "cores", "kill_grace", "silence", "outbox_max", "fences_max"} {
		if err == nil || !strings.Contains(err.Error(), "worker."+key) {
			t.Errorf("no fault of worker.%s in %v", key, err)
		}
	}
}
