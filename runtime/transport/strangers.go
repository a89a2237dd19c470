package transport

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// strangersMax bounds how many sources are remembered; strangersPause is how
// long one of them is not logged again.
const (
	strangersMax   = 4096
	strangersPause = time.Minute
)

// strangers logs what unknown sources send, once a source and minute, so that
// nobody can fill a disk through us. What is not logged is still counted.
type strangers struct {
	logger *slog.Logger

	mu   sync.Mutex
	seen map[netip.Addr]time.Time
}

func (s *strangers) log(text string, from net.Addr, err error) {
	if !s.first(addrOf(from), time.Now()) {
		return
	}
	s.logger.Warn(text, "from", from.String(), "error", err.Error(), "quiet_for", strangersPause)
}

func (s *strangers) first(from netip.Addr, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[from]; ok && now.Sub(last) < strangersPause {
		return false
	}
	if len(s.seen) >= strangersMax {
		for a, last := range s.seen {
			if now.Sub(last) >= strangersPause {
				delete(s.seen, a)
			}
		}
		if len(s.seen) >= strangersMax {
			return false // thousands of sources in a minute: the counters tell
		}
	}
	s.seen[from] = now
	return true
}

func addrOf(a net.Addr) netip.Addr {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.AddrPort().Addr().Unmap()
	case *net.UDPAddr:
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
