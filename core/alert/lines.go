package alert

import (
	"fmt"

	"hyperscale/core/node"
)

// Line is a stream to a peer; zero is none.
type Line struct {
	Peer   node.ID
	Stream node.StreamID
}

// Lines reads how much waits to be written on the fullest of a node's streams.
type Lines struct {
	worst node.ID
	bytes int
}

// Read reads all streams.
func (l *Lines) Read(n node.Network, lines []Line) Reading {
	r := Calm
	*l = Lines{}
	for _, x := range lines {
		if x.Stream == 0 {
			continue
		}
		if bytes, bound := n.Backlog(x.Stream); bound > 0 {
			if bytes > l.bytes {
				*l = Lines{x.Peer, bytes}
			}
			r = max(r, Of(bytes, bound/2, bound/4))
		}
	}
	return r
}

// Why names the fullest stream of the last Read.
func (l *Lines) Why() string {
	if l.worst == "" {
		return "nothing waits to be written"
	}
	return fmt.Sprintf("%d KiB wait to be written to %s", l.bytes>>10, l.worst)
}
