package registers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// archives are worlds of members that keep files, and of the streams between them.
func archives() []stage.Scenario {
	return []stage.Scenario{{
		Name:    "files",
		Doc:     "Three or five members keep files of a few bytes to dozens of kilobytes and fetch each other's, in datagrams or on the streams that they keep up between them, while streams break, half-open and fall silent, datagrams are lost, doubled, late and changed on their way, nodes crash in the middle of a write, disks fill up, and a minority of the disks is lost. Each member fetches each file that is reported as kept, to the byte; no member says that none has it; once healed all links stand.",
		Virtual: 4 * time.Minute,
		Build:   buildFiles,
	}, {
		Name:    "files-kept",
		Doc:     "Three or five members keep files on slow disks. At the moment when one learns that its file is kept, all lose power, and less than half of the disks are lost, that member's first. Every member fetches the file nevertheless.",
		Virtual: 70 * time.Second,
		Build:   buildFilesKept,
	}, {
		Name:    "files-kept-again",
		Doc:     "A member with a slow disk keeps a file while less than half of the others hear it. They have it, and lose their disks; then it keeps the same file again, before its own disk has it for the first time. At the moment when it learns that the second is kept, all lose power and its disk is lost. Every member fetches the file nevertheless: answers from before the request do not count.",
		Virtual: 70 * time.Second,
		Build:   buildFilesKeptAgain,
	}}
}

// filesWorld is a group of keepers, and the outcomes that they reported.
type filesWorld struct {
	*stage.Stage
	ids     []node.ID
	content map[message.FileDigest][]byte
	kept    []message.FileDigest // in the order of the first Kept of each
	keepers map[node.ID]*keeper
	written int
	told    func(k *keeper, ticket uint64) // called when a majority keeps a file of this keeper; may be nil
	orders  map[node.ID][]byte             // what to keep next; nil: each keeper decides
	bends   bool                           // bytes change on the network, so that another keeper's file may be wrong
}

// filesMax bounds the files of one world.
const filesMax = 60

// keeper is a role that is only a member of an archive.
type keeper struct {
	*filesWorld
	id      node.ID
	files   *archive.Archive
	links   *uplink.Links
	tickets uint64
	asked   map[uint64]message.FileDigest // fetches of files that were kept before
	has     map[message.FileDigest]bool   // fetched in this incarnation
	keeping map[uint64]bool               // tickets of files that are not kept yet
	heard   map[node.Addr]time.Duration   // the last answer on each link
}

var _ node.Machine = (*keeper)(nil)

// keepersOf builds a group of keepers and starts it.
func keepersOf(s *stage.Stage) *filesWorld {
	w := &filesWorld{Stage: s, content: map[message.FileDigest][]byte{}, keepers: map[node.ID]*keeper{}}
	n, chunk := 3+2*s.Rand.Int(2), []int{2 << 10, 4 << 10, 16 << 10}[s.Rand.Int(3)]
	s.Draw("%d members, chunks of %d bytes", n, chunk)
	var members []node.Addr
	for i := range n {
		id := node.ID(fmt.Sprintf("keeper-%d", i+1))
		w.ids = append(w.ids, addToy(s, string(id), i, sim.DriftBound, func() node.Machine { return w.keeper(id, members, chunk) }))
		members = append(members, s.World.Addr(id))
	}
	s.Groups = [][]node.ID{w.ids}
	for _, id := range w.ids {
		s.World.At(s.Rand.Duration(0, time.Second), func() { s.World.Start(id) })
	}
	s.World.At(s.Options.Virtual-time.Millisecond, w.judge)
	return w
}

// buildFilesKept crashes the nodes once, after the first file that is kept on slow disks.
func buildFilesKept(s *stage.Stage) {
	w := keepersOf(s)
	s.Fault(sim.Fault{At: 3 * time.Second, Kind: sim.FaultDiskSlow, Value: 200})
	s.World.At(5*time.Second, func() { w.told = func(k *keeper, _ uint64) { w.strike(k.id) } })
}

// strike crashes all nodes, and loses less than half of the disks, the writer's first.
func (w *filesWorld) strike(writer node.ID) {
	w.told = nil
	order := append([]node.ID{writer}, w.Choose(stage.Without(w.ids, writer), len(w.ids)-1)...)
	w.World.At(w.World.Now(), func() { w.fell(order, (len(order)-1)/2) })
}

// fell crashes nodes; the first of them lose their disks.
func (w *filesWorld) fell(nodes []node.ID, lost int) {
	for i, id := range nodes {
		w.World.Crash(id)
		if i < lost {
			w.World.Restore(id, nil)
		}
		w.World.At(w.World.Now()+500*time.Millisecond, func() { w.World.Start(id) })
	}
}

// buildFilesKeptAgain keeps one file twice, and a minority forgets it in between.
func buildFilesKeptAgain(s *stage.Stage) {
	w := keepersOf(s)
	w.orders = map[node.ID][]byte{}
	order := s.Choose(w.ids, len(w.ids))
	writer, near, far := order[0], order[1:1+len(order)/2], order[1+len(order)/2:]
	s.Fault(sim.Fault{At: 4 * time.Second, For: 26 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(far), Peers: []string{string(writer)}})
	s.Fault(sim.Fault{At: 4 * time.Second, For: 30 * time.Second, Kind: sim.FaultDiskSlow, Nodes: []string{string(writer)}, Value: 10_000})
	file := []byte(fmt.Sprintf("%d members keep this twice", len(order)))
	keep := func() { w.orders[writer] = file }
	s.World.At(5*time.Second, keep)
	s.World.At(5600*time.Millisecond, func() { w.fell(near, len(near)) })
	s.World.At(6200*time.Millisecond, keep)
	w.told = func(k *keeper, ticket uint64) {
		if ticket == 2 {
			w.strike(k.id)
		}
	}
}

func buildFiles(s *stage.Stage) {
	w := keepersOf(s)
	if w.bends = s.Rand.Chance(1, 3); w.bends {
		s.Draw("bytes change")
		s.World.Engage(w.change)
	}
	s.Swarm(fileKinds())
	n := len(w.ids)
	for _, id := range s.Choose(w.ids, n)[:s.Rand.Int((n-1)/2+1)] {
		s.Fault(sim.Fault{At: s.DrawTime(), For: s.Brief(10 * time.Second), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
}

func fileKinds() []stage.FaultKind {
	return []stage.FaultKind{
		{Kind: sim.FaultCrash, Most: 8, Longest: 20 * time.Second, Aimed: "s"},
		{Kind: sim.FaultPause, Most: 4, Longest: 20 * time.Second},
		{Kind: sim.FaultPartition, Most: 4, Longest: 30 * time.Second, Peers: true},
		{Kind: sim.FaultOneWay, Most: 4, Longest: 30 * time.Second, Peers: true},
		{Kind: sim.FaultLoss, Most: 2, Longest: time.Minute, Low: 10_000, High: 300_000, Everywhere: true},
		{Kind: sim.FaultDuplicate, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultReorder, Most: 2, Longest: time.Minute, Low: 10_000, High: 500_000, Everywhere: true},
		{Kind: sim.FaultLate, Most: 2, Longest: time.Minute, Low: 10_000, High: 300_000, Everywhere: true},
		{Kind: sim.FaultHalfOpen, Most: 6, Low: 0, High: 1, Peers: true},
		{Kind: sim.FaultBreakStreams, Most: 6, Everywhere: true},
		{Kind: sim.FaultDiskSlow, Most: 3, Longest: 30 * time.Second, Low: 2, High: 2_000},
		{Kind: sim.FaultDiskFull, Most: 2, Longest: 20 * time.Second},
		{Kind: sim.FaultDiskLostWrites, Most: 2, Longest: time.Minute, Everywhere: true},
		{Kind: sim.FaultDiskTorn, Most: 2, Longest: time.Minute, Everywhere: true},
	}
}

// change flips a byte of one chunk in twenty, until all is healed.
func (w *filesWorld) change(l sim.Letter) bool {
	m, ok := l.Message.(*message.FileChunk)
	if !ok || w.World.Now() >= w.Heal || !w.Rand.Chance(1, 20) {
		return false
	}
	bent := *m
	bent.Data = bytes.Clone(m.Data)
	bent.Data[w.Rand.Int(len(bent.Data))] ^= 1
	l.Message = &bent
	w.World.Deliver(l, w.World.Now()+time.Millisecond)
	return true
}

// judge reports what is still missing at the end.
func (w *filesWorld) judge() {
	for _, id := range w.ids {
		k := w.keepers[id]
		for _, d := range w.kept {
			if !k.has[d] {
				w.violate(id, "T11", "it has not fetched file %v, which was kept", d)
				break
			}
		}
		for _, l := range k.links.All() {
			if w.World.Now()-k.heard[l.Addr] > 10*time.Second {
				w.violate(id, "T11", "its link to %s is not answered", l.Addr)
			}
		}
		if len(k.keeping) > 0 {
			w.violate(id, "T11", "%d files are not kept yet", len(k.keeping))
		}
	}
}

func (w *filesWorld) violate(id node.ID, invariant, format string, args ...any) {
	w.Checker.Violate(invariant, checker.Record{At: w.World.Now(), Node: id}, "%s", fmt.Sprintf(format, args...))
}

func (w *filesWorld) keeper(id node.ID, members []node.Addr, chunk int) *keeper {
	k := &keeper{filesWorld: w, id: id, asked: map[uint64]message.FileDigest{}, has: map[message.FileDigest]bool{},
		keeping: map[uint64]bool{}, heard: map[node.Addr]time.Duration{}}
	up := uplink.Default()
	up.Role, up.Beats = node.RoleToy, true
	k.links = uplink.New(up, members)
	c := archive.Default()
	c.Group, c.Self, c.Members, c.ChunkBytes = "files", w.World.Addr(id), members, chunk
	k.files = archive.New(c, k.links)
	w.keepers[id] = k
	return k
}

// Step implements node.Machine.
func (k *keeper) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		k.files.Start(env)
		k.links.Start(env)
		k.later(env)
	case node.InputStreamOpened:
		k.links.Opened(env, in)
	case node.InputStreamBroken:
		k.links.Broken(env, in)
	case node.InputMessage:
		switch {
		case uplink.AnswerBeat(env, in):
		case k.links.Receive(env, in):
			k.heard[in.From.Addr] = k.World.Now()
		default:
			k.files.Receive(env, in.From, in.Message)
		}
	case node.InputStored:
		k.files.Stored(env, in)
	case node.InputTimer:
		if in.Timer.Part == node.PartRegister {
			k.act(env)
			k.later(env)
		} else if !k.links.Fire(env, in.Timer) {
			k.files.Fire(env, in.Timer)
		}
	case node.InputStop:
		env.Halt("")
	}
	k.heed(env)
}

func (k *keeper) later(env node.Env) {
	longest := 2 * time.Second
	if k.orders != nil {
		longest = 300 * time.Millisecond
	}
	env.SetTimer(node.Key(node.PartRegister, registerAct), env.Rand(node.PurposeToy).Duration(200*time.Millisecond, longest))
}

// act keeps a new file, now and then an old one, or fetches one that it lacks.
func (k *keeper) act(env node.Env) {
	r := env.Rand(node.PurposeToy)
	healed := k.World.Now() >= k.Heal
	if b := k.orders[k.id]; b != nil {
		delete(k.orders, k.id)
		k.tickets++
		k.keeping[k.tickets] = true
		k.content[k.files.Keep(env, bytes.Clone(b), k.tickets)] = b
	}
	if k.orders != nil && !healed {
		return
	}
	k.tickets++
	switch n := r.Int(8); {
	case n < 2 && !healed && k.written < filesMax:
		k.written++
		b := make([]byte, 1+r.Int([]int{100, 3_000, 40_000}[r.Int(3)]))
		for i := range b {
			b[i] = byte(r.Uint64())
		}
		b = binary.BigEndian.AppendUint64(b, uint64(k.written))
		k.keeping[k.tickets] = true
		k.content[k.files.Keep(env, b, k.tickets)] = bytes.Clone(b)
	case n == 2 && len(k.kept) > 0 && !healed:
		d := k.kept[r.Int(len(k.kept))]
		k.files.Keep(env, bytes.Clone(k.content[d]), k.tickets)
	case n == 3 && len(k.kept) > 0 && !healed:
		k.ask(env, k.kept[r.Int(len(k.kept))], k.files.Borrow)
	default:
		if i := slices.IndexFunc(k.kept, func(d message.FileDigest) bool { return !k.has[d] }); i >= 0 {
			for _, d := range k.kept[i:min(i+8, len(k.kept))] {
				k.tickets++
				k.ask(env, d, k.files.Fetch)
			}
		}
	}
}

func (k *keeper) ask(env node.Env, d message.FileDigest, how func(node.Env, message.FileDigest, uint64)) {
	k.asked[k.tickets] = d
	how(env, d, k.tickets)
}

// heed judges the archive's outcomes.
func (k *keeper) heed(env node.Env) {
	for _, o := range k.files.Take() {
		if o.Kind == archive.Kept && k.told != nil {
			k.told(k, o.Ticket)
		}
		if o.Kind != archive.Fetched {
			delete(k.keeping, o.Ticket)
		}
		switch {
		case o.Kind == archive.Kept && !slices.Contains(k.kept, o.File):
			k.kept = append(k.kept, o.File)
		case o.Kind == archive.Fetched:
			k.has[o.File] = true
			if !bytes.Equal(o.Bytes, k.content[o.File]) {
				k.violate(k.id, "T8", "file %v was fetched, and is not what was kept", o.File)
			}
		case o.Kind == archive.Failed && errors.Is(o.Err, archive.ErrDigest) && !k.bends:
			k.violate(k.id, "T8", "file %v arrived otherwise than it was kept, and no byte changes here: %v", o.File, o.Err)
		case o.Kind == archive.Failed && k.asked[o.Ticket] == o.File && errors.Is(o.Err, archive.ErrMissing):
			k.violate(k.id, "T8", "file %v was kept, and is missing: %v", o.File, o.Err)
		}
	}
}
