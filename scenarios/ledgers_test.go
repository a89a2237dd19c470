package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"hyperscale/core/client"
	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/netsim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// remain are ledgers whose entries remain after the end, though a lone one is no rest.
var remain = map[string]bool{
	"gate.memory.jobs":       true, // an ended one is in job.History.ended too
	"places.Places.managers": true, // a known one is in its datacenter too
	"places.Places.list":     true, // a known one is in Places.datacenters too
}

// unreported are the maps and slices of machines and subjobs that no Rests reports, each with
// the reason why it cannot leak.
var unreported = map[string]string{
	"client.gates.cached":       "configured, and gone once they are asked",
	"discovery.Names.names":     "configured",
	"discovery.Pool.peers":      "the gates that a client knows: Sizes bounds them by GatesMax",
	"discovery.name.candidates": "those of the newest answer, in place of the one before: CandidatesMax",
	"audience.Audience.greeted": "one entry of each client's stream, until that breaks; Sizes bounds them by WatchersMax",
	"level.Level.old":           "one entry of each configured member",
	"level.Level.said":          "one entry of each configured member",
	"level.Level.told":          "one entry of each configured member",
	"pace.Pace.out":             "each leaves with its answer, or after its patience; the pace's count bounds them",
	"pace.Pace.waiting":         "the same dispatches as Pace.waits, which Rests reports",
	"job.Job.Aborts":            "part of the record of a job, remembered until KeyAge; one of each workflow",
	"job.Outcome.Freed":         "part of the record of a job, gone once its files are; one of each subjob and the program",
	"record.Left.Unknown":       "of jobs, whose records bound it",
	"record.Letter.Unknown":     "of jobs, whose records bound it",
	"job.Outcome.behindUnknown": "of jobs, whose records bound it",
	"job.Rows.Streams":          "part of the record of a job, remembered until KeyAge; one of each sink, at most output.SinksMax",
	"job.Rows.Deliveries":       "one of each sink of a job; Rests reports those that a host has",
	"job.Rows.unknown":          "of jobs, whose records bound it",
	"output.Ledger.parts":       "one of each workflow in each datacenter, gone once the sink has all",
	"output.Row.Tags":           "no gate sets it",
	"output.Stream.pending":     "8 windows, or 1 MiB and one, gone with the next batch",
	"output.sending.file":       "at most output.BatchMax, gone once the sink has it",
	"record.Sink.Unknown":       "of jobs, whose records bound it",
	"job.Outcome.Behind":        "part of the record of a job, remembered until KeyAge; one of each workflow in each datacenter that the job left",
	"job.Ends.list":             "part of the record of a job, remembered until KeyAge; one of each workflow in each datacenter that ran it",
	"record.Ended.Unknown":      "of jobs, whose records bound it",
	"queue.Wish.Preferred":      "of the submission, remembered with the job until KeyAge",
	"job.Job.Closed":            "part of the record of a job, remembered until KeyAge; one of each datacenter",
	"queue.Turn.Named":          "part of the record of a job, remembered until KeyAge",
	"job.Job.Subjobs":           "part of the record of a job, remembered until KeyAge; Rests tells what each holds",
	"job.Round.Asked":           "managers of one datacenter, remembered with the job until KeyAge",
	"places.Manager.doubts":     "the newest heartbeat's, in place of the one before; the codec bounds it",
	"places.Manager.workers":    "the newest heartbeat's, in place of the one before; the codec bounds it",
	"places.Manager.alerts":     "the list of a manager's last word, of at most a dozen",
	"place.Ranking.known":       "one entry of each worker that can be given shards: roster.Roster.workers has it",
	"roster.Roster.workers":     "registered ones remain; Rests tells what each holds",
	"roster.Roster.sorted":      "the workers of Roster.workers in their order",
	"archive.shelf.files":       "whole files remain until Sweep or Drop; Sizes bounds them, and Rests tells what each holds",
	"archive.file.bytes":        "the file itself, counted in shelf.bytes",
	"archive.poll.free":         "fellows of one file's poll, dropped with the file or the next poll; one of each configured at most",
	"archive.question.files":    "the last question of each fellow, until the next Sweep answers it; onSweep bounds it by FilesMax",
	"cores.Cores.slots":         "one entry of each core, configured; Rests tells which have holders",
	"client.gates.all":          "gates are never forgotten; Sizes bounds them by GatesMax",
	"swim.buffer.sent":          "memory of the last letter that the next one uses again; a datagram bounds it",
	"swim.buffer.spots":         "memory of the last letter that the next one uses again; Waiting's bound holds for it",
	"lease.Outcome.Record":      "of seat.taken",
	"lease.disks.gens":          "one entry of each member",
	"lease.seat.names":          "configured",
	"lease.remarks.note":        "one note of this member",
	"lease.remarks.notes":       "one entry of each member",
	"seats.Set.Members":         "one entry of each seat",
	"seats.Set.Ordinals":        "one entry of each seat",
	"seats.Set.Retired":         "bounded by retiredMax",
	"gate.seatAsk.of":           "one entry of each datacenter, until the next order",
	"gate.wanted.cores":         "one entry of each datacenter, until the gate forgets it",
	"quorum.Member.ears":        "one entry of each member",
	"uplink.Link.set":           "bounded by setMax, of each link",
	"archive.shelf.lacked":      "made anew at each Mend, which FilesMax bounds",
	"quorum.change.waits":       "one entry of each member",
	"quorum.change.ended":       "handed out within the step that ended it",
	"lease.Note.Text":           "the newest note of a member, in place of the one before; the codec bounds it",
	"lease.disks.told":          "one entry of each member",
	"lease.disks.claims":        "one entry of each member",
	"lease.floor.of":            "one entry of each member",
	"election.trust.said":       "one entry of each member",
	"lease.mail.out":            "one entry of each member; Rests tells the frames of each",
	"lease.membership.peers":    "one entry of each member",
	"tomb.Yard.buckets":         "tombstones remain for TombstoneAge; Sizes bounds them",
	"tomb.Yard.ages":            "one of each tombstone, and those that trim drops; Sizes bounds them",
	"tomb.Yard.lives":           "one entry of each run of a member, at most 65536",
	"lease.seat.set":            "configured",
	"lease.seat.taken":          "the memory of outcomes, cleared by the next Take",
	"lease.seat.unknown":        "fields of one record on disk, which record.UnknownMax bounds",
	"lease.writes.scratch":      "memory of one record that is encoded, which RecordMax bounds",
	"lease.outbox.spare":        "memory of the last frames of a member to itself, always empty",
	"manager.holdings.ended":    "remembered until Retention; Sizes bounds them by FinishedMax",
	"manager.gateSide.names":    "configured",
	"manager.holdings.gone":     "remembered until Retention; Sizes bounds them by FinishedMax",
	"job.Abort.unknown":         "of jobs, whose records bound it",
	"job.Course.lastUnknown":    "of jobs, whose records bound it",
	"job.Newer.Files":           "of jobs, whose records bound it",
	"job.Newer.Unknown":         "of jobs, whose records bound it",
	"job.Subjob.unknown":        "of jobs, whose records bound it",
	"archive.Outcome.Bytes":     "of quorum.round.files",
	"quorum.round.changes":      "handed out within the step that took them",
	"quorum.round.files":        "handed out within the step that took them",
	"quorum.round.leases":       "handed out within the step that took them",
	"quorum.round.votes":        "handed out within the step that took them",
	"ring.Ring.members":         "configured",
	"ring.Ring.points":          "configured",
	"swim.members.seeds":        "configured",
	"swim.tracker.spare":        "the memory of changes, in use again after the next Take",
	"swim.Member.App":           "of tracker.spare",
	"swim.app.bytes":            "what a member says of itself, in place of what it said before",
	"swim.round.asked":          "of the newest round alone",
	"swim.round.nacks":          "of the newest round alone",
	"swim.Names.block":          "memory of identities, which a block bounds",
	"swim.Names.shared":         "nil but in simulated worlds, whose members bound it",
	"swim.table.index":          "the index of records",
	"fences.Resting.list":       "fences remain until FenceAge; Sizes bounds them by FencesMax",
	"queue.Crowd.within":        "the subjects of sources that hold places: Rests counts them with the sources",
}

// Each map and slice of a machine and its subjobs changes what Rests reports, or is in
// unreported: so a new field cannot be forgotten.
func TestEveryLedgerIsTold(t *testing.T) {
	told, all := map[string]bool{}, map[string]bool{}
	for _, m := range rested() {
		walk := &walk{told: told, all: all, rests: m.(node.Rester).Rests}
		walk.enter(reflect.ValueOf(m).Elem(), nil)
	}
	for _, field := range slices.Sorted(maps.Keys(all)) {
		switch why, excepted := unreported[field]; {
		case told[field] && excepted:
			t.Errorf("%s is reported by Rests: remove it from unreported", field)
		case !told[field] && !excepted:
			t.Errorf("%s is reported by no Rests: report it with its rest, or name it in unreported with the reason for which it cannot leak", field)
		case excepted && why == "":
			t.Errorf("%s has no reason", field)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(unreported)) {
		if !all[field] {
			t.Errorf("%s is in unreported and in no machine", field)
		}
	}
}

// rested returns one started machine of each role; none reaches another.
func rested() []node.Machine {
	w := sim.New(sim.Config{Seed: 1, Network: netsim.Default()})
	var all []node.Machine
	add := func(id node.ID, r node.Role, cores int, made func() node.Machine) {
		w.Add(sim.Spec{ID: id, Role: r, Place: stage.Datacenter(0), Cores: cores, Model: sim.DefaultModel(), New: func() node.Machine {
			all = append(all, made())
			return all[len(all)-1]
		}})
		w.Start(id)
	}
	add("gate", node.RoleGate, 0, func() node.Machine { return gate.New(gate.Default()) })
	const nowhere = "nowhere:1"
	add("manager", node.RoleManager, 0, func() node.Machine {
		c := manager.Default()
		c.Datacenter, c.Gates = stage.Datacenter(0), []node.Addr{nowhere}
		return manager.New(c)
	})
	add("worker", node.RoleWorker, 2, func() node.Machine {
		c := worker.Default()
		c.Datacenter, c.Managers, c.Cores = stage.Datacenter(0), []node.Addr{nowhere}, 2
		return worker.New(c)
	})
	add("client", node.RoleClient, 0, func() node.Machine {
		c := client.Default()
		c.Gates = []node.Addr{nowhere}
		return client.New(c)
	})
	w.RunUntil(5 * time.Second)
	return all
}

// walk visits the fields of a machine, and of everything that its fields lead to.
type walk struct {
	told, all map[string]bool // fields that are maps or slices
	rests     func(node.Tell)
}

// says returns what Rests reports now, and how many ledgers are not at rest.
func (w *walk) says() (all string, over int) {
	var b strings.Builder
	w.rests(func(what string, n, rest int) {
		fmt.Fprintln(&b, what, n, rest)
		if n > rest {
			over++
		}
	})
	return b.String(), over
}

// enter visits a struct that the machine holds now. It does not enter a type from within
// itself.
func (w *walk) enter(s reflect.Value, path []reflect.Type) {
	if slices.Contains(path, s.Type()) || len(path) > 16 {
		return
	}
	path = append(slices.Clone(path), s.Type())
	for i := range s.NumField() {
		f := s.Field(i)
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem() // also of unexported fields
		name, _, _ := strings.Cut(s.Type().String(), "[")
		w.visit(f, name+"."+s.Type().Field(i).Name, path)
	}
}

// visit puts one item into a field, checks whether Rests then reports another sum, visits that
// item, and removes it again. It does not visit what never exists at rest.
func (w *walk) visit(f reflect.Value, name string, path []reflect.Type) {
	if f.Kind() == reflect.Struct {
		w.inside(f, path)
		return
	}
	was := reflect.New(f.Type()).Elem()
	was.Set(f)
	defer func() { f.Set(was) }()
	switch f.Kind() {
	case reflect.Map, reflect.Slice:
		w.all[name] = true
		f.SetZero()
	case reflect.Pointer:
		if !ours(f.Type().Elem()) {
			return
		}
	default:
		return
	}
	before, under := w.says()
	switch f.Kind() {
	case reflect.Slice:
		f.Set(reflect.Append(f, one(f.Type().Elem())))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
		f.SetMapIndex(one(f.Type().Key()), one(f.Type().Elem()))
	case reflect.Pointer:
		if f.IsNil() {
			f.Set(one(f.Type()))
		}
	}
	after, over := w.says()
	w.told[name] = w.told[name] || after != before
	if over <= under || remain[name] {
		w.inside(f, path)
	}
}

// inside visits a struct, the one behind a pointer, or the only one of a map or slice.
func (w *walk) inside(f reflect.Value, path []reflect.Type) {
	switch f.Kind() {
	case reflect.Map:
		for at := f.MapRange(); at.Next(); {
			if v := at.Value(); v.Kind() == reflect.Pointer {
				w.inside(v, path)
			} else if ours(v.Type()) { // the value of a map is a copy, and no Rests reports its content
				w.enter(reflect.New(v.Type()).Elem(), path)
			}
		}
	case reflect.Slice:
		if f.Len() > 0 {
			w.inside(f.Index(0), path)
		}
	case reflect.Pointer:
		if !f.IsNil() {
			w.inside(f.Elem(), path)
		}
	case reflect.Struct:
		if ours(f.Type()) {
			w.enter(f, path)
		}
	}
}

// ours reports structs of core that machines consist of; messages and configurations are data.
func ours(t reflect.Type) bool {
	const core = "hyperscale/core/"
	p := t.PkgPath()
	return t.Kind() == reflect.Struct && strings.HasPrefix(p, core) && p != core+"message" && p != core+"node" && !strings.HasSuffix(t.Name(), "Config")
}

// one returns a value of a type: a pointer points to something.
func one(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem())
	}
	return reflect.New(t).Elem()
}
