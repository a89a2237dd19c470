package node

// Tell is told how many a machine keeps of something, and how many its
// configuration lets it keep.
type Tell func(what string, n, bound int)

// Sizer is a machine that tells the sizes of all that others can make it keep: by
// what they send, and by what they leave unanswered. It changes nothing by telling.
type Sizer interface{ Sizes(tell Tell) }

// Rester is a machine that tells its ledgers: maps, queues, counters, reservations.
// Each comes with its rest, the most of it that remains once every job has ended, no
// fault is left, and what the machine retries is answered. It changes nothing by
// telling. What waits for one peer alone ends in " to " and the peer's address.
type Rester interface{ Rests(tell Tell) }

// Laborer is a machine that counts its work where that grows with the cluster: the
// members, workers or jobs that its searches have looked at, since it started. A host
// may charge time for what a Step has added. Asking changes nothing.
type Laborer interface{ Labor() uint64 }

// Leak returns by how much two ledgers of the same things differ: at rest, 0.
func Leak(a, b int) int { return max(a-b, b-a) }
