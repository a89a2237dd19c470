// Package manager runs one datacenter's subjobs. It tracks its workers, cuts workflows into
// shards, dispatches them under fences, and adds up the results. The managers of a datacenter
// are one group: each subjob has a register among them (core/lease), whose holder acts for it.
// A majority keeps what the register's record names (core/archive).
//
// It does not own jobs (core/gate does) and runs nothing itself (core/worker). No record says
// what runs: workers report it to the manager that holds the subjob.
//
// Source: DESIGN.md, "Manager"; the register after Lamport's Paxos and
// Gray and Cheriton's leases, as core/lease has it.
//
// Invariants:
//
//	MGR-1 Every act for a subjob is within the window of its register's lease. A manager that
//	      loses the lease drops all that it knows of the subjob and stops nothing: the next
//	      holder adopts what runs.
//	MGR-2 The manager puts files on a majority, then the record, then acts. Such acts are: to
//	      accept a subjob, to adopt a later epoch of its job, to cut or end a workflow, to give
//	      up an attempt, to count a result, to stop or end the subjob.
//	MGR-3 No fence serves two dispatches: attempts count from 1 under the token of one grant,
//	      and no token is used again. A shard keeps the fence of its dispatch, whichever
//	      manager holds its subjob.
//	MGR-4 A shard's result counts once: that of the current attempt, or, after a take-over, of
//	      one that was not given up. The manager rejects those of given-up attempts as stale.
//	      What such an attempt reported last counts, once a majority keeps it. A majority
//	      knows whether an attempt is out, so that a successor reports each that vanished.
//	MGR-5 At most one attempt of a shard sends load (T13). A manager dispatches one again only
//	      when its worker reports that it has stopped, or after core/window's Patience. Patience
//	      begins at the manager's last renewal of the shard, or at its own grant. The manager
//	      renews or dispatches a shard only while a gate's word for the subjob is fresh. A word
//	      lasts core/window's Hold from the send of a heartbeat that the gate answered with the
//	      subjob's name. No dispatch and no record gives a word.
//	MGR-6 A workflow starts when a majority knows that all it depends on are COMPLETED. Their
//	      results hold the values that they provide, so that each attempt gets the same ones,
//	      whichever manager dispatches it.
//	MGR-7 A subjob ends once. The manager repeats its result, to the gate that owns the job,
//	      until acknowledged, then releases the register. A manager ends a
//	      subjob FAILED when no gate has named it for core/window's Hold, or when its managers
//	      lost a file that its record names, and its workers have stopped it since.
//	MGR-8 Rows of a unique feed, and values of a counter, are leased once, on a majority
//	      before an executor receives them. No other attempt gets those of a lost one.
//	MGR-9 The attempt that replaces a lost one joins the workflow's time. What began, what was
//	      dropped and what was not offered are together what the plan asks for.
//	MGR-10 A barrier lets users pass once a majority knows it, as many as it wants or a
//	      multiple of that.
//	MGR-12 An exclusive workflow dispatches nothing before every worker that this manager or its
//	      membership knows is kept for it, and every manager that a worker is connected to has
//	      answered a heartbeat since. A manager dispatches nothing beside one that it knows of,
//	      by a worker's word, or by that of a majority of managers on its own last record.
//	MGR-11 A stop leaves after_all. It begins when all other workflows have ended and what was lost
//	      has stopped, if the job had begun. A majority knows its end by the bound or by a second
//	      cancellation before a worker hears of it.
//	MGR-13 What runs again after losses stays within the budgets of its shard, its workflow and the
//	       subjob, over all holders together.
//
// Layers, of which each calls those below it alone: Machine dispatches; tenure takes
// registers over and gives them up; gateSide takes orders of gates and operators;
// workerSide takes reports of workers; workflows places and ends workflows and subjobs;
// exclusives keeps workers for one workflow; attempts moves shards and orders workers;
// holdings says what this manager holds. What follows a write is a tag, which Machine
// dispatches (core/ledger). Values decide below: subjob is what a manager holds, roster knows
// the workers, place chooses among them, pace bounds what is sent to them at once.
//
// Read config.go, holdings.go, state.go, dispatch.go, alone.go, place.go, finish.go, cancel.go,
// workers.go, roster.go, result.go, gates.go, orders.go, drain.go, hold.go, adopt.go, tag.go,
// group.go, machine.go, sizes.go.
package manager
