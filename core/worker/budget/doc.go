// Package budget judges what one executor uses of its machine: how near it is to its budget of
// memory, for how long it has been beyond, and when its worker must end it.
//
// It measures nothing (runtime/exec does), and kills nothing (core/worker does). Processors have no
// budget: a load test may use all of its core, and its result says how much it used.
//
// The budget is what the workflow declares (memory = "2GiB"), or less, if the worker's machine lets an
// executor have less (exec.memory_max).
//
//	 used    65  70      80  85        100      110 %
//	---------+---+-------+---+---------+--------+------>
//	 within  |< pressed  |< throttled  |< over  | ended at once
//
// A level begins at its bound, and ends once less is used than the bound at its left: 5 % less,
// and for the last one 100 %. An executor that is over for 5 s without a break is ended.
//
// Source: DESIGN.md, "Worker". It departs from a kernel's limit on a control group, which ends the
// program without a warning and without a reason.
//
// Invariants:
//
//	BUDGET-1 Below 100 %, a use that swings by less than 5 % of the budget changes the level at
//	         most once.
//	BUDGET-2 An executor is ended after OverFor at or above its budget in each look, as far as its
//	         worker was awake, and at once from 110 % on. One that is below in between is not.
//	BUDGET-3 A result counts each throttle, however short.
//	BUDGET-4 Where the machine is short of memory, the executor that has most of it is ended, and
//	         only one that has more than the machine lacks to be well.
//
// Example:
//
//	g := budget.New(2 << 30)
//	g.Look(now, &message.ExecUsage{Memory: 2 << 30, MemoryMax: 4 << 30}) // budget.Over
//	g.Pass(500 * time.Millisecond)                                      // it has just come over
//	g.Pass(5 * time.Second)
//	g.Spent()                                                           // an *OverError
//
// Read gauge.go, shortage.go.
package budget
