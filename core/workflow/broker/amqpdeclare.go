package broker

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// DeclareArguments are those of vu.amqp.declare.
func DeclareArguments() []string {
	return []string{"target", "queue", "exchange", "type", "key", "durable", "auto_delete", "arguments", "timeout", "retry"}
}

const argumentsMost = 64 // of a queue

// exchangeTypes are those of every RabbitMQ; plug-ins add others whose names begin with x-.
func exchangeTypes() []string { return []string{"direct", "fanout", "topic", "headers"} }

// declare reads what is declared: an exchange, a queue, and the key that binds them.
func (d *delivery) declare() (err error) {
	d.to.Verb = request.AMQPDeclare
	if d.to.Exchange, err = d.named("exchange"); err != nil {
		return err
	}
	if d.of("queue") == nil && d.to.Exchange == "" {
		return language.Faultf("%s declares nothing", d.fn).Do("write queue = \"jobs\", or exchange = \"orders\", type = \"topic\"")
	}
	if d.to.Queue, err = d.short("queue", d.of("queue")); err != nil {
		return err
	}
	if err := d.exchangeType(); err != nil {
		return err
	}
	switch both := d.of("queue") != nil && d.to.Exchange != ""; {
	case both && d.of("key") == nil:
		return language.Faultf("%s has a queue and an exchange, and no key that binds them", d.fn).In("key").Do("write key = \"orders.*\", or key = \"\" for a fanout")
	case !both && d.of("key") != nil:
		return language.Faultf("%s has a key, which binds a queue to an exchange", d.fn).In("key").Do("name both, or take key out")
	case both:
		d.to.Flags |= request.AMQPBinds
		if d.to.Key, err = d.short("key", d.of("key")); err != nil {
			return err
		}
	}
	if err := d.flag("durable", request.AMQPDurable, true); err != nil {
		return err
	}
	if err := d.flag("auto_delete", request.AMQPAutoDelete, false); err != nil {
		return err
	}
	return d.queueArguments()
}

// named reads the name of an exchange, which no value changes.
func (d *delivery) named(name string) (string, error) {
	v := d.of(name)
	if v == nil {
		return "", nil
	}
	text, ok := starlark.AsString(v)
	switch {
	case !ok:
		return "", language.WrongType(d.fn, name, "a text", v)
	case text == "":
		return "", language.Faultf("%s: %s is empty, and the default exchange is there already", d.fn, name).In(name).Do("name one, or leave it out")
	case strings.Contains(text, "${"):
		return "", language.Faultf("%s: %s has ${ in it", d.fn, name).In(name).Do("write it out: a function can put it together with +")
	}
	return text, d.fits(name, text)
}

// exchangeType reads the type of the exchange.
func (d *delivery) exchangeType() error {
	v := d.of("type")
	if v != nil && d.to.Exchange == "" {
		return language.Faultf("%s has the type of an exchange, and no exchange", d.fn).In("type").Do("write exchange = \"orders\", or take type out")
	}
	if d.to.Type = exchangeTypes()[0]; v == nil {
		return nil
	}
	text, ok := starlark.AsString(v)
	switch {
	case !ok:
		return language.WrongType(d.fn, "type", "a text", v)
	case !slices.Contains(exchangeTypes(), text) && !strings.HasPrefix(text, "x-"):
		return language.Faultf("%s: type = %q is none", d.fn, language.Clip(text, 40)).In("type").Meant(text, exchangeTypes())
	}
	d.to.Type = text
	return d.fits("type", text)
}

// queueArguments reads those of a queue, such as x-max-length.
func (d *delivery) queueArguments() error {
	v := d.of("arguments")
	if v == nil {
		return nil
	}
	all, ok := v.(*starlark.Dict)
	switch {
	case !ok:
		return language.WrongType(d.fn, "arguments", "a dict", v)
	case d.of("queue") == nil:
		return language.Faultf("%s has arguments, and they are of a queue", d.fn).In("arguments").Do("write queue = \"jobs\", or take arguments out")
	case all.Len() > argumentsMost:
		return language.Faultf("%s: arguments has %d entries, and %d are the most", d.fn, all.Len(), argumentsMost).In("arguments").Do("leave some out")
	}
	for _, item := range all.Items() {
		name, ok := starlark.AsString(item[0])
		if !ok || name == "" || len(name) > shortMost {
			return language.Faultf("%s: arguments has %s in it, which is no name", d.fn, language.Describe(item[0])).In("arguments").Do("write arguments = {\"x-max-length\": 1000}")
		}
		a := request.AMQPArgument{Name: name}
		switch of := item[1].(type) {
		case starlark.String:
			a.Value = string(of)
		case starlark.Bool:
			a.Value = bool(of)
		case starlark.Int:
			n, fits := of.Int64()
			if !fits {
				return language.Faultf("%s: arguments has %s = %s, which has more than 64 bits", d.fn, name, language.Clip(of.String(), 40)).In("arguments").Do("write a smaller number")
			}
			a.Value = n
		default:
			return language.Faultf("%s: arguments has %s of a type that no queue takes: %s", d.fn, language.Clip(name, 40), language.Describe(of)).In("arguments").Do("write a text, a whole number, True or False")
		}
		d.to.Arguments = append(d.to.Arguments, a)
	}
	return nil
}
