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
	a.lacked = a.lacked[:0]
	//lint:orderfree sorted below, and counted
	for d := range named {
		if f := a.files[d]; d != (message.FileDigest{}) && (f == nil || f.disk != stored) {
			a.lacked = append(a.lacked, d)
		}
		if a.files[d] == nil && d != (message.FileDigest{}) {
			a.wanted = append(a.wanted, d)
		}
	}
	slices.SortFunc(a.lacked, func(x, y message.FileDigest) int { return bytes.Compare(x[:], y[:]) })
	slices.SortFunc(a.wanted, func(x, y message.FileDigest) int { return bytes.Compare(x[:], y[:]) })
	a.wanted = slices.Compact(a.wanted)
	a.wanted = a.wanted[:min(len(a.wanted), a.config.FilesMax)]
	if len(a.wanted) > 0 {
		env.Emit(event.Reached{What: "archive/mended"})
	}
	a.begin(env)
	a.arm(env)
}

// Lacks returns how many files this member's records named at the last Mend, and its disk has not had since. A
// minority of disks may be lost only while each member lacks none.
func (a *shelf) Lacks() (n int) {
	for _, d := range a.lacked {
		if f := a.files[d]; f == nil || f.disk != stored {
			n++
		}
	}
	return n
}

// MendAgain asks for the files of the last Mend that this disk still lacks: no peer had one, or none was reached.
func MendAgain(env node.Env, a *Archive) {
	again := false
	for _, d := range a.lacked {
		if a.files[d] == nil && !slices.Contains(a.wanted, d) {
			a.wanted, again = append(a.wanted, d), true
		}
	}
	if again {
		a.begin(env)
		a.arm(env)
	}
}
