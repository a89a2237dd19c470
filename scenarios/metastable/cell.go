package metastable

import "time"

// Cell is one experiment.
type Cell struct {
	Loop    string
	Trigger string
	Depth   int // in the unit of the trigger
	Length  time.Duration
	Guards  bool
	Load    int // in percent of the capacity; 0: 90
}

// Triggers.
const (
	Capacity  = "capacity"  // the server is so many times slower
	Spike     = "spike"     // so many times as much is asked
	Restart   = "restart"   // the server is down, so many times
	Partition = "partition" // so many percent of those who ask do not reach it
)

// Triggers returns all triggers.
func Triggers() []string { return []string{Capacity, Spike, Restart, Partition} }

// depths returns the depths of a trigger, ascending.
func depths(trigger string) []int {
	switch trigger {
	case Capacity:
		return []int{2, 4, 16}
	case Spike:
		return []int{2, 4, 8}
	case Restart:
		return []int{1, 2}
	}
	return []int{50, 100}
}

// lengths returns the lengths of all triggers, ascending.
func lengths() []time.Duration {
	return []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}
}

// Outcome is what a cell came to.
type Outcome struct {
	Cell      Cell
	Before    int           // parts per thousand of what was asked before the trigger that were answered in time
	Recovered bool          // at all, before the run ended
	Took      time.Duration // from the end of the trigger on
	Sent      int           // parts per thousand: requests that were sent to the server for one asked, in the last 10 s
	Peak      int           // the same in the worst 10 s; what was asked earlier and went out first in them counts as asked in them
	Came      int           // the same of those that reached the server
}

// Good reports that the cell recovered within its bound.
func (o *Outcome) Good() bool { return o.Recovered && o.Took <= loopOf(o.Cell.Loop).Bound() }
