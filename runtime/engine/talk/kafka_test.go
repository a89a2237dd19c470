package talk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// seeded is a cluster of which a URL names so many brokers.
func seeded(n int) *kafkaCluster {
	c := &kafkaCluster{key: "kafka"}
	for i := range n {
		c.node("seed", uint16(i+1))
	}
	c.seeds = n
	return c
}

// However many exchanges find that a broker cannot be reached, the next one is asked, and none is left out.
func TestBrokersArePassedOverOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := seeded(rapid.IntRange(1, 5).Draw(t, "seeds"))
		asked := map[*Node]bool{}
		for range c.askable() {
			n := c.asks()
			asked[n] = true
			for range rapid.IntRange(1, 4).Draw(t, "exchanges") {
				c.passOver(n)
				if c.askable() == 1 {
					break
				}
			}
		}
		if len(asked) != c.askable() {
			t.Fatalf("%d of %d brokers are asked", len(asked), c.askable())
		}
	})
}

// What a topic is known to be is forgotten by an exchange that knows as much, and not by an older one.
func TestTopicsAreForgottenOnce(t *testing.T) {
	c := seeded(1)
	l := &kafka.Layout{Brokers: []kafka.Broker{{ID: 7, Host: "b", Port: 9092}}, Leaders: []int32{7, -1, 8, 7}}
	c.learnt("orders", l)
	old := c.topics["orders"]
	if old.leaders[0] == nil || old.leaders[1] != nil || old.leaders[2] != nil || old.leaders[3] != old.leaders[0] {
		t.Fatalf("%v", old.leaders)
	}
	if c.asks() != old.leaders[0] {
		t.Errorf("a seed that is no broker of the cluster is asked further on")
	}
	got := ""
	for range 5 {
		got += fmt.Sprint(old.next())
	}
	if got != "30303" {
		t.Errorf("records without a key go to %s", got)
	}
	old.forget()
	if c.topics["orders"] != nil {
		t.Error("it is not forgotten")
	}
	c.learnt("orders", l)
	if old.forget(); c.topics["orders"] == nil {
		t.Error("an older exchange makes the newer ones forget")
	}
}

// Values that make up topics and brokers reserve no memory without end.
func TestClustersAreBounded(t *testing.T) {
	c := seeded(2)
	for i := range 3 * topicsMost {
		c.learnt(fmt.Sprint(i), &kafka.Layout{Brokers: []kafka.Broker{{ID: 1, Host: fmt.Sprint("b", i), Port: 9092}}, Leaders: []int32{1}})
		if len(c.topics) > topicsMost || len(c.nodes) > nodesMost+1 || c.asks() == nil {
			t.Fatalf("%d topics, %d brokers", len(c.topics), len(c.nodes))
		}
	}
}

// A layout that pushes its own brokers out of the list leaves one to ask, at once and over time.
func TestLargeLayoutsLeaveABrokerToAsk(t *testing.T) {
	layout := func(name string, n int) *kafka.Layout {
		l := &kafka.Layout{}
		for i := range n {
			l.Brokers = append(l.Brokers, kafka.Broker{ID: int32(i), Host: fmt.Sprint(name, i), Port: 9092})
			l.Leaders = append(l.Leaders, int32(i))
		}
		return l
	}
	for _, sizes := range [][]int{{nodesMost + 1}, {nodesMost - 2, 2}, {nodesMost - 1, 2}, {nodesMost, nodesMost}, {3 * nodesMost}} {
		c := seeded(1)
		for i, n := range sizes {
			c.learnt("orders", layout(fmt.Sprint("b", i, "-"), n))
			if c.asks() == nil || len(c.nodes) > nodesMost+1 {
				t.Errorf("%v: %d brokers", sizes, len(c.nodes))
			}
			for at, leader := range c.topics["orders"].leaders {
				if leader == nil || leader.Call.Host != fmt.Sprint("b", i, "-", at) {
					t.Fatalf("%v: partition %d has the leader %v", sizes, at, leader)
				}
			}
		}
	}
}

// Whatever ends an operation that reads, what it keeps is a list in JSON, or nothing where that would be too long.
func TestListsOfRecordsAreWhole(t *testing.T) {
	moved := &http1.Error{Kind: "server NOT_LEADER_OR_FOLLOWER"}
	one := kafka.Found{Next: 42, Records: []kafka.Record{{Offset: 41, Value: []byte("tea")}}}
	for name, tt := range map[string]struct {
		found   kafka.Found
		wrong   error
		most    int
		records int // in the list; below 0: there is no list
	}{
		"whole":             {one, nil, 1000, 1},
		"few":               {kafka.Found{}, nil, 1000, 0},
		"partition's error": {kafka.Found{Err: moved, Records: one.Records}, nil, 1000, 1},
		"error":             {kafka.Found{}, moved, 1000, 0},
		"too many":          {one, nil, 10, -1},
	} {
		v := newReading(&request.KafkaConsumer{Topics: []string{"orders"}, Count: 1, Within: 0}, seeded(1), int64(tt.most))
		k := NewStock(new(measure.Clock), nil)
		x := k.Begin(&Plan{verb: v, routed: v}, new(measure.Account), nil, 0, true)
		c := new(kafka.Conn)
		x.with, x.trip = c, tripRouted
		r := &x.goes.reads
		r.consumer, r.asks = v.of.consumers.Of(7, v.topics, v.start), []kafka.Position{{Topic: "orders", Offset: 41}}
		*c.Outcome() = kafka.Outcome{Err: tt.wrong, Found: []kafka.Found{tt.found}}
		v.hear(x, codec.MessageText, nil)
		var list []any
		if err := json.Unmarshal(x.Last(), &list); tt.records < 0 && len(x.Last()) > 0 || tt.records >= 0 && (err != nil || len(list) != tt.records) {
			t.Errorf("%s: %q, %v", name, x.Last(), err)
		}
	}
}

// code() knows each name that an error of Kafka can have, and no other.
func TestCodesAreKnown(t *testing.T) {
	known := extract.KafkaCodes()
	for n := int16(-1); n < 200; n++ {
		name := kafka.CodeOf(n)
		if n == 0 {
			name = "OK"
		}
		at := slices.Index(known, name)
		if is := !strings.HasPrefix(name, "ERROR_"); is != (at >= 0) {
			t.Errorf("%d is %s, and code() knows it: %v", n, name, at >= 0)
		}
		if at >= 0 {
			known = slices.Delete(known, at, at+1)
		}
	}
	if len(known) > 0 {
		t.Errorf("no error is called %v", known)
	}
}
