package host

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"hyperscale/core/event"
)

// A line of a log has each key once: JSON readers keep the last of two and lose the first.
func TestEventsKeepTheNodesOwnKeys(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&out, nil)).With(ownKeys[0], "gate-1", ownKeys[1], uint64(1))
	logEvent(l, event.MemberChanged{Group: "gates", Member: "gate-2", Incarnation: 1 << 32, To: "dead"})
	line := out.String()
	for _, want := range []string{`"node":"gate-1"`, `"incarnation":1,`, `"member":"gate-2"`, `"member_incarnation":4294967296`} {
		if !strings.Contains(line, want) {
			t.Errorf("got %s want %s in it", line, want)
		}
	}
	for _, key := range ownKeys {
		if n := strings.Count(line, `"`+key+`":`); n != 1 {
			t.Errorf("got %s with %d times %q, want it once", line, n, key)
		}
	}
}
