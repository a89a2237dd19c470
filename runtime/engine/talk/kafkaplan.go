package talk

import (
	"cmp"
	"fmt"
	"slices"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

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
	p.routed = &record{of: cluster, operation: kafka.Prepare(m), partition: to.Partition}
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
	key := fmt.Sprintf("kafka %s %q %q %s", to.Mechanism, to.User, to.Password, to.Secure.Key)
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
	mechanism := slices.Index([]string{"", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, to.Mechanism)
	c = &kafkaCluster{key: key, begins: kafka.New(kafka.Config{
		Mechanism: kafka.Mechanism(mechanism), User: to.User, Password: to.Password, AnswerMax: w.HTTP.MaxBody, Keys: &m.keys, Pool: &m.records,
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
