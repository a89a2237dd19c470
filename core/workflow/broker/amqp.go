package broker

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const (
	bodyMost     = 128 << 20 // bytes of a message: RabbitMQ takes no more (max_message_size)
	shortMost    = 255       // bytes of a short text of AMQP
	priorityMost = 255
	prefetchMost = 1<<16 - 1

	prefetchDefault = 100
)

// deliveryArguments are those of amqp.publish.
func deliveryArguments() []string {
	return []string{"target", "exchange", "key", "body", "headers", "properties", "confirm", "mandatory", "persistent", "priority", "stamp", "timeout", "retry"}
}

// GetArguments are those of amqp.get.
func GetArguments() []string { return []string{"target", "queue", "ack", "timeout", "retry"} }

// ConsumeArguments are those of vu.amqp.consume.
func ConsumeArguments() []string {
	return []string{"target", "queue", "prefetch", "ack", "exclusive", "timeout"}
}

// messageProperties are those that amqp.publish takes, by their names in AMQP.
func messageProperties() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"content-type", "content-encoding", "correlation-id", "reply-to", "expiration", "message-id", "type", "user-id", "app-id"} {
		out[strings.ReplaceAll(name, "-", "_")] = name
	}
	return out
}

// AMQP is amqp and vu.amqp: publish sends a message, get fetches one, and functions declare queues.
func AMQP(under string, own []string, use request.Use) *language.Namespace {
	members := starlark.StringDict{
		"publish": amqpFunc(under, "publish", deliveryArguments(), own, 1, (*delivery).publish, use),
		"get":     amqpFunc(under, "get", GetArguments(), own, 2, (*delivery).get, use),
	}
	if under == "amqp" {
		members["client"] = &guard.Func{Word: "client", Call: newAMQPClient}
	} else {
		members["declare"] = amqpFunc(under, "declare", DeclareArguments(), own, 1, (*delivery).declare, use)
	}
	return language.NewNamespace(under, members)
}

// Consume is vu.amqp.consume: it opens a session.
func Consume(fn string, own []string, use request.Use) *guard.Func {
	under, word, _ := strings.Cut(fn, ".consume")
	return amqpFunc(under, "consume"+word, ConsumeArguments(), own, 2, (*delivery).consume, use)
}

// amqpFunc is a function that makes a request of AMQP.
func amqpFunc(under, word string, names, own []string, positional int, reads func(*delivery) error, use request.Use) *guard.Func {
	fn := under + "." + word
	return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		d := delivery{arguments: arguments{fn: fn, names: append(slices.Clone(names), own...)}}
		if err := d.bind(args, kwargs, positional); err != nil {
			return nil, err
		}
		var err error
		if d.to, err = amqpTarget(fn, d.of("target")); err != nil {
			return nil, err
		}
		d.draft = request.NewDraft(thread, fn)
		if err := reads(&d); err != nil {
			return nil, d.draft.Explain(err)
		}
		r := &request.Request{Method: strings.ToUpper(word), URL: d.to.Target.URL(), Exchange: request.Exchange{AMQP: &d.to}}
		last := slices.Index(d.names, "timeout")
		given := slices.Clone(d.in[last:])
		if !slices.Contains(d.names, "retry") {
			given = slices.Insert(given, 1, starlark.Value(nil))
		}
		return d.draft.End(r, given, use)
	}}
}

// delivery reads the arguments of a request of AMQP.
type delivery struct {
	arguments
	draft *request.Draft
	to    request.AMQP
}

// flag sets a flag if its argument is true.
func (d *delivery) flag(name string, of request.AMQPFlags, fallback bool) error {
	is, err := builtin.Flag(d.fn, name, d.of(name), fallback)
	if is {
		d.to.Flags |= of
	}
	return err
}

// short reads a text of at most 255 bytes; values may lengthen it when it is sent.
func (d *delivery) short(name string, v starlark.Value) (string, error) {
	if v == nil {
		return "", nil
	}
	text, err := d.draft.Text(name, v)
	if err != nil {
		return "", err
	}
	return text, d.fits(name, text)
}

func (d *delivery) fits(name, text string) error {
	if n := len(d.draft.Cut(text)); n > shortMost {
		return language.Faultf("%s: %s has %d bytes, and AMQP takes 255", d.fn, name, n).In(name).Do("shorten it")
	}
	return nil
}

// queue reads the name of a queue that there is.
func (d *delivery) queue() error {
	v := d.of("queue")
	if v == nil {
		return language.Faultf("%s: the queue is missing", d.fn).Do("write %s(\"amqp://host\", \"jobs\")", d.fn)
	}
	var err error
	if d.to.Queue, err = d.short("queue", v); err == nil && d.to.Queue == "" {
		err = language.Faultf("%s: queue is empty", d.fn).In("queue").Do("write queue = \"jobs\"")
	}
	return err
}

// publish reads a message.
func (d *delivery) publish() (err error) {
	if d.to.Exchange, err = d.short("exchange", d.of("exchange")); err != nil {
		return err
	}
	if d.to.Key, err = d.short("key", d.of("key")); err != nil {
		return err
	}
	if d.to.Exchange == "" && d.to.Key == "" {
		return language.Faultf("%s has neither an exchange nor a key", d.fn).In("key").Do("write key = \"jobs\": without an exchange it names the queue")
	}
	if err := d.body(); err != nil {
		return err
	}
	if d.to.Headers, err = d.draft.Fields("headers", d.of("headers")); err != nil {
		return err
	}
	for _, h := range d.to.Headers {
		if err := d.fits("headers", h.Name); err != nil {
			return err
		}
	}
	if err := d.properties(); err != nil {
		return err
	}
	if stamp, err := d.stamp(d.to.Headers); err != nil {
		return err
	} else if stamp {
		d.to.Flags |= request.AMQPStamp
	}
	return d.care()
}

// care reads how a message is treated.
func (d *delivery) care() error {
	confirm, err := builtin.Flag(d.fn, "confirm", d.of("confirm"), false)
	if err != nil {
		return err
	}
	if d.to.Verb = request.AMQPPublish; confirm {
		d.to.Verb = request.AMQPConfirm
	}
	if err := d.flag("persistent", request.AMQPPersistent, false); err != nil {
		return err
	}
	if err := d.flag("mandatory", request.AMQPMandatory, false); err != nil {
		return err
	}
	if d.to.Flags.Is(request.AMQPMandatory) && !confirm {
		return language.Faultf("%s has mandatory = True, and nothing waits for the message to be returned", d.fn).In("mandatory").Do("add confirm = True: the confirm follows what is returned")
	}
	d.to.Priority = -1
	if v := d.of("priority"); v != nil {
		d.to.Priority, err = language.Integer(d.fn, "priority", v, 0, priorityMost)
	}
	return err
}

// body reads what a message carries.
func (d *delivery) body() (err error) {
	switch v := d.of("body").(type) {
	case nil:
	case starlark.String, *secret.Text:
		d.to.Body, err = d.draft.Text("body", v)
	case starlark.Bytes:
		d.to.Body = string(v)
	default:
		return language.WrongType(d.fn, "body", "a text or bytes", v).Do("for a dict or a list write json.encode(...)")
	}
	if len(d.to.Body) > bodyMost {
		return language.Faultf("%s: body has %d bytes, and RabbitMQ takes 128 MiB at most", d.fn, len(d.to.Body)).In("body").Do("send less")
	}
	return err
}

// properties reads those of a message.
func (d *delivery) properties() error {
	all, err := d.draft.Fields("properties", d.of("properties"))
	if err != nil {
		return err
	}
	known := messageProperties()
	for i, p := range all {
		name, is := known[p.Name]
		if !is {
			f := language.Faultf("%s: properties has %q in it, which is none", d.fn, language.Clip(p.Name, 40)).In("properties")
			return f.Meant(p.Name, slices.Sorted(maps.Keys(known)))
		}
		if err := d.fits("properties", p.Value); err != nil {
			return err
		}
		cut := d.draft.Cut(p.Value)
		if name == "expiration" && (cut == "" || strings.Trim(cut, "0123456789x") != "") {
			return language.Faultf("%s: properties has expiration = %q, and RabbitMQ takes milliseconds", d.fn, language.Clip(cut, 40)).In("properties").Do("write \"expiration\": \"60000\" for a minute")
		}
		all[i].Name = name
	}
	d.to.Properties = all
	return nil
}

// ack reads whether messages are acknowledged.
func (d *delivery) ack() error {
	how, err := builtin.OneOf(d.fn, "ack", d.of("ack"), []string{"each", "auto"})
	if how == "auto" {
		d.to.Flags |= request.AMQPAuto
	}
	return err
}

// get reads what is fetched.
func (d *delivery) get() error {
	d.to.Verb = request.AMQPGet
	if err := d.queue(); err != nil {
		return err
	}
	return d.ack()
}

// consume reads what a session receives.
func (d *delivery) consume() error {
	d.to.Verb, d.to.Prefetch = request.AMQPConsume, prefetchDefault
	if err := d.queue(); err != nil {
		return err
	}
	if err := d.ack(); err != nil {
		return err
	}
	if v := d.of("prefetch"); v != nil {
		var err error
		if d.to.Prefetch, err = language.Integer(d.fn, "prefetch", v, 0, prefetchMost); err != nil {
			return err
		}
		if d.to.Flags.Is(request.AMQPAuto) {
			return language.Faultf("%s has prefetch, and ack = \"auto\" leaves no message to count", d.fn).In("prefetch").Do("take it out, or write ack = \"each\"")
		}
	}
	return d.flag("exclusive", request.AMQPExclusive, false)
}
