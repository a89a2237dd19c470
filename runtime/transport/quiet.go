package transport

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// quietMax bounds how many keys are remembered; quietFor is how long one of them
// is not logged again.
const (
	quietMax = 4096
	quietFor = time.Minute
)

// quiet logs faults of peers, at most once a minute for each source, and for each reason of a target. So no peer can
// fill a disk through our log, and a retry every second does not hide other lines. It counts
// also what it does not log.
type quiet struct {
	logger *slog.Logger

	mu    sync.Mutex
	seen  map[string]time.Time
	swept time.Time // when old keys were last looked for: a flood of sources must not search them each time
}

// source logs a fault of a source. A source is one host, separately for streams and datagrams,
// as the two show different faults of a stranger.
func (q *quiet) source(text string, from net.Addr, err error) {
	host, _, splitErr := net.SplitHostPort(from.String())
	if splitErr != nil {
		host = from.String()
	}
	if q.first("from "+from.Network()+" "+host, time.Now()) {
		q.logger.Warn(text, "from", from.String(), "error", err.Error(), "quiet_for", quietFor)
	}
}

// target logs that a target was not reachable, and another reason at once: it may be the one that stays.
func (q *quiet) target(text, to, why string) {
	if q.first("to "+to+" "+why, time.Now()) {
		q.logger.Warn(text, "to", to, "error", why, "quiet_for", quietFor)
	}
}

func (q *quiet) first(key string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last, ok := q.seen[key]; ok && now.Sub(last) < quietFor {
		return false
	}
	if len(q.seen) >= quietMax {
		if now.Sub(q.swept) < time.Second {
			return false
		}
		q.swept = now
		for k, last := range q.seen {
			if now.Sub(last) >= quietFor {
				delete(q.seen, k)
			}
		}
		if len(q.seen) >= quietMax {
			return false // thousands of sources in a minute: the counters tell
		}
	}
	q.seen[key] = now
	return true
}
