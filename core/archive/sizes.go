package archive

import "hyperscale/core/node"

// Sizes reports what this member holds, against its bounds.
func (a *Archive) Sizes(tell node.Tell) {
	tell("archive/files", len(a.files), a.config.FilesMax)
	tell("archive/bytes", int(a.bytes), int(a.config.BytesMax))
	tell("archive/asked", len(a.asked), a.config.FilesMax)
	tell("archive/wanted", len(a.wanted), a.config.FilesMax)
	tell("archive/failed", len(a.failed), a.config.FilesMax)
	for _, w := range a.fellows {
		if w.question != nil {
			tell("archive/polled by "+string(w.addr), len(w.question.files), a.config.FilesMax)
		}
		tell("archive/transfers to "+string(w.addr), len(w.queue), 2*a.config.FilesMax+activeMax)
	}
}
