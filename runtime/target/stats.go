package target

import (
	"maps"
	"strconv"
)

// maxPaths bounds the counters by path; requests to further ones count as "other".
const (
	maxPaths   = 1000
	maxPathLen = 256
	statusEnd  = 600
	pathOther  = "other" // no path is called so: they begin with a slash or are "*"
)

// Stats is the answer of GET /__stats.
type Stats struct {
	Requests    uint64            `json:"requests"`  // that came whole, bodies included, and were valid
	Responses   uint64            `json:"responses"` // taken whole by the kernel
	BytesIn     uint64            `json:"bytes_in"`  // of those requests, heads and bodies
	BytesOut    uint64            `json:"bytes_out"` // of those responses
	Connections uint64            `json:"connections"`
	Statuses    map[string]uint64 `json:"statuses"` // those responses, by status
	Paths       map[string]uint64 `json:"paths"`    // without queries
	Messages    uint64            `json:"messages"` // of WebSocket, that came whole, lines that the TCP listener repeats, and datagrams that the UDP socket repeats
}

// counters are the Stats so far. Epoch distinguishes requests from before a reset.
type counters struct {
	Stats
	judged   uint64 // requests whose fate was decided: over HTTP/2 later than they came, or never
	statuses [statusEnd]uint64
	paths    map[string]*uint64
	lastPath string
	last     *uint64
	epoch    uint32
}

func newCounters(epoch uint32) counters {
	return counters{paths: map[string]*uint64{}, epoch: epoch}
}

// request counts one that has come.
func (c *counters) request(path []byte, size int) {
	if c.last == nil || string(path) != c.lastPath {
		c.lastPath, c.last = c.slot(path)
	}
	*c.last++
	c.Requests++
	c.BytesIn += uint64(size)
}

func (c *counters) slot(path []byte) (string, *uint64) {
	if slot, ok := c.paths[string(path)]; ok {
		return string(path), slot
	}
	name := string(path)
	if len(path) > maxPathLen || len(c.paths) >= maxPaths {
		name = pathOther
		if slot, ok := c.paths[name]; ok {
			return name, slot
		}
	}
	slot := new(uint64)
	c.paths[name] = slot
	return name, slot
}

func (c *counters) snapshot() Stats {
	s := c.Stats
	s.Statuses = map[string]uint64{}
	for status, n := range c.statuses {
		if n > 0 {
			s.Statuses[strconv.Itoa(status)] = n
		}
	}
	s.Paths = maps.Collect(func(yield func(string, uint64) bool) {
		for path, n := range c.paths {
			if !yield(path, *n) {
				return
			}
		}
	})
	return s
}
