package brokers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/documents"
	"hyperscale/runtime/outputs/wire"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// Kafka is the kind `kafka`: a record for each row.
func Kafka() outputs.Kind {
	return outputs.Kind{
		Name: "kafka", Engine: "broker", About: "Kafka: a record of JSON for each row, during the run and at its end", Place: "URL", Example: kafkaExample,
		Options: []outputs.Option{
			{Name: "topic", Type: outputs.OptionText, Default: "hyperscale", Help: "which must exist"},
			{Name: "compression", Type: outputs.OptionChoice, Default: "gzip", Choices: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Help: "of batches"},
			{Name: "password", Type: outputs.OptionSecret, Help: "of the user of the address"},
			{Name: "mechanism", Type: outputs.OptionChoice, Default: "SCRAM-SHA-512", Choices: slices.Sorted(maps.Keys(mechanisms)), Help: "how the user proves the password"},
			{Name: "ca", Type: outputs.OptionText, Help: "file of an authority of your own, in PEM, for kafkas"},
		},
		Delivery: outputs.AtLeastOnce, Limits: outputs.Limits{Rows: 200, Bytes: 256 << 10},
		Tested: "kfake of franz-go, read by librdkafka, through a relay that refuses, hangs, cuts and loses answers; no Kafka",
		Schema: kafkaSchema,
		Open: func(s *outputs.Settings) (outputs.Sink, error) {
			c, err := clusterOf(s)
			if err != nil {
				return nil, err
			}
			if why := kafka.Unsendable(s.Text("topic")); why != "" {
				return nil, fmt.Errorf("topic = %q %s: name one that exists", s.Text("topic"), why)
			}
			return &kafkaSink{cluster: *c, topic: s.Text("topic"), compression: compressions[s.Text("compression")], conns: map[string]*wire.Conn{}}, nil
		},
	}
}

const kafkaSchema = `key      JOB/KIND/DATACENTER/WORKFLOW/STEP/STEP_KIND/FROM_MS/TO_MS, each part escaped as in a path of a URL; without times for run,
         result and check, with the expression for threshold and the sequence for event instead
value    the row as a line of jsonl has it
headers  kind, version
time     the end of what the row is about
Of two records with one key the greater version counts (text order). A compacted topic keeps the last one.
`

var compressions = map[string]kafka.Compression{"none": kafka.Uncompressed, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.LZ4, "zstd": kafka.Zstd}

// kafkaSink sends rows to one topic.
type kafkaSink struct {
	cluster
	topic       string
	compression kafka.Compression
	layout      *kafka.Layout         // nil: who leads is not known
	conns       map[string]*wire.Conn // by address
	rest        rest
}

// rest is what a repeated try still has to do.
type rest struct {
	batch uint64
	todo  []int // rows that no broker has acknowledged
	bad   []int // rows that none takes
	why   string
}

// failure is why records are not acknowledged.
type failure struct {
	verdict outputs.Verdict
	why     string
}

func (f *failure) outcome() outputs.Outcome {
	return outputs.Outcome{Verdict: f.verdict, Why: f.why}
}

// Check asks who leads the partitions of the topic.
func (s *kafkaSink) Check(ctx context.Context) error {
	if fail := s.learn(ctx); fail != nil {
		return errors.New(fail.why)
	}
	return nil
}

// conn is a connection to a broker, by which one producer sends.
func (s *kafkaSink) conn(ctx context.Context, address string) (*wire.Conn, *failure) {
	if c := s.conns[address]; c != nil {
		return c, nil
	}
	config := kafka.Config{Mechanism: s.mechanism, User: s.user, Idempotent: true}
	if s.password.Given() {
		password, err := s.password.Read()
		if err != nil {
			return nil, &failure{outputs.VerdictDenied, err.Error()}
		}
		config.Password = password
	}
	secure := s.roots
	if !s.secure {
		secure = nil
	} else if host, _, err := net.SplitHostPort(address); err == nil {
		secure = secure.Clone()
		secure.ServerName = host
	}
	var random kafka.Random
	_, _ = rand.Read(random[:]) // it never fails
	c, err := wire.Connect(ctx, address, secure, codec.Opening{Greeting: kafka.New(config).Greet(random)})
	if err != nil {
		fail := judgeKafka(err)
		if fail.verdict != outputs.VerdictDenied {
			fail.verdict = outputs.VerdictAgain // no record went out
		}
		return nil, &failure{fail.verdict, address + ": " + fail.why}
	}
	s.conns[address] = c
	return c, nil
}

// drop closes the connection to a broker, and forgets who leads.
func (s *kafkaSink) drop(address string) {
	if c := s.conns[address]; c != nil {
		c.Close()
		delete(s.conns, address)
	}
	s.layout = nil
}

// learn asks who leads, unless that is known: each broker of the address in turn.
func (s *kafkaSink) learn(ctx context.Context) (fail *failure) {
	if s.layout != nil {
		return nil
	}
	for _, address := range s.brokers {
		if fail = s.learnFrom(ctx, address); fail == nil || ctx.Err() != nil {
			return fail
		}
	}
	return fail
}

func (s *kafkaSink) learnFrom(ctx context.Context, address string) *failure {
	c, fail := s.conn(ctx, address)
	if fail != nil {
		return fail
	}
	talk := c.Talk.(*kafka.Conn)
	var layout *kafka.Layout
	var answer error
	_, err := c.Ask(ctx, func() error { return talk.Learn(s.topic, kafka.Order{}) }, func([]byte) {
		layout, answer = talk.Outcome().Layout, talk.Outcome().Err
	})
	if err = cmp.Or(err, answer); err != nil {
		s.drop(address)
		fail := judgeKafka(err)
		if fail.verdict != outputs.VerdictDenied {
			fail.verdict = outputs.VerdictAgain // as above
		}
		return fail
	}
	s.layout = layout
	return nil
}

func (s *kafkaSink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	r := &s.rest
	if b.Try <= 1 || r.batch != b.Number {
		*r = rest{batch: b.Number}
		for i := range b.Rows {
			r.todo = append(r.todo, i)
		}
	}
	if fail := s.learn(ctx); fail != nil {
		return fail.outcome()
	}
	entries := make([]kafka.Entry, len(b.Rows))
	parts := map[int32][]int{}
	for _, i := range r.todo {
		entries[i] = s.entry(&b.Rows[i])
		at, _ := entries[i].Operation.Choose(len(s.layout.Leaders), nil, nil)
		parts[at] = append(parts[at], i)
	}
	for _, partition := range slices.Sorted(maps.Keys(parts)) {
		if fail := s.settle(ctx, entries, parts[partition], partition); fail != nil {
			return fail.outcome()
		}
	}
	if r.bad == nil {
		return outputs.Delivered()
	}
	slices.Sort(r.bad)
	return outputs.Rejected(r.bad, r.why)
}

// settle sends rows to a partition. It halves what has a bad row, until that row stands alone.
func (s *kafkaSink) settle(ctx context.Context, entries []kafka.Entry, rows []int, partition int32) *failure {
	fail := s.produce(ctx, entries, rows, partition)
	r := &s.rest
	switch {
	case fail != nil && fail.verdict != outputs.VerdictRejected:
		return fail
	case fail != nil && len(rows) > 1:
		half := len(rows) / 2
		if fail := s.settle(ctx, entries, rows[:half], partition); fail != nil {
			return fail
		}
		return s.settle(ctx, entries, rows[half:], partition)
	case fail != nil:
		r.bad, r.why = append(r.bad, rows[0]), cmp.Or(r.why, fail.why)
	}
	r.todo = slices.DeleteFunc(r.todo, func(i int) bool { return slices.Contains(rows, i) })
	return nil
}

// produce sends rows as one batch to the leader of a partition; nil: all replicas in sync have them.
func (s *kafkaSink) produce(ctx context.Context, entries []kafka.Entry, rows []int, partition int32) *failure {
	if fail := s.learn(ctx); fail != nil { // an error made it forget
		return fail
	}
	if int(partition) >= len(s.layout.Leaders) {
		return &failure{outputs.VerdictAgain, fmt.Sprintf("topic %s has fewer partitions than before", s.topic)}
	}
	leader, known := s.layout.At(s.layout.Leaders[partition])
	if !known {
		s.layout = nil
		return &failure{outputs.VerdictAgain, fmt.Sprintf("partition %d of topic %s has no leader", partition, s.topic)}
	}
	address := net.JoinHostPort(leader.Host, strconv.Itoa(int(leader.Port)))
	c, fail := s.conn(ctx, address)
	if fail != nil {
		s.layout = nil
		return fail
	}
	var all []kafka.Entry
	for _, i := range rows {
		all = append(all, entries[i])
	}
	talk := c.Talk.(*kafka.Conn)
	var answer error
	sent, err := c.Ask(ctx, func() error { return talk.ProduceAll(all, partition, false) }, func([]byte) { answer = talk.Outcome().Err })
	switch {
	case err != nil && sent:
		s.drop(address)
		return &failure{outputs.VerdictUnclear, kafkaText(err)}
	case err != nil:
		s.drop(address)
		return &failure{outputs.VerdictAgain, kafkaText(err)}
	case answer != nil:
		s.drop(address)
		return judgeKafka(answer)
	}
	return nil
}

// entry is the record of a row.
func (s *kafkaSink) entry(r *outputs.Row) kafka.Entry {
	return kafka.Entry{Now: r.At().UnixMilli(), Operation: kafka.Prepare(kafka.Message{
		Topic: kafka.Plain(s.topic), Key: kafka.Plain(r.Job + "/" + documents.Name(r)), Value: kafka.Plain(string(outputs.AppendJSON(nil, r))), Acks: kafka.AcksAll, Compression: s.compression,
		Headers: []kafka.Field{{Name: "kind", Value: kafka.Plain(r.Kind.String())}, {Name: "version", Value: kafka.Plain(fmt.Sprintf("%x", r.Version))}},
	})}
}

// judgeKafka says what an error of a broker means.
func judgeKafka(err error) *failure {
	f := &failure{outputs.VerdictAgain, kafkaText(err)}
	if http1.KindOf(err) == http1.KindAuth {
		f.verdict = outputs.VerdictDenied
		return f
	}
	switch name, _ := strings.CutPrefix(string(http1.KindOf(err)), "server "); name {
	case "MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD", "INVALID_TIMESTAMP":
		f.verdict = outputs.VerdictRejected
	case "TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED", "SASL_AUTHENTICATION_FAILED":
		f.verdict = outputs.VerdictDenied
	case "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "REQUEST_TIMED_OUT": // the leader may have the records
		f.verdict = outputs.VerdictUnclear
	}
	return f
}

// kafkaText makes remedies of the codec, which are those of workflows, remedies of this output.
func kafkaText(err error) string {
	return strings.NewReplacer("create the topic: a test makes none", "create the topic: this output makes none", ", and the next operation asks where it is", "", `: write "gzip"`, ": use compression=gzip").Replace(err.Error())
}

// Close closes all connections.
func (s *kafkaSink) Close() {
	for address := range s.conns { //lint:orderfree all are closed
		s.drop(address)
	}
}
