package request

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/keyspace"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

const (
	redisCommandsMax = 10_000   // of one pipeline
	redisWordsMax    = 100_000  // of one operation
	redisDatabaseMax = 1 << 20  // Redis itself has 16 unless its settings say more
	redisBytesMax    = 64 << 20 // of one operation
)

// RedisSchemes are those of redis.client.
func RedisSchemes() Schemes {
	return Schemes{Plain: "redis", Secure: "rediss", Port: 6379, User: true, Path: true}
}

// RedisClientArguments are those of redis.client.
func RedisClientArguments() []string {
	return []string{"url", "user", "password", "protocol", "database", "cluster", "connections", "read_from", "redirects"}
}

// redisValue is the result of redis.client.
type redisValue struct {
	language.Opaque
	of     Redis
	proves [2]starlark.Value // user and password: a text or a secret; nil: it is in of
}

// Shared implements Sharer.
func (c *redisValue) Shared() *Target { return c.of.Target.IfShared() }

// newRedisClient is redis.client.
func newRedisClient(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "redis.client"
	var in [9]starlark.Value
	if err := language.Bind(fn, RedisClientArguments(), 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c, err := redisTarget(fn, in[0])
	if err != nil {
		return nil, err
	}
	out := &redisValue{Opaque: language.Opaque{Kind: fn}, proves: [2]starlark.Value{in[1], in[2]}}
	for i, known := range []string{c.User, c.Password} {
		name, v := RedisClientArguments()[i+1], in[i+1]
		if v == nil {
			continue
		}
		if known != "" {
			return nil, language.Faultf("%s has a %s in its URL and in %s", fn, name, name).In(name).Do("keep one of them")
		}
		text, ok, err := sentText(v)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, language.WrongType(fn, name, "a text or a secret", v)
		case text == "":
			return nil, language.Faultf("%s: %s is empty", fn, name).In(name).Do("leave it out, or write %s = secret(\"redis\")", name)
		case strings.Contains(text, "${"):
			return nil, language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", fn, name).In(name).Do("write it out, or take it from a secret")
		}
	}
	if (c.User != "" || in[1] != nil) && c.Password == "" && in[2] == nil {
		return nil, language.Faultf("%s has a user and no password", fn).In("user").Do("add password = secret(\"redis\")")
	}
	if in[3] != nil {
		if c.Version, err = language.Integer(fn, "protocol", in[3], 2, 3); err != nil {
			return nil, err
		}
	}
	if in[4] != nil {
		if c.Target.Path != "" {
			return nil, language.Faultf("%s has a database in its URL and in database", fn).In("database").Do("keep one of them")
		}
		if c.Database, err = language.Integer(fn, "database", in[4], 0, redisDatabaseMax); err != nil {
			return nil, err
		}
	}
	if err = c.inCluster(fn, in[5], in[7], in[8]); err != nil {
		return nil, err
	}
	out.of = c
	return out, c.Target.Shares(fn, in[6])
}

// inCluster reads cluster, and what only a cluster has: read_from and redirects.
func (r *Redis) inCluster(fn string, cluster, from, redirects starlark.Value) (err error) {
	switch v := cluster.(type) {
	case nil:
	case starlark.Bool:
		r.Cluster = bool(v)
	default:
		return language.WrongType(fn, "cluster", "True or False", v)
	}
	for i, v := range []starlark.Value{from, redirects} {
		if name := []string{"read_from", "redirects"}[i]; v != nil && !r.Cluster {
			return language.Faultf("%s has %s, and only a cluster has that", fn, name).In(name).Do("add cluster = True, or leave %s out", name)
		}
	}
	if r.Cluster && r.Database != 0 {
		return language.Faultf("%s has the database %d, and a cluster has the database 0 alone", fn, r.Database).In("database").Do("leave it out")
	}
	switch text, is := starlark.AsString(from); {
	case from == nil, is && text == "master":
	case is && text == "replica":
		r.Replicas = true
	default:
		return language.Faultf("%s: read_from must be \"master\" or \"replica\", not %s", fn, language.Describe(from)).In("read_from")
	}
	if redirects != nil {
		r.Redirects, err = language.Integer(fn, "redirects", redirects, 0, redirectsMax)
	}
	return err
}

// redisTarget reads a URL, or the result of redis.client.
func redisTarget(fn string, v starlark.Value) (r Redis, err error) {
	if c, ok := v.(*redisValue); ok && fn != "redis.client" {
		r = c.of
		for i, to := range []*string{&r.User, &r.Password} {
			if c.proves[i] != nil && err == nil {
				*to, _, err = sentText(c.proves[i]) // a function's secrets have values
			}
		}
		return r, err
	}
	if _, ok := v.(starlark.String); !ok && v != nil && fn != "redis.client" {
		return r, language.WrongType(fn, "target", "a URL or the result of redis.client", v).Do("write %s(\"redis://host\", ...)", fn)
	}
	t, err := RedisSchemes().Read(fn, v)
	if err != nil {
		return r, err
	}
	r = Redis{Target: t, Version: 2, User: t.User, Password: t.Password}
	if t.User, t.Password = "", ""; t.Path != "" {
		n, err := strconv.ParseUint(t.Path, 10, 20)
		if err != nil {
			return r, language.Faultf("%s: %q is not the number of a database", fn, language.Clip(t.Path, 40)).In("url").Do("write redis://host/0, or leave it out")
		}
		r.Database = int(n)
	}
	if r.User != "" && r.Password == "" {
		return r, language.Faultf("%s: the URL has a user and no password", fn).In("url").Do("write redis.client(\"redis://host\", user = ..., password = secret(\"redis\"))")
	}
	return r, nil
}

// RedisArguments are those of redis.command beside the words of its command, and with commands those
// of redis.pipeline.
func RedisArguments(pipeline bool) []string {
	if pipeline {
		return []string{"target", "commands", "timeout", "retry"}
	}
	return []string{"target", "timeout", "retry"}
}

// RedisNamespace is redis and vu.redis: command asks one command, pipeline several at once.
func RedisNamespace(under string, own []string, use Use) *language.Namespace {
	command, pipeline := under+".command", under+".pipeline"
	members := starlark.StringDict{
		"command": &guard.Func{Word: "command", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			names := append(RedisArguments(false), own...)
			in := make([]starlark.Value, len(names))
			words, err := language.BindRest(command, names, 1, "words", args, kwargs, in)
			if err != nil {
				return nil, err
			}
			if len(words) == 0 {
				return nil, language.Faultf("%s: the command is missing", command).Do("write %s(\"redis://host\", \"GET\", \"key\")", command)
			}
			q := redisRequest{thread: thread, fn: command, pipeline: false}
			return q.operation(in[0], [][]starlark.Value{words}, in[1:], use)
		}},
		"pipeline": &guard.Func{Word: "pipeline", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			names := append(RedisArguments(true), own...)
			in := make([]starlark.Value, len(names))
			if err := language.Bind(pipeline, names, 2, args, kwargs, in); err != nil {
				return nil, err
			}
			commands, err := redisPipeline(pipeline, in[1])
			if err != nil {
				return nil, err
			}
			q := redisRequest{thread: thread, fn: pipeline, pipeline: true}
			return q.operation(in[0], commands, in[2:], use)
		}},
	}
	if under == "redis" {
		members["client"] = &guard.Func{Word: "client", Call: newRedisClient}
	}
	return language.NewNamespace(under, members)
}

// redisPipeline returns the commands of a pipeline.
func redisPipeline(fn string, given starlark.Value) (all [][]starlark.Value, err error) {
	example := "write " + fn + "(\"redis://host\", [[\"SET\", \"a\", \"1\"], [\"INCR\", \"n\"]])"
	if given == nil {
		return nil, language.Faultf("%s: the commands are missing", fn).Do("%s", example)
	}
	list, err := language.List(fn, "commands", "lists, one a command", given)
	if err != nil {
		return nil, err
	}
	switch {
	case len(list) == 0:
		return nil, language.Faultf("%s has no commands", fn).In("commands").Do("%s", example)
	case len(list) > redisCommandsMax:
		return nil, language.Faultf("%s has %d commands, one pipeline sends at most %d", fn, len(list), redisCommandsMax).In("commands")
	}
	for i, one := range list {
		if _, ok := one.(starlark.String); ok {
			return nil, language.Faultf("%s: commands[%d] is a text, and each command is a list", fn, i).In("commands").At(i).Do("%s", example)
		}
		words, err := language.List(fn, "commands", "texts", one)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 {
			return nil, language.Faultf("%s: commands[%d] is empty", fn, i).In("commands").At(i).Do("%s", example)
		}
		all = append(all, words)
	}
	return all, nil
}

// redisRequest makes a request of commands.
type redisRequest struct {
	thread   *starlark.Thread
	fn       string
	pipeline bool
	b        *Placeholders
	size     int
}

// argument names the argument that a command is.
func (q *redisRequest) argument(i int) string {
	if q.pipeline {
		return "commands[" + strconv.Itoa(i) + "]"
	}
	return "command"
}

// operation makes the request. Given are timeout, retry and those of the request's user.
func (q *redisRequest) operation(target starlark.Value, commands [][]starlark.Value, given []starlark.Value, use Use) (starlark.Value, error) {
	of, err := redisTarget(q.fn, target)
	if err != nil {
		return nil, err
	}
	if w := wordsOf(q.thread); w != nil {
		q.b = &Placeholders{words: w, thread: q.thread}
	}
	of.Pipeline = q.pipeline
	words := 0
	for i, given := range commands {
		if words += len(given); words > redisWordsMax {
			return nil, language.Faultf("%s has more than %d words", q.fn, redisWordsMax).In(q.argument(i))
		}
		c, err := q.readCommand(i, given)
		if err != nil {
			return nil, q.b.Explain(err)
		}
		of.Commands = append(of.Commands, c)
	}
	if of.Target.Connections > 0 {
		if err := q.closed(of.Commands); err != nil {
			return nil, q.b.Explain(err)
		}
	}
	if of.Cluster {
		if err := q.oneSlot(of.Commands); err != nil {
			return nil, q.b.Explain(err)
		}
	}
	r := &Request{Method: redisMethod(&of), URL: of.Target.URL(), Exchange: Exchange{Redis: &of}}
	var fields [argCount]starlark.Value
	fields[argTimeout], fields[argRetry] = given[0], given[1]
	if err := r.fields(q.fn, q.b, &fields); err != nil {
		return nil, err
	}
	if err := guard.MeterOf(q.thread).Charge(q.thread, q.size+32*words+128*q.b.count()); err != nil {
		return nil, err
	}
	own := given[2:]
	if !slices.ContainsFunc(own, func(v starlark.Value) bool { return v != nil }) {
		own = nil
	}
	return use(q.thread, r, q.b, own)
}

// closed refuses commands that leave a transaction open on a connection that virtual users share.
func (q *redisRequest) closed(commands [][]string) error {
	open, at := "", 0
	for i, c := range commands {
		switch name := strings.ToUpper(c[0]); name {
		case "MULTI", "WATCH":
			open, at = name, i
		case "EXEC", "DISCARD", "UNWATCH":
			open = ""
		}
	}
	if open == "" {
		return nil
	}
	return language.Faultf("%s: %s leaves its connection in a transaction, and virtual users share it", q.fn, open).In(q.argument(at)).
		Do("write redis.pipeline with %s and EXEC, or take connections out of redis.client", open)
}

const (
	subscribeNamesMax = 1000     // of one subscription
	subscribeBytesMax = 48 << 10 // of its names: less than a message brings beside its text
)

// SubscribeArguments are those of vu.redis.subscribe.
func SubscribeArguments() []string {
	return []string{"target", "channels", "patterns", "sharded", "timeout"}
}

// Subscribe is vu.redis.subscribe, which opens a session.
func Subscribe(under string, own []string, use Use) *guard.Func {
	fn := under + ".subscribe"
	names := append(SubscribeArguments(), own...)
	return &guard.Func{Word: "subscribe", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, 2, args, kwargs, in); err != nil {
			return nil, err
		}
		of, err := redisTarget(fn, in[0])
		if err != nil {
			return nil, err
		}
		size := 0
		for i, verb := range []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"} {
			all, err := subscribed(fn, names[1+i], in[1+i])
			if err != nil {
				return nil, err
			}
			if len(all) > 0 {
				of.Commands = append(of.Commands, append([]string{verb}, all...))
			}
			for _, name := range all {
				size += len(name)
			}
		}
		switch {
		case len(of.Commands) == 0:
			return nil, language.Faultf("%s names no channel", fn).In("channels").Do("write %s(\"redis://host\", [\"news\"], patterns = [\"log.*\"])", fn)
		case of.Cluster && in[3] != nil:
			return nil, language.Faultf("%s: sharded channels belong to a slot, and a session of a cluster stays at the node of its URL", fn).In("sharded").Do("give it a client without cluster = True, of the node that has the slot")
		case size > subscribeBytesMax:
			return nil, language.Faultf("%s: the names have more than %d KiB", fn, subscribeBytesMax>>10).In("channels").Do("open a session for some of them")
		}
		of.Pipeline = true
		r := &Request{Method: of.Commands[0][0], URL: of.Target.URL(), Exchange: Exchange{Redis: &of}}
		var fields [argCount]starlark.Value
		fields[argTimeout] = in[4]
		if err := r.fields(fn, nil, &fields); err != nil {
			return nil, err
		}
		if err := guard.MeterOf(thread).Charge(thread, size+128); err != nil {
			return nil, err
		}
		return use(thread, r, nil, in[len(SubscribeArguments()):])
	}}
}

// subscribed reads the names of one kind.
func subscribed(fn, argument string, v starlark.Value) (all []string, err error) {
	if v == nil {
		return nil, nil
	}
	list, err := language.List(fn, argument, "texts", v)
	if err != nil {
		return nil, err
	}
	if len(list) > subscribeNamesMax {
		return nil, language.Faultf("%s: %s has %d names, one session has at most %d", fn, argument, len(list), subscribeNamesMax).In(argument).Do("open a session for some of them")
	}
	for i, one := range list {
		name, ok, err := sentText(one)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, language.Faultf("%s: %s[%d] must be a text, not %s", fn, argument, i, language.Describe(one)).In(argument)
		case slices.Contains(all, name):
			return nil, language.Faultf("%s: %s has %q twice", fn, argument, language.Clip(name, 40)).In(argument).Do("name each once: a channel tells each message once")
		}
		all = append(all, name)
	}
	return all, nil
}

// Subscribes reports whether the request opens a subscription.
func (r *Redis) Subscribes() bool { return strings.HasSuffix(r.Commands[0][0], "SUBSCRIBE") }

// oneSlot reports commands of which a node of a cluster could not have all keys. Those with values are
// judged when they are filled.
func (q *redisRequest) oneSlot(commands [][]string) error {
	first, slot := "", -1
	for i, c := range commands {
		at, known := keyspace.Keys(c)
		if !known {
			return language.Faultf("%s: where the keys of %s stand is not known, and a cluster's node is found by them", q.fn, strings.ToUpper(c[0])).In(q.argument(i)).Do("ask it by a client without cluster = True, of the node that has them")
		}
		for _, k := range at {
			now := keyspace.Slot(c[k])
			switch {
			case q.open(c[k]):
			case slot < 0:
				first, slot = c[k], now
			case slot != now:
				return language.Faultf("%s: the keys %q and %q belong to the slots %d and %d, and one operation goes to one node (CROSSSLOT)", q.fn, language.Clip(first, 40), language.Clip(c[k], 40), slot, now).In(q.argument(i)).Do("give them one hash tag, as in \"{user:7}.a\" and \"{user:7}.b\", or take an operation for each")
			}
		}
	}
	return nil
}

// open reports whether a key has values in it.
func (q *redisRequest) open(key string) bool {
	return q.b != nil && (q.b.words.Vault.Has(key) || slices.ContainsFunc(q.b.List, func(blank Blank) bool { return strings.Contains(key, blank.Word) }))
}

// redisMethod is what results call the request.
func redisMethod(r *Redis) string {
	if r.Pipeline {
		return "PIPELINE"
	}
	return strings.ToUpper(r.Commands[0][0])
}

// readCommand reads the words of one command.
func (q *redisRequest) readCommand(i int, given []starlark.Value) (words []string, err error) {
	if err := q.judgeCommand(i, given); err != nil {
		return nil, err
	}
	for _, v := range given {
		var text string
		switch v := v.(type) {
		case starlark.String, *secret.Text:
			if text, _, err = sentText(v); err == nil {
				text, err = q.b.put(q.fn, q.argument(i), text)
			}
			if err != nil {
				return nil, err
			}
		case starlark.Bytes:
			text = string(v)
		case starlark.Int:
			text = v.String()
		case starlark.Float:
			text = strconv.FormatFloat(float64(v), 'g', -1, 64)
		case *File:
			return nil, language.Faultf("%s: a file cannot stand in a command", q.fn).In(q.argument(i)).Do("read a text with file(...).text, or a feed")
		default:
			return nil, language.WrongType(q.fn, q.argument(i), "texts, bytes or numbers", v).Do("for a dict or a list write json.encode(...)")
		}
		if q.size += len(text); q.size > redisBytesMax {
			return nil, language.Faultf("%s sends more than %d MiB", q.fn, redisBytesMax>>20).In(q.argument(i))
		}
		words = append(words, text)
	}
	return words, nil
}

// judgeCommand judges a command by its name.
func (q *redisRequest) judgeCommand(i int, given []starlark.Value) error {
	name, ok := starlark.AsString(given[0])
	if !ok || !isCommand(name) {
		f := language.Faultf("%s: %s is not a command's name", q.fn, language.Describe(given[0])).In(q.argument(i))
		if strings.Contains(name, " ") {
			return f.Do("write each word as a text of its own: \"CONFIG\", \"GET\"")
		}
		return f.Do("write it out, as in \"GET\": values go into the words behind it")
	}
	upper := strings.ToUpper(name)
	if why := unaskable(upper, given); why != "" {
		return language.Faultf("%s: %s %s", q.fn, upper, why).In(q.argument(i))
	}
	return nil
}

func isCommand(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// unaskable says why a command cannot be asked: it changes how a connection answers.
func unaskable(name string, given []starlark.Value) string {
	second := ""
	if len(given) > 1 {
		text, _ := starlark.AsString(given[1])
		second = strings.ToUpper(text)
	}
	switch name {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE":
		return "makes messages come that no command asks for: write vu.redis.subscribe(target, [\"news\"]) in a function"
	case "MONITOR", "SYNC", "PSYNC", "REPLCONF":
		return "makes its connection answer without end"
	case "AUTH", "HELLO", "RESET", "QUIT":
		return "changes a connection that others use after it: redis.client has user, password and protocol"
	case "SELECT":
		return "changes a connection that others use after it: redis.client has database"
	case "CLIENT":
		if second == "REPLY" {
			return "REPLY takes answers away, and each command is counted by its own"
		}
	}
	return ""
}
