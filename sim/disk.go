package sim

import (
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
)

type put struct {
	records []node.Record
	writeID node.WriteID
}

// disk is one node's disk. It outlives incarnations.
type disk struct {
	Disk
	p       *process
	rand    *node.Rand
	records map[string][]byte
	syncing []put // puts of the running sync
	waiting []put // puts for the next sync
	done    []put // memory of the last sync
	slow    int64 // factor on latency
	full    int   // number of faults that make it full
	lossy   int   // number of faults that make a crash lose all unsynced puts
	torn    int   // number of faults that make a crash lose only the end of the unsynced puts
}

// apply makes a Put durable.
func (d *disk) apply(p put) {
	for _, r := range p.records {
		if r.Value == nil {
			delete(d.records, r.Key)
		} else {
			d.records[r.Key] = r.Value
		}
	}
}

func (d *disk) latency() time.Duration {
	return (d.Latency + time.Duration(d.rand.N(uint64(d.Jitter)+1))) * time.Duration(d.slow)
}

// crash ends the writes under way. A prefix of the Puts survives.
func (d *disk) crash(clean bool) {
	unsynced := slices.Concat(d.syncing, d.waiting)
	d.syncing, d.waiting = nil, nil
	if d.full > 0 || len(unsynced) == 0 {
		return
	}
	kept := len(unsynced)
	if !clean {
		kept = d.survivors(len(unsynced))
	}
	for _, p := range unsynced[:kept] {
		d.apply(p)
	}
}

func (d *disk) survivors(n int) int {
	switch {
	case d.lossy > 0:
		return 0
	case d.torn > 0:
		return 1 + d.rand.Int(n)
	case d.rand.Chance(uint64(d.LostPPM), million):
		return 0
	}
	return d.rand.Int(n + 1)
}

func (d *disk) wipe() { clear(d.records) }

// Image returns what is on a node's disk, as a backup does. The caller may replace values but
// must not change them.
func (w *World) Image(id node.ID) map[string][]byte { return maps.Clone(w.find(id).disk.records) }

// Restore puts an image on the disk of a node that does not run; nil wipes it.
func (w *World) Restore(id node.ID, image map[string][]byte) {
	p := w.find(id)
	if p.alive() {
		node.Bug("sim: %v runs, its disk cannot be restored", p.peer)
	}
	p.disk.wipe()
	maps.Copy(p.disk.records, image)
}

// Put implements node.Store.
func (d *disk) Put(records []node.Record, t node.WriteID) {
	p := d.p
	w := p.w
	digest := uint64(len(records))
	for _, r := range records {
		if r.Key == "" || len(r.Key) > 256 || len(r.Value) > 1<<20 {
			node.Bug("sim: %v puts a record %q of %d bytes, outside the bounds of a store", p.peer, r.Key, len(r.Value))
		}
		digest = node.MixBytes(node.MixString(digest, r.Key), r.Value)
	}
	w.trace.fold(uint64(t), uint64(p.index)<<8|foldEffect|uint64(EffectPut), digest)
	if w.trace.watch&WantEffects != 0 {
		w.trace.observer.Effect(w.now, p.peer.ID, &Effect{Kind: EffectPut, WriteID: t, Records: records})
	}
	d.waiting = append(d.waiting, put{records, t})
	if len(d.syncing) == 0 {
		d.sync()
	}
}

// sync starts a sync of all waiting puts.
func (d *disk) sync() {
	p := d.p
	d.syncing, d.waiting = d.waiting, d.syncing[:0]
	_, e := p.w.queue.add(p.leaves()+d.latency(), eventSynced)
	e.node, e.life = p.index, p.life
}

// onSynced completes the Puts of a sync in their order.
func (d *disk) onSynced(e *event) {
	p := d.p
	if p.life != e.life || !p.alive() {
		return
	}
	if p.bars.has(barAimed) && p.look.written(aimStoring, d.syncing) {
		return
	}
	d.done = append(d.done[:0], d.syncing...)
	done := d.done
	clear(d.syncing)
	d.syncing = d.syncing[:0]
	var err error
	if d.full > 0 {
		err = ErrDiskFull
	}
	for _, x := range done {
		if err == nil {
			d.apply(x)
		}
	}
	if p.bars.has(barAimed) && err == nil && p.look.written(aimStored, done) {
		return
	}
	if len(d.waiting) > 0 {
		d.sync()
	}
	for _, x := range done {
		if p.alive() && p.life == e.life { // a step may have ended the node
			p.hand(node.Input{Kind: node.InputStored, WriteID: x.writeID, Err: err})
		}
	}
}

// Load implements node.Store.
func (d *disk) Load(prefix string) []node.Record {
	if d.p.phase&phaseStart == 0 {
		node.Bug("sim: %v loads %q outside InputStart", d.p.peer, prefix)
	}
	var found []node.Record
	for _, k := range slices.Sorted(maps.Keys(d.records)) {
		if strings.HasPrefix(k, prefix) {
			found = append(found, node.Record{Key: k, Value: slices.Clone(d.records[k])})
		}
	}
	return found
}
