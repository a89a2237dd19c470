package kafka

import (
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// ConsumeArguments are those of kafka.consume.
func ConsumeArguments() []string {
	return []string{"target", "topics", "count", "start", "within", "group", "assignor", "timeout", "retry"}
}

// The bounds of a consumer.
const (
	topicsMost    = 100
	countMost     = 1 << 30
	withinDefault = 5 * time.Second
	withinLeast   = 10 * time.Millisecond // brokers count in milliseconds
	withinMost    = 10 * time.Minute
)

// records makes the request that reads records.
func (a *arguments) records(thread *starlark.Thread, use request.Use) (starlark.Value, error) {
	to, err := target(a.fn, a.of("target"))
	if err != nil {
		return nil, err
	}
	c := request.KafkaConsumer{Count: 1, Latest: true, Within: withinDefault}
	if c.Topics, err = a.topics(); err != nil {
		return nil, err
	}
	if v := a.of("count"); v != nil {
		if c.Count, err = language.Integer(a.fn, "count", v, 0, countMost); err != nil {
			return nil, err
		}
	}
	if v := a.of("start"); v != nil {
		start, err := builtin.OneOf(a.fn, "start", v, []string{"latest", "earliest"})
		if err != nil {
			return nil, err
		}
		c.Latest = start == "latest"
	}
	if v := a.of("within"); v != nil {
		if c.Within, err = language.Duration(a.fn, "within", v); err != nil {
			return nil, err
		}
		if c.Within < withinLeast || c.Within > withinMost {
			return nil, language.Faultf("%s: within is %v, and takes %v to %v", a.fn, c.Within, withinLeast, withinMost).In("within").Do("write within = \"5s\"")
		}
	}
	if err := a.group(&c); err != nil {
		return nil, err
	}
	if v := a.of("timeout"); v != nil {
		if timeout, err := language.Duration(a.fn, "timeout", v); err == nil && timeout <= c.Within {
			return nil, language.Faultf("%s: timeout = %v ends the operation before within = %v does", a.fn, timeout, c.Within).In("timeout").Do("make timeout longer than within")
		}
	}
	to.Consumes, to.Idempotent = &c, false
	r := &request.Request{Method: "CONSUME", URL: to.Seeds[0].URL(), Exchange: request.Exchange{Kafka: &to}}
	return request.NewDraft(thread, a.fn).End(r, a.in[slices.Index(a.names, "timeout"):], use)
}

// groupMost bounds the name of a group in bytes.
const groupMost = 249

// group reads the consumer group, and how it assigns.
func (a *arguments) group(c *request.KafkaConsumer) (err error) {
	if v := a.of("group"); v != nil {
		text, ok := starlark.AsString(v)
		switch {
		case !ok:
			return language.WrongType(a.fn, "group", "a text", v).Do("write group = \"load\"")
		case text == "" || len(text) > groupMost:
			return language.Faultf("%s: group has %d bytes, and takes 1 to %d", a.fn, len(text), groupMost).In("group").Do("write group = \"load\"")
		case strings.Contains(text, "${"):
			return language.Faultf("%s: group has ${ in it, and all users of a core share one member", a.fn).In("group").Do("write it out")
		}
		c.Group, c.Assignor = text, "range"
	}
	if v := a.of("assignor"); v != nil {
		if c.Group == "" {
			return language.Faultf("%s has an assignor and no group", a.fn).In("assignor").Do("write group = \"load\" as well")
		}
		c.Assignor, err = builtin.OneOf(a.fn, "assignor", v, []string{"range", "roundrobin"})
	}
	return err
}

// topics reads what a consumer reads from, in order.
func (a *arguments) topics() ([]string, error) {
	v := a.of("topics")
	if v == nil {
		return nil, language.Faultf("%s: the topics are missing", a.fn).Do("write %s(\"kafka://host\", [\"orders\"])", a.fn)
	}
	list, ok := v.(*starlark.List)
	if !ok || list.Len() == 0 || list.Len() > topicsMost {
		return nil, language.WrongType(a.fn, "topics", "a list of 1 to 100 names", v).Do("write topics = [\"orders\"]")
	}
	var all []string
	for i := range list.Len() {
		text, ok := starlark.AsString(list.Index(i))
		if !ok {
			return nil, language.WrongType(a.fn, "topics", "a list of texts", list.Index(i)).Do("write topics = [\"orders\"]")
		}
		if err := checkTopic(a.fn, text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
