package group

import (
	"cmp"
	"slices"
	"strings"
)

// Assignment is what a member of a group reads.
type Assignment struct {
	Member string
	Places []Place // by topic, and partition
}

// Topics returns the topics that any member subscribes, in order.
func Topics(members []Member) (all []string) {
	for _, m := range members {
		all = append(all, m.Topics...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Assign assigns the partitions of topics to the members that subscribe them. A topic that has none gets no reader.
func Assign(by Assignor, members []Member, partitions func(topic string) int) []Assignment {
	members = slices.SortedFunc(slices.Values(members), func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	all := make([]Assignment, len(members))
	for i := range members {
		all[i].Member = members[i].ID
	}
	turn := 0
	for _, topic := range Topics(members) {
		var readers []int // places of members that subscribe the topic
		for i := range members {
			if slices.Contains(members[i].Topics, topic) {
				readers = append(readers, i)
			}
		}
		n := partitions(topic)
		for at := range n {
			to := 0
			if by == RoundRobin {
				for !slices.Contains(readers, turn%len(members)) {
					turn++
				}
				to = turn % len(members)
				turn++
			} else {
				to = readers[ranged(at, n, len(readers))]
			}
			all[to].Places = append(all[to].Places, Place{Topic: topic, Partition: int32(at), Offset: -1})
		}
	}
	return all
}

// ranged returns which of so many readers gets a partition: each has a range, and the first ones have one more.
func ranged(at, partitions, readers int) int {
	each, more := partitions/readers, partitions%readers
	if first := more * (each + 1); at >= first {
		return more + (at-first)/each
	}
	return at / (each + 1)
}

// Sort orders places by topic, and partition.
func Sort(all []Place) {
	slices.SortFunc(all, func(a, b Place) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}
