package talk

import (
	"fmt"
	"strings"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/redis"
)

// ask is redis.command and redis.pipeline.
type ask struct {
	greets    *redis.Protocol
	operation *redis.Operation
}

var _ verb = (*ask)(nil)

func (a *ask) open() codec.Opening {
	if a.greets.Greets() {
		return codec.Opening{Greeting: a.greets.Greet()}
	}
	return codec.Opening{Dialogue: a.greets.Begin()}
}

func (a *ask) say(x *Exchange, d codec.Dialogue) error {
	if x.stock.show != nil {
		x.stock.text = a.operation.Append(x.stock.text[:0], x.values)
		x.shows(redis.Describe(nil, x.stock.text, true))
	}
	return d.(*redis.Conn).Operate(a.operation, redis.Order{Values: x.values, Keeps: x.keeps, Sent: x.account.Commands().Sent()})
}

func (a *ask) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*redis.Conn).Outcome()
	x.account.Commands().Read(o.Hits, o.Misses)
	x.wrong, _ = o.Err.(*http1.Error)
	x.keep(payload)
	return true
}

func (a *ask) deaf() bool { return false }

func (a *ask) status() uint16 { return 200 }

func (a *ask) protocol() string { return "Redis" }

func (a *ask) left(uint16, string) error { return nil }

// redis prepares an operation.
func (p *Plan) redis(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.Redis
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	key := fmt.Sprintf("%s %q %q %d %d", r.URL, to.User, to.Password, to.Version, to.Database)
	var commands []redis.Command
	for _, c := range to.Commands {
		var command redis.Command
		for _, word := range c {
			command = append(command, argument(word, r.Placeholders))
		}
		commands = append(commands, command)
	}
	config := redis.Config{Version: to.Version, User: to.User, Password: to.Password, Database: to.Database, AnswerMax: w.HTTP.MaxBody}
	operation := redis.Compile
	if to.Pipeline {
		operation = redis.Pipeline
	}
	p.verb = &ask{greets: memory.protocol(key, config), operation: operation(commands)}
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// argument cuts a word of a command where placeholders stand in it.
func argument(word string, all []request.Placeholder) (a redis.Argument) {
	for {
		first, at := (*request.Placeholder)(nil), len(word)
		for i := range all {
			if k := strings.Index(word[:at], all[i].Word); k >= 0 {
				first, at = &all[i], k
			}
		}
		if first == nil {
			break
		}
		if at > 0 {
			a = append(a, redis.Part{Text: word[:at], Value: -1})
		}
		a, word = append(a, redis.Part{Value: first.Var}), word[at+len(first.Word):]
	}
	if word != "" || a == nil {
		a = append(a, redis.Part{Text: word, Value: -1})
	}
	return a
}

// protocolsMax bounds the targets that are remembered: functions may make them up.
const protocolsMax = 1000

// protocol returns what greets a target.
func (m *Memory) protocol(key string, c redis.Config) *redis.Protocol {
	p := m.protocols[key]
	if p == nil {
		if m.protocols == nil || len(m.protocols) >= protocolsMax {
			m.protocols = map[string]*redis.Protocol{}
		}
		c.Pool = &m.answers
		p = redis.New(c)
		m.protocols[key] = p
	}
	return p
}
