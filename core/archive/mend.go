package archive

import (
	"bytes"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// mendMax bounds Mend's concurrent fetches: Fetch has the other places.
const mendMax = activeMax / 2

// Mend fetches the files that this member's records name and that it lacks, after all requests
// of Fetch. If no peer has a file, the next call tries again.
//
// A majority has each kept file, but disks lost one after the other reduce that majority. A
// member that returns without its disk, or was away during the Keep, must get the file before
// the next loss.
func (a *Archive) Mend(env node.Env, named map[message.FileDigest]bool) {
	if len(a.fellows) == 0 {
		return
	}
	//lint:orderfree sorted below
	for d := range named {
		if a.files[d] == nil && d != (message.FileDigest{}) {
			a.wanted = append(a.wanted, d)
		}
	}
	slices.SortFunc(a.wanted, func(x, y message.FileDigest) int { return bytes.Compare(x[:], y[:]) })
	a.wanted = slices.Compact(a.wanted)
	a.wanted = a.wanted[:min(len(a.wanted), a.config.FilesMax)]
	if len(a.wanted) > 0 {
		env.Emit(event.Reached{What: "archive/mended"})
	}
	a.begin(env)
	a.arm(env)
}
