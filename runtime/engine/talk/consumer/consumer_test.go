package consumer_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/engine/talk/consumer"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// However leaders move, topics grow and brokers fail, a consumer reads each offset of a partition once and in
// order, asks only the leader, and looks at all leaders in their turn.
func TestConsumersReadEachOffsetOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all consumer.All
		topics := []string{"a", "b"}[:rapid.IntRange(1, 2).Draw(t, "topics")]
		sizes, leaders, read := map[string]int{}, map[string]int{}, map[string]int64{}
		key := func(topic string, partition int32) string { return fmt.Sprint(topic, partition) }
		leading := func(topic string, partition int32) any { return leaders[key(topic, partition)] }
		grow := func(topic string) {
			leaders[key(topic, int32(sizes[topic]))] = rapid.IntRange(0, 2).Draw(t, "leader")
			sizes[topic]++
		}
		for _, topic := range topics {
			grow(topic)
		}
		var asks []kafka.Position
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch topic := rapid.SampledFrom(topics).Draw(t, "topic"); rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				grow(topic)
			case 1:
				leaders[key(topic, 0)] = rapid.IntRange(0, 2).Draw(t, "new leader")
			}
			c := all.Of(7, topics, kafka.Earliest)
			for _, topic := range topics {
				c.Fit(topic, sizes[topic])
			}
			var next consumer.Ask
			next, asks = c.Next(leading, asks)
			if len(asks) == 0 || next.Leaders < 1 {
				t.Fatalf("nothing is asked: %v", next)
			}
			fails := rapid.IntRange(-1, len(asks)).Draw(t, "fails")
			var found []kafka.Found
			for i, p := range asks {
				k := key(p.Topic, p.Partition)
				if leading(p.Topic, p.Partition) != next.Leader || (p.Offset < 0) != next.Locates || p.Offset >= 0 && p.Offset != read[k] {
					t.Fatalf("%v is asked for of %v, and %d was read", p, next.Leader, read[k])
				}
				f := kafka.Found{At: i, Next: max(0, p.Offset)}
				switch {
				case i == fails:
					f.Err = &http1.Error{Kind: "server NOT_LEADER_OR_FOLLOWER"}
				case !next.Locates:
					f.Next += int64(rapid.IntRange(0, 3).Draw(t, "records"))
					read[k] = f.Next
				}
				found = append(found, f)
			}
			if c.Moves(asks, found); !next.Locates {
				c.Turn()
			}
		}
	})
}

// While a broker is dead, from the start or later, each other one is asked, and it as well, in its turn.
func TestDeadLeadersLeaveTheOthersTheirTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "leaders")
		dead := rapid.IntRange(0, n-1).Draw(t, "dead")
		alive := rapid.IntRange(0, 2*n).Draw(t, "asks before it dies")
		var all consumer.All
		c := all.Of(7, []string{"a"}, kafka.Earliest)
		c.Fit("a", n)
		read, tried := map[any]int{}, 0
		for i := range alive + 4*n {
			next, asks := c.Next(func(_ string, partition int32) any { return int(partition) }, nil)
			if i == alive {
				clear(read)
			}
			switch {
			case next.Leader == dead && i >= alive:
				tried++
				for range rapid.IntRange(1, 3).Draw(t, "operations") {
					c.Pass(next.Leader)
				}
			case next.Locates:
				c.Moves(asks, []kafka.Found{{}})
			default:
				read[next.Leader]++
				c.Turn()
			}
		}
		if len(read) < n-1 || tried < 1 {
			t.Fatalf("%d of %d live leaders are read, and the dead one is tried %d times", len(read), n-1, tried)
		}
	})
}

// A place that the broker does not know begins anew, once; and users beyond the bound do so as well.
func TestConsumersBeginAnew(t *testing.T) {
	var all consumer.All
	one := func(string, int32) any { return 1 }
	c := all.Of(1, []string{"a"}, kafka.Latest)
	c.Fit("a", 1)
	next, asks := c.Next(one, nil)
	c.Moves(asks, []kafka.Found{{Next: 41}})
	next, asks = c.Next(one, asks)
	if next.Locates || asks[0].Offset != 41 {
		t.Fatalf("%v %v", next, asks)
	}
	c.Moves(asks, []kafka.Found{{Err: &http1.Error{Kind: "server OFFSET_OUT_OF_RANGE"}}})
	if next, asks = c.Next(one, asks); !next.Locates || asks[0].Offset != kafka.Latest {
		t.Errorf("%v %v", next, asks)
	}
	for i := range consumer.Most {
		if all.Of(1, []string{fmt.Sprint(i)}, kafka.Latest) == c || i < consumer.Most-1 && all.Of(1, []string{"a"}, kafka.Latest) != c {
			t.Fatalf("%d others have taken its place", i+1)
		}
	}
	if all.Of(1, []string{"0"}, kafka.Latest); all.Of(2, []string{"a"}, kafka.Latest) == c || all.Of(1, []string{"a"}, kafka.Earliest) == c {
		t.Error("other users and other starts share it")
	}
	c.Fit("a", 3)
	c.Fit("a", 2)
	if next, asks = c.Next(one, asks); len(asks) != 2 || !next.Locates {
		t.Errorf("a topic that was made anew has %v", asks)
	}
}
