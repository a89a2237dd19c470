// Package manager runs one datacenter's subjobs: it keeps its workers
// known, cuts workflows into shards, dispatches them under fences, and adds up
// what came back. The managers of a datacenter are one group: each subjob has a
// register among them (core/lease), whose holder acts for it; what the register's
// record names is kept on a majority (core/archive).
//
// It does not own jobs (core/gate does) and runs nothing itself (core/worker).
// What runs is in no record: workers tell it to whoever holds the subjob.
//
// Source: DESIGN.md, "Jobs and fences"; the register after Lamport's Paxos and
// Gray and Cheriton's leases, as core/lease has it.
//
// Invariants:
//
//	MGR-1 Every act for a subjob is within the window of its register's lease. When
//	      that is lost, all that is known of the subjob is dropped; nobody is told to
//	      stop: who holds it next takes over what runs.
//	MGR-2 Files on a majority, then the record on a majority, then the act: a subjob
//	      accepted, a later epoch of its job adopted, a workflow cut, an attempt given
//	      up, a result counted, a workflow ended, a part stopped or ended.
//	MGR-3 No fence is used for two dispatches: attempts count from 1 under the token
//	      of one grant, and tokens are never used again. A shard keeps the fence that
//	      it was dispatched with, whoever holds its subjob.
//	MGR-4 A shard's result is counted once: that of the attempt that is current, or,
//	      after a take-over, of one that was not given up. Those of given-up attempts
//	      are refused as stale; their last progress is told as lost.
//	MGR-5 At most one attempt of a shard sends load (T13): one is dispatched again
//	      only when its worker says that it has stopped, or core/window's Patience
//	      after it was last told to go on, or after the grant of who took it over. A
//	      shard is renewed, or dispatched, only while a gate's word for its part is
//	      fresh: core/window's Hold since the heartbeat was sent that the gate answered
//	      with the subjob's name. No dispatch and no record gives a word.
//	MGR-6 A workflow starts when a majority knows that all it depends on are COMPLETED.
//	      What these have given it stands in their results, so that each attempt is
//	      given the same, whoever dispatches it.
//	MGR-7 A subjob ends once. Its result is told, to whichever gate owns the job, until
//	      acknowledged; then its register is released. Without a gate's word it ends by
//	      itself after a Hold.
//	MGR-8 Rows of a unique feed are leased once: that they are is on a majority before
//	      an executor hears of them. What a lost attempt was leased nobody gets.
//
// Read config.go, machine.go, group.go, subjob.go, hold.go, adopt.go, commit.go,
// gates.go, roster.go, renew.go, state.go, place.go, dispatch.go,
// lost.go, rows.go, result.go, finish.go, progress.go, workers.go, cancel.go, abort.go,
// drain.go, sizes.go, rest.go. Values decide below: subjob is what a manager holds,
// roster knows the workers, place chooses among them.
package manager
