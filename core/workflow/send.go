package workflow

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/plan"
	"hyperscale/core/workflow/broker"
	"hyperscale/core/workflow/broker/kafka"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/custom"
	"hyperscale/core/workflow/extract"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/mail"
	"hyperscale/core/workflow/mongodb"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/core/workflow/transfer"
)

// sendNamespace is vu.http; under marked names it holds what else all virtual users share.
func sendNamespace() *language.Namespace {
	known := func(thread *starlark.Thread, method, url string) *request.Request {
		return vuOf(thread).client.Known(method, url)
	}
	members := request.Requester("vu.http", asArguments(), known, send("vu.http", nil))
	members[language.Mark+"graphql"] = sendQueries()
	members[language.Mark+"grpc"] = request.GRPCNamespace("vu.grpc", asArguments(), send("vu.grpc", nil), starlark.StringDict{"open": request.OpenGRPC("vu.grpc", sessionArguments(), opens("vu.grpc.open"))})
	deliveries := broker.MQTT("vu.mqtt", asArguments(), send("vu.mqtt", nil))
	deliveries.Members["subscribe"] = broker.SubscribeTopics("vu.mqtt.subscribe", sessionArguments(), opens("vu.mqtt.subscribe"))
	members[language.Mark+"mqtt"] = deliveries
	letters := broker.NATS("vu.nats", asArguments(), send("vu.nats", nil))
	letters.Members["subscribe"] = broker.Subscribe("vu.nats.subscribe", sessionArguments(), opens("vu.nats.subscribe"))
	letters.Members["pull"] = broker.Pull("vu.nats.pull", sessionArguments(), opens("vu.nats.pull"))
	members[language.Mark+"nats"] = letters
	members[language.Mark+"kafka"] = kafka.Namespace("vu.kafka", asArguments(), send("vu.kafka", nil))
	members[language.Mark+"smtp"] = mail.SMTP("vu.smtp", asArguments(), send("vu.smtp", nil))
	members[language.Mark+"mongodb"] = mongodb.Namespace("vu.mongodb", asArguments(), send("vu.mongodb", nil))
	queues := broker.AMQP("vu.amqp", asArguments(), send("vu.amqp", nil))
	queues.Members["consume"] = broker.Consume("vu.amqp.consume", sessionArguments(), opens("vu.amqp.consume"))
	members[language.Mark+"amqp"] = queues
	members[language.Mark+"custom"] = custom.Namespace("vu.custom", asArguments(), send("vu.custom.call", nil), nil)
	members[language.Mark+"ftp"] = transfer.FTP("vu.ftp", asArguments(), send("vu.ftp", nil))
	members[language.Mark+"sftp"] = transfer.SFTP("vu.sftp", asArguments(), send("vu.sftp", nil))
	members[language.Mark+"scp"] = transfer.SCP("vu.scp", asArguments(), send("vu.scp", nil))
	commands := request.RedisNamespace("vu.redis", asArguments(), send("vu.redis", nil))
	commands.Members["subscribe"] = request.Subscribe("vu.redis", sessionArguments(), opens("vu.redis.subscribe"))
	members[language.Mark+"redis"] = commands
	streams := request.SSE("vu.sse", asArguments(), readUntil, send("vu.sse.read", nil))
	streams.Members["open"] = request.OpenStream("vu.sse", sessionArguments(), opens("vu.sse.open"))
	members[language.Mark+"sse"] = streams
	members[language.Mark+"websocket"] = request.OpenSocket("vu.websocket", sessionArguments(), opens("vu.websocket.open"))
	members[language.Mark+"tcp"] = request.TCP("vu.tcp", asArguments(), send("vu.tcp.exchange", nil))
	members[language.Mark+"udp"] = request.UDP("vu.udp", asArguments(), send("vu.udp.exchange", nil))
	asks := request.SQLNamespace("vu.sql", asArguments(), send("vu.sql", nil))
	asks.Members["begin"] = request.SQLBegin(asArguments(), within)
	members[language.Mark+"sql"] = asks
	members[language.Mark+"wait"] = &guard.Func{Word: "wait", Call: vuWait}
	members[language.Mark+"next"] = &guard.Func{Word: "next", Call: vuNext}
	members[language.Mark+"log"] = &guard.Func{Word: "log", Call: vuLog}
	members[language.Mark+"sleep"] = &guard.Func{Word: "sleep", Call: vuSleep}
	members[language.Mark+"random"] = builtin.Random()
	members[language.Mark+"group"] = &guard.Func{Word: "group", Call: vuGroup}
	return language.NewNamespace("vu.http", members)
}

// logMax bounds one line of vu.log.
const logMax = 1000

func vuLog(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.log", []string{"text"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	text, ok := starlark.AsString(in[0])
	if !ok && in[0] != nil {
		if _, err := guard.MeterOf(thread).Rendered(in[0]); err != nil {
			return nil, err
		}
		text = in[0].String()
	}
	vuOf(thread).client.Log(language.Clip(text, logMax))
	return starlark.None, nil
}

func vuSleep(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.sleep", []string{"duration"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("vu.sleep: say how long: vu.sleep(\"250ms\")")
	}
	var d time.Duration
	d, err := language.Duration("vu.sleep", "duration", in[0])
	if err != nil {
		return nil, err
	}
	vuOf(thread).client.Sleep(d)
	return starlark.None, nil
}

// sendQueries is vu.graphql.
func sendQueries() *language.Namespace {
	return request.GraphQL("vu.graphql", asArguments(), send("vu.graphql.query", []extract.Expect{extract.GraphQLExpect()}))
}

// As says under which name a function's request is accounted, and what a good answer is like.
// The zero As is the request's method and path, and a status below 400.
type As struct {
	Group  string // of vu.group, with a / between nested ones
	Name   string
	Expect []extract.Expect
	Again  bool // it was sent before, and failed

	Transaction *session.Transaction // that it is a part of; nil: of none
}

func (a *As) again() *As {
	var next As
	if a != nil {
		next = *a
	}
	next.Again = true
	return &next
}

// Reads reports whether Expect reads the head, or the body, of the response.
func (a *As) Reads() (head, body bool) { return reads(a.Expect) }

// Judge judges a whole response by Expect, and writes the verdict into it.
func (a *As) Judge(r *Response) {
	if len(a.Expect) == 0 {
		return
	}
	r.Judged = true
	if !judgesStatus(a.Expect) && r.Status >= 400 {
		r.Wrong, r.Why = "status", "status "+strconv.Itoa(r.Status)
		return
	}
	if _, body := a.Reads(); body {
		got := newResponse(r)
		if err := got.read(); err != nil {
			r.Wrong, r.Why = language.Clip(got.made.unread.kind, kindMax), language.Clip(got.made.unread.why, detailMax)
			return
		}
	}
	view := extract.View{Status: r.Status, Code: r.Code, Latency: r.Latency, Size: r.length(), Fields: r.Fields, Body: r.Body}
	for i := range a.Expect {
		if why := a.Expect[i].Fails(&view); why != "" {
			r.Wrong, r.Why = "expect", language.Clip(why, detailMax)
			return
		}
	}
}

// Good reports whether the answer is one: by the request's expect, else by its status.
func (r *Response) Good() bool {
	return r.Kind == "" && r.Wrong == "" && (r.Judged || r.Status < 400)
}

// NameMax bounds a name of vu.http or vu.group, in bytes.
const NameMax = 64

// checkRequestName reports why a request cannot have a name; empty: it can.
func checkRequestName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > NameMax:
		return "is longer than 64 bytes"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '<' || r == '>' || r == 0xfffd }):
		return "has a character that no table could show, or < or >"
	}
	return ""
}

// asArguments are the arguments of vu.http.get and its like beside those of the request.
func asArguments() []string { return []string{"name", "expect"} }

// readAs reads them; nil: the request has no name, no group and no expect.
func readAs(thread *starlark.Thread, fn string, own []starlark.Value, always []extract.Expect) (*As, error) {
	group, _ := thread.Local(groupKey).(string)
	var name, expect starlark.Value
	if own != nil {
		name, expect = own[0], own[1]
	}
	if group == "" && name == nil && expect == nil && always == nil {
		return nil, nil
	}
	a := &As{Group: group, Expect: always}
	if name != nil {
		text, ok := name.(starlark.String)
		if !ok {
			return nil, language.WrongType(fn, "name", "a text", name)
		}
		if why := checkRequestName(string(text)); why != "" {
			return nil, language.Faultf("%s: name = %q %s", fn, language.Clip(string(text), 40), why).In("name").Do("write name = \"login\"")
		}
		a.Name = string(text)
	}
	if expect != nil {
		all, err := readExpect(fn, fn, expect)
		if err != nil {
			return nil, err
		}
		a.Expect = append(all, always...)
	}
	return a, nil
}

// sessionArguments are those of vu.websocket.open and its like beside the request's.
func sessionArguments() []string { return asArguments()[:1] }

// opens opens a function's session.
func opens(fn string) request.Use {
	return func(thread *starlark.Thread, r *request.Request, _ *request.Placeholders, own []starlark.Value) (starlark.Value, error) {
		var name starlark.Value
		if len(own) > 0 {
			name = own[0]
		}
		as, err := readAs(thread, fn, []starlark.Value{name, nil}, nil)
		if err != nil {
			return nil, err
		}
		v := vuOf(thread)
		s, err := v.client.OpenSession(v.w.HTTP.Apply(r), as)
		if err != nil {
			return nil, err
		}
		return session.New(fn[:strings.LastIndexByte(fn, '.')], held{s}, guard.MeterOf(thread).Owner, kindOf(r)), nil
	}
}

// kindOf returns what a session is that a request opens.
func kindOf(r *request.Request) session.Kind {
	switch {
	case r.Stream != nil:
		return session.Events
	case r.Redis != nil:
		return session.Subscription
	case r.NATS != nil && r.NATS.Pull != nil:
		return session.Pulled
	case r.NATS != nil:
		return session.Letters
	case r.MQTT != nil:
		return session.Topics
	case r.AMQP != nil:
		return session.Deliveries
	case r.GRPC != nil:
		return session.Call
	}
	return session.Socket
}

// held gives a function the response of its session.
type held struct{ Session }

func (h held) Whole() starlark.Value { return newResponse(h.Response()) }

// within sends what a transaction asks. Nothing of it is sent twice.
func within(t *session.Transaction) request.Use {
	return func(thread *starlark.Thread, r *request.Request, _ *request.Placeholders, own []starlark.Value) (starlark.Value, error) {
		as, err := readAs(thread, "vu.sql", own, nil)
		if err == nil && as != nil {
			err = misplacedCode("vu.sql", as.Expect, r)
		}
		if err != nil {
			return nil, err
		}
		if why, err := t.Starts(); why != nil || err != nil {
			return newResponse(&Response{Kind: why.Kind, Error: why.Text}), err
		}
		if as == nil {
			as = new(As)
		}
		as.Transaction = t
		got := vuOf(thread).client.Do(r, as)
		t.Ends(r.SQL.Part, session.Failure{Kind: cmp.Or(got.Kind, got.Wrong), Text: cmp.Or(got.Error, got.Why)})
		return newResponse(got), nil
	}
}

// groupKey names a thread's group.
const groupKey = "group"

// vuGroup is vu.group(name, fn): requests that the function sends are accounted below the name.
func vuGroup(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("vu.group", []string{"name", "run"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("vu.group: the name is missing").Do("write vu.group(\"checkout\", lambda: ...)")
	}
	if why := checkRequestName(string(name)); why != "" {
		return nil, language.Faultf("vu.group: name = %q %s", language.Clip(string(name), 40), why).Do("write vu.group(\"checkout\", lambda: ...)")
	}
	fn, ok := in[1].(*starlark.Function)
	if !ok {
		return nil, language.Faultf("vu.group: the second argument must be a function, not %s", language.Describe(in[1])).Do("write vu.group(%q, lambda: ...)", string(name))
	}
	before, _ := thread.Local(groupKey).(string)
	group := string(name)
	if before != "" {
		group = before + "/" + group
	}
	if len(group) > plan.GroupMax {
		return nil, language.Faultf("vu.group: %q is nested too deep", language.Clip(group, 80)).Do("use shorter names, or fewer groups in each other")
	}
	thread.SetLocal(groupKey, group)
	defer thread.SetLocal(groupKey, before)
	var given starlark.Tuple
	if takesOnlyVU(fn) {
		given = starlark.Tuple{vuOf(thread).value()}
	}
	return starlark.Call(thread, fn, given, nil)
}

// send sends a function's request.
func send(fn string, always []extract.Expect) request.Use {
	return func(thread *starlark.Thread, r *request.Request, _ *request.Placeholders, own []starlark.Value) (starlark.Value, error) {
		as, err := readAs(thread, fn, own, always)
		if err == nil && as != nil {
			err = misplacedCode(fn, as.Expect, r)
		}
		if err != nil {
			return nil, err
		}
		v := vuOf(thread)
		r = v.w.HTTP.Apply(r)
		got := v.client.Do(r, as)
		for again := 0; r.Retry != nil && again < r.Retry.Times && !got.Good() && r.Retry.Again(cmp.Or(got.Kind, got.Wrong), got.Status); again++ {
			if v.client.Sleep(r.Retry.Wait); v.client.Stopped() {
				break
			}
			got = v.client.Do(r, as.again())
		}
		return newResponse(got), nil
	}
}
