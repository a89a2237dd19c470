package kafka

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const (
	recordMost    = 64 << 20 // bytes of a key or value: far beyond what topics take
	partitionMost = 1 << 20
)

// ProduceArguments are those of kafka.produce.
func ProduceArguments() []string {
	return []string{"target", "topic", "value", "key", "headers", "acks", "partition", "timeout", "retry"}
}

// Namespace is kafka and vu.kafka.
func Namespace(under string, own []string, use request.Use) *language.Namespace {
	verb := func(word string, names []string, positional int, make func(*arguments, *starlark.Thread, request.Use) (starlark.Value, error)) *guard.Func {
		fn := under + "." + word
		return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := arguments{fn: fn, names: append(slices.Clone(names), own...)}
			in.in = slices.Repeat([]starlark.Value{nil}, len(in.names))
			if err := language.Bind(fn, in.names, positional, args, kwargs, in.in); err != nil {
				return nil, err
			}
			return make(&in, thread, use)
		}}
	}
	members := starlark.StringDict{
		"produce": verb("produce", ProduceArguments(), 3, (*arguments).record),
		"consume": verb("consume", ConsumeArguments(), 2, (*arguments).records),
	}
	if under == "kafka" {
		members["client"] = &guard.Func{Word: "client", Call: newClient}
		members["plain"], members["scram"] = prover("plain"), prover("scram")
		members["oauthbearer"] = &guard.Func{Word: "oauthbearer", Call: bearer}
	}
	return language.NewNamespace(under, members)
}

// arguments are those of a call, by name.
type arguments struct {
	fn    string
	names []string
	in    []starlark.Value
}

func (a *arguments) of(name string) starlark.Value { return a.in[slices.Index(a.names, name)] }

// record makes the request that sends a record.
func (a *arguments) record(thread *starlark.Thread, use request.Use) (starlark.Value, error) {
	to, err := target(a.fn, a.of("target"))
	if err != nil {
		return nil, err
	}
	d := request.NewDraft(thread, a.fn)
	if a.of("topic") == nil {
		return nil, language.Faultf("%s: the topic is missing", a.fn).Do("write %s(\"kafka://host\", \"orders\", \"tea\")", a.fn)
	}
	if to.Topic, err = d.Text("topic", a.of("topic")); err != nil {
		return nil, d.Explain(err)
	}
	if err := checkTopic(a.fn, d.Cut(to.Topic)); err != nil {
		return nil, d.Explain(err)
	}
	for _, one := range []struct {
		name string
		to   **string
	}{{"value", &to.Value}, {"key", &to.Key}} {
		if *one.to, err = a.data(d, one.name); err != nil {
			return nil, d.Explain(err)
		}
	}
	if to.Key == nil && to.Value == nil {
		return nil, language.Faultf("%s: the record has neither a key nor a value", a.fn).In("value").Do("write %s(target, \"orders\", \"tea\")", a.fn)
	}
	if to.Headers, err = d.Fields("headers", a.of("headers")); err != nil {
		return nil, d.Explain(err)
	}
	if to.Acks, err = readAcks(a.fn, a.of("acks")); err != nil {
		return nil, err
	}
	if to.Idempotent && to.Acks != "all" {
		return nil, language.Faultf("%s has acks = %s, and its client is idempotent", a.fn, to.Acks).In("acks").Do("take acks out: brokers count the records of all replicas only")
	}
	if v := a.of("partition"); v != nil {
		n, err := language.Integer(a.fn, "partition", v, 0, partitionMost)
		if err != nil {
			return nil, err
		}
		to.Partition = int32(n)
	}
	r := &request.Request{Method: "PRODUCE", URL: to.Seeds[0].URL(), Exchange: request.Exchange{Kafka: &to}}
	return d.End(r, a.in[slices.Index(a.names, "timeout"):], use)
}

// data reads a key or a value; nil: the record has none.
func (a *arguments) data(d *request.Draft, name string) (*string, error) {
	var text string
	var err error
	switch v := a.of(name).(type) {
	case nil, starlark.NoneType:
		return nil, nil
	case starlark.String, *secret.Text:
		text, err = d.Text(name, v)
	case starlark.Bytes:
		text = string(v)
	default:
		return nil, language.WrongType(a.fn, name, "a text or bytes", v).Do("for a dict or a list write json.encode(...)")
	}
	if len(text) > recordMost {
		return nil, language.Faultf("%s: %s has %d bytes, more than 64 MiB", a.fn, name, len(text)).In(name).Do("send less")
	}
	return &text, err
}

// readAcks reads how many replicas have a record before its broker answers.
func readAcks(fn string, v starlark.Value) (string, error) {
	text := ""
	switch v := v.(type) {
	case nil:
		return "all", nil
	case starlark.String:
		text = string(v)
	case starlark.Int:
		text = v.String()
	default:
		return "", language.WrongType(fn, "acks", "\"all\", 1 or 0", v)
	}
	switch text {
	case "all", "1", "0":
		return text, nil
	case "-1":
		return "all", nil
	}
	return "", language.Faultf("%s: acks = %q is none", fn, language.Clip(text, 20)).In("acks").Do("write \"all\" for all replicas in sync, 1 for the leader, or 0 for none")
}

const topicMost = 249 // bytes, of every broker

// checkTopic rejects a topic that no cluster could have.
func checkTopic(fn, topic string) error {
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: topic = %q %s", fn, language.Clip(topic, 60), what).In("topic").Do("%s", remedy)
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}
	switch {
	case topic == "":
		return wrong("is empty", "write topic = \"orders\"")
	case topic == "." || topic == "..":
		return wrong("is no name", "write topic = \"orders\"")
	case len(topic) > topicMost:
		return wrong("is longer than 249 bytes", "shorten it")
	case strings.ContainsFunc(topic, odd):
		return wrong("has a character that no topic may have", "write letters, digits, dots, dashes and underscores")
	}
	return nil
}
