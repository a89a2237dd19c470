package archive

import (
	"bytes"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// mendMax is how many files Mend brings at a time: Fetch has the other places.
const mendMax = activeMax / 2

// Mend fetches the files that this member's records name and that it does not have,
// after all that Fetch asks for. A file that no peer has waits for the next call.
//
// A majority has a kept file, but lost disks, one after the other, wear that majority
// down: a member that returns without its disk, or was away during the Keep, has to
// get the file before the next disk is lost.
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
