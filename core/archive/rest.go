package archive

import "hyperscale/core/node"

// Rests reports this member's ledgers against their rest: no file is on its way. Whole files
// remain until Sweep or Drop. A file that a peer offers counts against that peer, which repeats
// the offer while its chunks are lost.
func (a *Archive) Rests(tell node.Tell) {
	tell("archive/asked", len(a.asked), 0)
	tell("archive/wanted", len(a.wanted), 0)
	tell("archive/fetching", a.fetching, 0)
	tell("archive/failed", len(a.failed), 0)
	tell("archive/writes", len(a.writes), 0)
	tell("archive/outcomes", len(a.outcomes), 0)
	bytes, offered, askers, chunks, fetches, keeps := int64(0), 0, 0, 0, 0, 0
	asked := map[node.Addr]int{} // files that this peer offers, and that this member's disk does not have whole
	//lint:orderfree sums
	for _, f := range a.files {
		bytes += int64(f.length)
		askers += len(f.askers)
		for _, o := range f.askers {
			asked[o.addr]++
		}
		if f.bytes != nil || len(f.askers) == 0 {
			chunks += len(f.chunks)
		}
		if f.bytes == nil && len(f.askers) > 0 {
			offered++
		}
		if f.fetch != nil {
			fetches += 1 + len(f.fetch.tickets)
		}
		if f.keep != nil {
			keeps += len(f.keep.tickets) + len(f.keep.later)
			if !f.keep.done {
				keeps++
			}
		}
	}
	tell("archive/bytes of no file", node.Leak(int(a.bytes), int(bytes)), 0)
	tell("archive/chunks", chunks, 0)
	tell("archive/arriving", len(a.arriving)-offered, 0)
	tell("archive/fetches", fetches, 0)
	tell("archive/keeps", keeps, 0)
	for _, w := range a.fellows {
		tell("archive/transfers to "+string(w.addr), len(w.queue)+len(w.transfers), 0)
		tell("archive/answers to "+string(w.addr), asked[w.addr], 0)
		askers -= asked[w.addr]
	}
	tell("archive/askers", askers, 0)
}
