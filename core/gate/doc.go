// Package gate accepts jobs, owns them, dispatches a subjob of each to the managers of its
// datacenters, and merges what they report into one result.
//
// It places nothing on workers (core/manager does), and runs nothing. It has no consensus
// protocol of its own: core/quorum makes it a member of the group of gates. core/lease decides
// which gate owns a job. core/ledger persists a record, and the files that it names, before the
// gate acts. A job belongs to the gate that holds its register; every gate answers for a job
// that has ended.
//
// Seven subpackages decide; the layers of this package send, persist, and set timers. Package
// places holds datacenters and managers as their heartbeats describe them. Package result
// merges the reports of the datacenters into one result that fits a frame. Package queue
// decides which job runs next, and where. Package audience holds waiting requests and watchers.
// Package room says which bounds are near. Package throttle limits the dispatches of a second.
// Package job holds a job and its subjobs: their states, what a majority knows of them, when
// each is due.
//
// Layers, of which each embeds the one below it and calls no layer above it:
//
//	Machine     gives each input to its layer
//	operations  drains, stops, reports the cluster to operators
//	ownership   acts on what majorities decide: grants, confirmed writes, files
//	desk        answers clients: submit, status, watch, cancel
//	roster      hears managers: heartbeats, answers, results
//	driver      takes a job from its dispatch to its end
//	scheduler   dispatches the job whose turn has come, and reserves its cores
//	courier     brings rows to sinks
//	publisher   sends statuses and results to watchers
//	store       persists records and files
//	memory      holds jobs, places and watchers
//	base        holds the settings and the group of gates
//
// A write carries a tag that names what follows it. Once a majority has the record and its
// files, core/ledger returns the tag, and layer ownership performs it.
//
// Source: DESIGN.md, "Gate"; core/lifecycle defines the legal transitions of states.
//
// Invariants:
//
//	GATE-1 The gate puts a record's files on a majority of the configured gates, then the
//	       record. Only then does it acknowledge, publish, dispatch, or emit JobChanged.
//	GATE-2 Every act on a job is under the token of its register, inside the window of
//	       the lease. The token is the first part of its fence.
//	GATE-3 A datacenter's result counts once, and the gate rejects one under an older fence.
//	       The gate gives out no subjob epochs: it follows the highest that the datacenter's
//	       managers report under its own job epoch.
//	GATE-4 A terminal state stays: the gate answers later reports and does not count them.
//	GATE-5 Jobs, queue, keys, results, lookups, watchers, managers and datacenters are
//	       bounded. Beyond the bounds the gate rejects clients' requests with RetryAfter, and
//	       ignores further managers.
//	GATE-6 A subjob goes to another datacenter only after core/window's Guard has passed
//	       since a gate last named it there, and the record has closed it.
//	GATE-7 The gate judges a workflow's own condition (abort_when), over all datacenters. The
//	       abort is on a majority before the gate sends it, and the gate repeats it until each
//	       manager has ended the workflow.
//	GATE-8 A stopped job has the time of its after_all beyond the bounds of a stop, unless a
//	       client asks to end at once.
//	GATE-9 Ended jobs make room for new ones, the oldest first. A job that has not ended does
//	       not. The gate answers for a key, and how its job ended, until KeyAge after the end.
//	GATE-10 How a workflow ended over all datacenters is on a majority, in an order that every
//	       gate keeps, before a watcher learns it. A watcher learns each end once, after a
//	       status and before the result.
//	GATE-11 A listed dead letter was ended by the cluster, and its program can be fetched. A
//	       replay changes nothing of it. Equal replays are one job.
//	GATE-12 While the stream that carried a dispatch stands, the gate repeats it only after a
//	       patience that doubles. Repeats and dispatches take tokens of one throttle. A manager
//	       that says nothing after a dispatch gets no further one.
//	GATE-13 Best effort ends a job at its time or later, with at least as many completed
//	       datacenters as the job wants. What it leaves out is in no sum.
//	GATE-15 A sink gets a batch of rows only after a majority has the record that names it. The gate
//	       keeps the register of an ended job until each of its sinks has all, or is given up.
//	GATE-16 A gate that lacks a sink of a job hands the job over, like one that drains, to a living gate
//	       that takes jobs and has all sinks that still get rows. Without such a gate it keeps job and rows.
//	GATE-14 A client's message changes nothing that the client's certificate does not allow, and
//	       only its owner or an operator changes a job. The owner stands in the record.
//
// A gate that adopts a job publishes its last transition once more, since it cannot know
// whether any client received it. A job's time stands still while no gate owns it. Its
// managers continue meanwhile: the new owner dispatches to the manager that lists the subjob.
//
// Read config.go, machine.go, then the layers from the bottom. base: fellows.go, refuse.go;
// memory: jobs.go; store: store.go; publisher: publish.go; courier: rows.go; scheduler: queue.go; driver:
// dispatch.go, finish.go, cancel.go; roster: manager.go, result.go; desk: ask.go,
// submit.go; ownership: own.go, adopt.go; operations: operate.go. rest.go comes last.
package gate
