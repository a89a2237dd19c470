package node

// Tell receives how many items of a kind a machine holds, and how many its configuration
// allows.
type Tell func(what string, n, bound int)

// Sizer is a machine that reports the size of everything that others can make it hold, by what
// they send or leave unanswered. Reporting changes nothing.
type Sizer interface{ Sizes(tell Tell) }

// Rester is a machine that reports its ledgers: maps, queues, counters, reservations. Each has
// a rest: the most that remains once all jobs have ended, no fault is left, and peers have
// answered all retries. Reporting changes nothing. The name of a ledger of one peer ends in "
// to " and its address.
type Rester interface{ Rests(tell Tell) }

// Laborer is a machine that counts its work where that work grows with the cluster: the
// members, workers or jobs that its searches have visited since it started. A host may charge
// time for what a Step adds. Reading the count changes nothing.
type Laborer interface{ Labor() uint64 }

// Leak returns by how much two ledgers of the same items differ: 0 at rest.
func Leak(a, b int) int { return max(a-b, b-a) }
