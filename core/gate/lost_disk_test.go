package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/node"
)

// programs counts the complete files on a gate's disk.
func (m *member) programs() (n int) {
	for _, key := range m.world.Disk() {
		if strings.HasPrefix(key, "file/") && strings.HasSuffix(key, "/whole") {
			n++
		}
	}
	return n
}

// A gate that lost its disk fetches the programs that its registers name as soon as the
// registers answer. A gate that was cut off during another gate's Keep fetches them at its next
// sweep.
func TestAGateFetchesTheProgramsThatItLacks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newThree(t, rt)
		w.pass(3 * time.Second)
		first := rapid.IntRange(0, 2).Draw(rt, "gate")
		submit := func(jobs int) {
			for range jobs {
				w.keys++
				m := w.gates[(first+1)%3]
				m.world.Receive(w.stream(m, "client", node.RoleClient), m.submission(fmt.Sprintf("k%d", w.keys), []string{"a"}, 2))
				w.pump()
			}
		}
		submit(rapid.IntRange(1, 5).Draw(rt, "jobs"))
		w.pass(5 * time.Second)
		for i := range 3 {
			m := w.gates[(first+i)%3]
			w.lost = false
			w.loseDisk(m)
			w.pass(20 * time.Second) // two leases, and less than a sweep
			if n := m.programs(); n < w.keys {
				t.Fatalf("%s has %d programs 20 s after it lost its disk, want %d", m.name, n, w.keys)
			}
		}
		away := w.gates[first]
		away.cut = true
		w.depart(away)
		w.pass(3 * time.Second)
		submit(2)
		w.pass(10 * time.Second)
		if n := away.programs(); n >= w.keys {
			t.Fatalf("%s has %d programs though it is cut off", away.name, n)
		}
		keeper := w.gates[(first+1)%3] // it would offer the programs for as long as it runs
		w.depart(keeper)
		keeper.world.Crash()
		w.drop(keeper)
		w.mend()
		w.pass(70 * time.Second)
		if n := away.programs(); n < w.keys {
			t.Fatalf("%s has %d programs a sweep after it was cut off, want %d", away.name, n, w.keys)
		}
	})
}
