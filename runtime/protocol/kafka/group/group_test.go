package group_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/kafka/group"
)

// However many members subscribe what, each partition has one reader among those that subscribe its topic, in
// whatever order the members stand; and no member has two partitions of a topic more than another one that
// subscribes the same.
func TestEachPartitionHasOneReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := map[string]int{}
		for _, topic := range []string{"a", "b", "c"} {
			sizes[topic] = rapid.IntRange(0, 9).Draw(t, "partitions of "+topic)
		}
		members := make([]group.Member, rapid.IntRange(1, 6).Draw(t, "members"))
		for i := range members {
			members[i].ID = fmt.Sprint("m", i)
			for _, topic := range []string{"a", "b", "c"} {
				if rapid.Bool().Draw(t, "subscribes") {
					members[i].Topics = append(members[i].Topics, topic)
				}
			}
		}
		by := rapid.SampledFrom([]group.Assignor{group.Range, group.RoundRobin}).Draw(t, "assignor")
		of := func(topic string) int { return sizes[topic] }
		all := group.Assign(by, members, of)
		if again := group.Assign(by, rapid.Permutation(members).Draw(t, "order"), of); fmt.Sprint(again) != fmt.Sprint(all) {
			t.Fatalf("%v, and in another order %v", all, again)
		}
		read, each := map[string]int{}, map[string][]int{}
		for _, a := range all {
			at := slices.IndexFunc(members, func(m group.Member) bool { return m.ID == a.Member })
			has := map[string]int{}
			for _, p := range a.Places {
				if !slices.Contains(members[at].Topics, p.Topic) {
					t.Fatalf("%s reads %v", a.Member, p)
				}
				read[fmt.Sprint(p.Topic, p.Partition)]++
				has[p.Topic]++
			}
			for _, topic := range members[at].Topics {
				each[topic] = append(each[topic], has[topic])
			}
		}
		for _, topic := range group.Topics(members) {
			for at := range sizes[topic] {
				if n := read[fmt.Sprint(topic, at)]; n != 1 {
					t.Fatalf("%s[%d] has %d readers: %v", topic, at, n, all)
				}
			}
			if by == group.Range && slices.Max(each[topic])-slices.Min(each[topic]) > 1 {
				t.Fatalf("readers of %s have %v partitions", topic, each[topic])
			}
		}
	})
}

// What a leader assigns is what its members read.
func TestAssignmentsAreRead(t *testing.T) {
	all := group.Assign(group.Range, []group.Member{{"m", []string{"a", "b"}}}, func(string) int { return 2 })
	request := group.Sync(group.Membership{Group: "g", Member: "m", Generation: 3}, all)
	at := len("\x00\x01g") + 4 + len("\x00\x01m") + 4 + len("\x00\x01m")
	got, ok := group.Read(group.SyncGroup, append([]byte{0, 0, 0, 0, 0, 0}, request.Body[at:]...))
	if !ok || !slices.Equal(got.Places, all[0].Places) {
		t.Errorf("%v %v, want %v", ok, got, all)
	}
}

// FuzzRead: no answer makes the reader panic, and it has no more of anything than bytes.
func FuzzRead(f *testing.F) {
	for of := group.OffsetCommit; of <= group.SyncGroup; of++ {
		f.Add(int16(of), []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x05range\x00\x01m\x00\x01m\x00\x00\x00\x01\x00\x01m\x00\x00\x00\x0d\x00\x00\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, of int16, body []byte) {
		a, ok := group.Read(group.API(of), body)
		if n := len(a.Members) + len(a.Places); ok && n > len(body) {
			t.Errorf("%d of %d bytes", n, len(body))
		}
		group.Sort(a.Places)
		group.Assign(group.RoundRobin, a.Members, func(string) int { return 2 })
	})
}
