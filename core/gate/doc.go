// Package gate accepts jobs, owns them, sends a part of each to the managers of
// its datacenters, and makes one result of what they send back.
//
// It does not place anything on workers (core/manager does), runs nothing, and is
// no consensus of its own: who owns a job is decided by registers (core/lease),
// what a record names is kept by core/archive, whose turn it is by core/ring, who
// lives by core/swim, who keeps house by core/election, how well this gate itself
// does by core/health. A job belongs to the gate that holds its register; any gate
// tells of a job that has ended.
//
// Values decide, the layers wire them: they send, persist, and set timers. Package
// places holds datacenters and managers as their heartbeats describe them; result makes
// one result of what datacenters report, and fits it into a frame; queue decides which job
// runs next, and where; audience holds waiting requests and watchers; job holds a job and
// its subjobs: their states, what a majority knows of them, when each is due.
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
//	publisher   sends statuses and results to watchers
//	store       persists records and files
//	memory      holds jobs, places and watchers
//	base        holds the settings and the group of gates
//
// A layer learns from above what a write led to: a tag names what follows, and the
// ownership performs it once a majority has the record.
//
// Source: DESIGN.md, "Jobs and fences"; the registers' own page; core/lifecycle holds
// the law of states.
//
// Invariants:
//
//	GATE-1 A job is acknowledged, a state is told, a dispatch is sent only after the
//	       files that the record names, and then the record that says so, are on a
//	       majority of the configured gates; JobChanged is emitted at that moment.
//	GATE-2 Every act on a job is under the token of its register, inside the window of
//	       the lease, and carries the token as the first part of its fence.
//	GATE-3 A datacenter's result counts once; what comes under an older fence is
//	       refused by its fence. The gate gives out no manager epochs: it follows the
//	       highest that the datacenter's managers tell under its own job epoch.
//	GATE-4 A terminal state stays: what comes later is answered and not counted.
//	GATE-5 Jobs, queue, keys, results, lookups, watchers, managers and datacenters are
//	       bounded; beyond the bounds requests are refused with RetryAfter.
//	GATE-6 A subjob goes to another datacenter only when core/window's Guard has passed
//	       since a gate last named it there, and the record has closed it.
//	GATE-7 A workflow's own condition (abort_when) is judged here, over all datacenters;
//	       that it ends is on a majority before any of them is told, and told until each
//	       has ended it.
//
// Whoever takes a job over tells its last transition once more, as it cannot know
// whether anybody heard of it; a job's time stands still while nobody owns it. A
// manager goes on meanwhile: the new owner dispatches to whoever lists the subjob.
//
// Read config.go, machine.go; from the bottom: fellows.go, refuse.go; jobs.go; store.go;
// publish.go; queue.go; dispatch.go, finish.go, cancel.go, due.go; manager.go, result.go;
// ask.go, submit.go; own.go, adopt.go; operate.go; rest.go.
package gate
