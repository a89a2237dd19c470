package talk

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk/consumer"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// kafkaCluster is what a loop knows of a Kafka cluster: its brokers, and which of them lead the partitions of
// a topic. An operation learns that which meets a topic of which nothing is known, before it sends its
// record. An error that says that a leader has moved, and a connection that fails, make the topic unknown
// again: the operation fails, and the next one learns. Nothing is sent twice.
type kafkaCluster struct {
	key    string        // of destinations
	like   pool.TalkHost // what they have in common
	begins *kafka.Protocol
	nodes  []*Node // the seeds, then brokers that others told of
	seeds  int     // how many of them are seeds
	ask    int     // the place among those that can be asked
	topics map[string]*kafkaTopic

	consumers consumer.All
	groups    map[string]*membership

	gathering
}

// gathering is what a cluster has of records that go together.
type gathering struct {
	batches  map[batchKey]*kafkaBatch // that take records
	flights  map[string]*flights      // by key of a broker
	learning learning
	spare    []*kafkaBatch
}

// groupsMost bounds the groups of a cluster that a loop has places in: functions may make them up.
const groupsMost = 100

// member returns the loop's place in a group.
func (c *kafkaCluster) member(g consumer.Group) *membership {
	key := fmt.Sprintf("%q %s %q %d", g.Name, g.Assignor, g.Topics, g.Start)
	m := c.groups[key]
	if m != nil {
		return m
	}
	if c.groups == nil || len(c.groups) >= groupsMost {
		c.groups = map[string]*membership{}
	}
	m = &membership{Member: consumer.NewMember(g), of: c}
	c.groups[key] = m
	return m
}

// membership is a loop's place in a group. One operation at a time has it, and the others wait in order.
type membership struct {
	*consumer.Member
	of     *kafkaCluster
	at     *Node     // the coordinator; nil: it is not known
	holder *Exchange // nil: none asks
	queue  []*Exchange
	since  int64 // when it got its partitions
}

// broker names the coordinator; empty: it is not known.
func (g *membership) broker() string {
	if g.at == nil {
		return ""
	}
	return g.at.Host.Key
}

func (g *membership) strays() {
	g.at = nil
	g.Lost()
}

// coordinator returns a broker as that of groups: what they ask there has connections of its own, as a leader
// keeps a request that finds no records.
func (c *kafkaCluster) coordinator(host string, port uint16) *Node {
	n := *c.node(host, port)
	n.Host.Key += " coordinator"
	n.At = nil
	return &n
}

// kafkaTopic is what is known of a topic.
type kafkaTopic struct {
	of      *kafkaCluster
	name    string
	leaders []*Node // by partition; nil: none leads
	last    uint32  // the partition that got a record without a key last
	sticks  int32   // that to which records without keys go while its batch takes them, from 1; 0: none
}

// topicsMost bounds the topics that a loop remembers: values may make them up.
const topicsMost = 1000

// node returns a broker of a cluster.
func (c *kafkaCluster) node(host string, port uint16) *Node {
	key := c.key + " " + net.JoinHostPort(host, strconv.Itoa(int(port)))
	for _, n := range c.nodes {
		if n.Host.Key == key {
			return n
		}
	}
	scheme := "kafka"
	if c.like.Secure {
		scheme = "kafkas"
	}
	n := &Node{Host: c.like, Call: http1.Call{Method: "Kafka", Scheme: scheme, Host: host, Port: port}}
	n.Host.Key = key
	if len(c.nodes) >= nodesMost {
		c.nodes = c.nodes[:c.seeds] // those that are gone fill the list; topics keep theirs
	}
	c.nodes = append(c.nodes, n)
	return n
}

// askable is how many brokers can be asked who leads.
func (c *kafkaCluster) askable() int { return len(c.nodes) }

// asks returns the broker to ask who leads: one that is a part of the cluster, and a seed before any other
// is known.
func (c *kafkaCluster) asks() *Node { return c.nodes[c.ask%len(c.nodes)] }

// passOver asks the next broker from now on, as one could not be reached: once, however many exchanges
// find that out.
func (c *kafkaCluster) passOver(n *Node) {
	if n == c.asks() {
		c.ask = (c.ask + 1) % len(c.nodes)
	}
}

// learnt takes what a broker tells of a topic.
func (c *kafkaCluster) learnt(topic string, l *kafka.Layout) {
	brokers := make([]*Node, len(l.Brokers))
	byID := make(map[int32]*Node, len(l.Brokers))
	for i, b := range l.Brokers {
		brokers[i] = c.node(b.Host, b.Port)
		byID[b.ID] = brokers[i]
	}
	if len(brokers) > 0 && !slices.Contains(brokers, c.asks()) { // a seed by another name: its connection serves only to ask
		c.ask = max(0, slices.Index(c.nodes, brokers[0])) // a layout beyond the bound pushes out its own
	}
	t := &kafkaTopic{of: c, name: topic, leaders: make([]*Node, len(l.Leaders))}
	for i, id := range l.Leaders {
		t.leaders[i] = byID[id]
	}
	if c.topics == nil || len(c.topics) >= topicsMost {
		c.topics = map[string]*kafkaTopic{}
	}
	if old := c.topics[topic]; old != nil {
		t.last = old.last
	}
	c.topics[topic] = t
}

// forget makes what is known of a topic unknown, unless it has been learnt anew since.
func (t *kafkaTopic) forget() {
	if t.of.topics[t.name] == t {
		delete(t.of.topics, t.name)
	}
}

// next returns the partition of a record without a key: each in its turn, without those that none leads.
func (t *kafkaTopic) next() int32 {
	for range t.leaders {
		t.last = (t.last + 1) % uint32(len(t.leaders))
		if t.leaders[t.last] != nil {
			break
		}
	}
	return int32(t.last)
}

// sticky returns the partition of a record without a key that goes with others: the same until its batch is full
// or goes.
func (t *kafkaTopic) sticky() int32 {
	if t.sticks == 0 {
		t.sticks = t.next() + 1
	}
	return t.sticks - 1
}

// kafka prepares an operation.
func (p *Plan) kafka(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.Kafka
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	cluster, err := memory.kafka(to, w)
	if err != nil {
		return err
	}
	p.coded = true
	seed := cluster.nodes[0]
	p.Host = seed.Host
	p.Shown = http1.Call{Method: r.Method, Scheme: seed.Call.Scheme, Host: seed.Call.Host, Port: seed.Call.Port}
	if to.Consumes != nil {
		p.routed = newReading(to.Consumes, cluster, cmp.Or(w.HTTP.MaxBody, kafka.AnswerMaxDefault))
		p.verb = p.routed
		return nil
	}
	m := kafka.Message{
		Topic: kafkaText(to.Topic, r.Placeholders), Acks: map[string]kafka.Acks{"0": kafka.AcksNone, "1": kafka.AcksLeader, "all": kafka.AcksAll}[to.Acks],
		Compression: map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.LZ4, "zstd": kafka.Zstd}[to.Compression],
	}
	if to.Key != nil {
		m.Key = kafkaText(*to.Key, r.Placeholders)
	}
	if to.Value != nil {
		m.Value = kafkaText(*to.Value, r.Placeholders)
	}
	for _, h := range to.Headers {
		m.Headers = append(m.Headers, kafka.Field{Name: h.Name, Value: kafkaText(h.Value, r.Placeholders)})
	}
	p.routed = &record{of: cluster, operation: kafka.Prepare(m), partition: to.Partition, gathers: to.Gathers}
	p.verb = p.routed
	return nil
}

// kafkaText cuts a text where placeholders stand in it.
func kafkaText(text string, all []request.Placeholder) (t kafka.Text) {
	for _, part := range argument(text, all) {
		t = append(t, kafka.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// kafka returns what is known of a target.
func (m *Memory) kafka(to *request.Kafka, w *workflow.Workflow) (*kafkaCluster, error) {
	key := fmt.Sprintf("kafka %s %q %q %t %s", to.Mechanism, to.User, to.Password, to.Idempotent, to.Secure.Key)
	for _, s := range to.Seeds {
		key += " " + s.URL()
	}
	c := m.kafkas[key]
	if c != nil {
		return c, nil
	}
	if m.kafkas == nil || len(m.kafkas) >= clustersMost {
		m.kafkas = map[string]*kafkaCluster{}
	}
	mechanism := slices.Index([]string{"", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"}, to.Mechanism)
	c = &kafkaCluster{key: key, begins: kafka.New(kafka.Config{
		Mechanism: kafka.Mechanism(mechanism), User: to.User, Password: to.Password, Idempotent: to.Idempotent, AnswerMax: w.HTTP.MaxBody, Keys: &m.keys, Pool: &m.records,
	})}
	var err error
	if c.like.TLS, c.like.Resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	c.like.Secure = to.Seeds[0].Secure
	for _, s := range to.Seeds {
		c.node(s.Host, s.Port)
	}
	c.seeds = len(c.nodes)
	m.kafkas[key] = c
	return c, nil
}
