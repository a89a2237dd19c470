package broker

import (
	"slices"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// publishArguments are those of mqtt.publish.
func publishArguments() []string {
	return []string{"target", "topic", "data", "qos", "retain", "headers", "stamp", "timeout", "retry"}
}

// ConnectArguments are those of mqtt.connect.
func ConnectArguments() []string { return []string{"target", "disconnect", "timeout", "retry"} }

// TopicsArguments are those of vu.mqtt.subscribe.
func TopicsArguments() []string { return []string{"target", "topics", "qos", "timeout"} }

// MQTT is mqtt and vu.mqtt: publish sends a message, and connect opens a connection and ends it.
func MQTT(under string, own []string, use request.Use) *language.Namespace {
	publishes, connects := under+".publish", under+".connect"
	members := starlark.StringDict{
		"publish": &guard.Func{Word: "publish", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := arguments{fn: publishes, names: append(publishArguments(), own...)}
			if err := in.bind(args, kwargs, 3); err != nil {
				return nil, err
			}
			return in.delivery(thread, use)
		}},
		"connect": &guard.Func{Word: "connect", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			in := arguments{fn: connects, names: append(ConnectArguments(), own...)}
			if err := in.bind(args, kwargs, 1); err != nil {
				return nil, err
			}
			to, err := mqttTarget(connects, in.of("target"))
			if err != nil {
				return nil, err
			}
			if err := in.goodbye(&to); err != nil {
				return nil, err
			}
			to.Verb = request.MQTTConnect
			r := &request.Request{Method: "CONNECT", URL: to.Target.URL(), Exchange: request.Exchange{MQTT: &to}}
			return request.NewDraft(thread, connects).End(r, in.in[2:], use)
		}},
	}
	if under == "mqtt" {
		members["client"] = &guard.Func{Word: "client", Call: newMQTTClient}
		members["will"] = &guard.Func{Word: "will", Call: newWill}
	}
	return language.NewNamespace(under, members)
}

// delivery makes the request that sends a message.
func (a *arguments) delivery(thread *starlark.Thread, use request.Use) (starlark.Value, error) {
	to, err := mqttTarget(a.fn, a.of("target"))
	if err != nil {
		return nil, err
	}
	d := request.NewDraft(thread, a.fn)
	if a.of("topic") == nil {
		return nil, a.missingTopic("topic", nil, `"dev/1/t", "21.5"`)
	}
	if to.Topic, err = d.Text("topic", a.of("topic")); err != nil {
		return nil, d.Explain(err)
	}
	if err := checkTopic(a.fn, d.Cut(to.Topic)); err != nil {
		return nil, d.Explain(err)
	}
	if to.Data, err = a.data(d); err != nil {
		return nil, d.Explain(err)
	}
	if to.Headers, err = a.properties(d, to.Version); err != nil {
		return nil, d.Explain(err)
	}
	if to.Stamp, err = a.stamp(to.Headers); err != nil {
		return nil, d.Explain(err)
	}
	if to.Stamp && to.Version != mqttNewest {
		return nil, language.Faultf("%s has stamp = True, and only version 5 carries a stamp, as a user property", a.fn).In("stamp").Do("write version = \"5\" in mqtt.client, or take stamp out")
	}
	if to.QoS, err = a.qos(); err != nil {
		return nil, err
	}
	if to.Retain, err = builtin.Flag(a.fn, "retain", a.of("retain"), false); err != nil {
		return nil, err
	}
	r := &request.Request{Method: "PUBLISH", URL: to.Target.URL(), Exchange: request.Exchange{MQTT: &to}}
	return d.End(r, a.in[slices.Index(a.names, "timeout"):], use)
}

// properties reads headers: user properties, which version 5 has.
func (a *arguments) properties(d *request.Draft, version uint8) ([]builtin.Pair, error) {
	all, err := d.Fields("headers", a.of("headers"))
	switch {
	case err != nil:
		return nil, err
	case len(all) > 0 && version != mqttNewest:
		return nil, language.Faultf("%s has headers, and only version 5 carries them, as user properties", a.fn).In("headers").Do("write version = \"5\" in mqtt.client, or take headers out")
	}
	for _, h := range all {
		if !utf8.ValidString(h.Value) {
			return nil, language.Faultf("%s: the header %s has a value that is not UTF-8", a.fn, h.Name).In("headers")
		}
	}
	return all, nil
}

// qos reads the quality of service.
func (a *arguments) qos() (uint8, error) {
	v := a.of("qos")
	if v == nil {
		return 0, nil
	}
	n, err := language.Integer(a.fn, "qos", v, 0, 2)
	return uint8(n), err
}

func (a *arguments) missingTopic(name string, v starlark.Value, example string) error {
	if v == nil {
		return language.Faultf("%s: the %s is missing", a.fn, name).Do("write %s(\"mqtt://host\", %s)", a.fn, example)
	}
	return language.WrongType(a.fn, name, "a text, or a list of texts", v)
}

// SubscribeTopics is vu.mqtt.subscribe: it opens a session.
func SubscribeTopics(fn string, own []string, use request.Use) *guard.Func {
	return &guard.Func{Word: "subscribe", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := arguments{fn: fn, names: append(TopicsArguments(), own...)}
		if err := in.bind(args, kwargs, 2); err != nil {
			return nil, err
		}
		to, err := mqttTarget(fn, in.of("target"))
		if err != nil {
			return nil, err
		}
		to.Verb = request.MQTTSubscribe
		if to.Filters, err = in.filters(); err != nil {
			return nil, err
		}
		if to.QoS, err = in.qos(); err != nil {
			return nil, err
		}
		r := &request.Request{Method: "SUBSCRIBE", URL: to.Target.URL(), Exchange: request.Exchange{MQTT: &to}}
		return request.NewDraft(thread, fn).End(r, append([]starlark.Value{in.of("timeout"), nil}, in.own(own)...), use)
	}}
}

// filtersMost bounds the filters of a subscription.
const filtersMost = 64

// filters reads the topics of a subscription: one, or a list.
func (a *arguments) filters() (all []string, err error) {
	v := a.of("topics")
	given := []starlark.Value{v}
	switch v.(type) {
	case starlark.String:
	case *starlark.List, starlark.Tuple:
		if given, err = language.List(a.fn, "topics", "texts", v); err != nil {
			return nil, err
		}
	default:
		return nil, a.missingTopic("topics", v, `["dev/+/t"]`)
	}
	if len(given) == 0 || len(given) > filtersMost {
		return nil, language.Faultf("%s: topics has %d of them, and takes 1 to %d", a.fn, len(given), filtersMost).In("topics").Do("write topics = [\"dev/+/t\"]")
	}
	for _, one := range given {
		text, ok := starlark.AsString(one)
		if !ok {
			return nil, language.WrongType(a.fn, "topics", "a list of texts", one)
		}
		if err := checkFilter(a.fn, text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}
