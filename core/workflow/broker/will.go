package broker

import (
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// WillArguments are those of mqtt.will.
func WillArguments() []string { return []string{"topic", "data", "qos", "retain", "delay"} }

// willMost bounds a will's data, in bytes: its length has 16 bits.
const willMost = 65535

// willValue is the result of mqtt.will.
type willValue struct {
	language.Opaque
	of request.MQTTWill
}

// newWill is mqtt.will.
func newWill(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	in := arguments{fn: "mqtt.will", names: WillArguments()}
	if err := in.bind(args, kwargs, 2); err != nil {
		return nil, err
	}
	out := &willValue{Opaque: language.Opaque{Kind: in.fn}}
	for i, to := range []*string{&out.of.Topic, &out.of.Data} {
		name, ok := in.names[i], false
		switch v := in.of(name).(type) {
		case starlark.String:
			*to, ok = string(v), true
		case starlark.Bytes:
			*to, ok = string(v), i == 1
		case nil:
			ok = i == 1
		}
		if !ok {
			return nil, language.WrongType(in.fn, name, "a text", in.of(name)).Do("write mqtt.will(\"dev/${vu}/state\", \"gone\")")
		}
		if strings.Contains(strings.ReplaceAll(*to, request.UserWord, ""), "${") {
			return nil, language.Faultf("%s: %s has a value in it, and a connection serves all iterations of its user", in.fn, name).In(name).Do("write ${vu}, the number of the virtual user")
		}
	}
	if err := checkTopic(in.fn, out.of.Topic); err != nil {
		return nil, err
	}
	if n := len(out.of.Data); n > willMost {
		return nil, language.Faultf("%s: data has %d bytes, and a will has at most %d", in.fn, n, willMost).In("data").Do("send less")
	}
	var err error
	if out.of.QoS, err = in.qos(); err != nil {
		return nil, err
	}
	if out.of.Retain, err = builtin.Flag(in.fn, "retain", in.of("retain"), false); err != nil {
		return nil, err
	}
	delay, err := in.seconds("delay", expiryMost)
	out.of.Delay = uint32(delay)
	return out, err
}

// will reads the will of a client.
func (a *arguments) will(c *request.MQTT) error {
	v := a.of("will")
	if v == nil {
		return nil
	}
	given, ok := v.(*willValue)
	if !ok {
		return language.WrongType(a.fn, "will", "the result of mqtt.will", v).Do("write will = mqtt.will(\"dev/${vu}/state\", \"gone\")")
	}
	will := given.of
	switch {
	case will.Delay > 0 && c.Version != mqttNewest:
		return language.Faultf("%s: the will has a delay, which only version 5 has", a.fn).In("will").Do("write version = \"5\", or take delay out")
	case will.Delay > c.Expiry:
		return language.Faultf("%s: the will's delay = \"%ds\" is above session_expiry = \"%ds\": the server sends a will at the end of its session", a.fn, will.Delay, c.Expiry).In("will").Do("write session_expiry = \"%ds\"", will.Delay)
	}
	c.Will = &will
	return nil
}

// goodbye reads how mqtt.connect disconnects.
func (a *arguments) goodbye(c *request.MQTT) error {
	v := a.of("disconnect")
	if v == nil {
		return nil
	}
	word, err := builtin.OneOf(a.fn, "disconnect", v, []string{"discard", "will"})
	switch {
	case err != nil || word == "discard":
		return err
	case c.Will == nil:
		return language.Faultf("%s: disconnect = \"will\", and the client has no will", a.fn).In("disconnect").Do("write will = mqtt.will(\"dev/${vu}/state\", \"gone\") in mqtt.client")
	case c.Version != mqttNewest:
		return language.Faultf("%s: disconnect = \"will\" is of version 5: the DISCONNECT of 3.1.1 discards a will", a.fn).In("disconnect").Do("write version = \"5\" in mqtt.client")
	}
	own := *c.Will
	own.Sent = true
	c.Will = &own
	return nil
}
