package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/feed"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/inspect"
	"hyperscale/core/workflow/language"
)

// Feed is the data of a workflow's iterations.
type Feed struct {
	Format  feed.Format
	Columns []string
	Rows    uint64
	Table   *feed.Table       // nil: it is in File
	File    *message.FeedFile // a file that does not travel
}

// feedValue is the result of feed.csv and its like.
type feedValue struct {
	language.Opaque
	feed Feed
	plan message.FeedPlan
}

func feedNamespace() *language.Namespace {
	return language.NewNamespace("feed", starlark.StringDict{
		"csv": declaring("feed.csv", func(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return l.feedFile("feed.csv", feed.CSV, args, kwargs)
		}),
		"json": declaring("feed.json", func(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return l.feedFile("feed.json", feed.JSON, args, kwargs)
		}),
		"list": declaring("feed.list", (*loader).feedList),
	})
}

func feedOrders() []string { return []string{"sequential", "shuffled", "random"} }
func feedEnds() []string   { return []string{"cycle", "stop", "fail"} }

// readFeed reads what all feeds share: the first argument, and how iterations take rows.
func readFeed(fn, first string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, message.FeedPlan, error) {
	var plan message.FeedPlan
	names := []string{first, "order", "unique", "at_end"}
	in := make([]starlark.Value, len(names))
	if err := language.Bind(fn, names, 1, args, kwargs, in); err != nil {
		return nil, plan, err
	}
	if in[0] == nil {
		return nil, plan, language.Faultf("%s: %s is missing", fn, first)
	}
	if in[2] != nil {
		unique, ok := in[2].(starlark.Bool)
		if !ok {
			return nil, plan, language.WrongType(fn, "unique", "True or False", in[2])
		}
		plan.Unique = bool(unique)
	}
	if plan.Unique {
		plan.AtEnd = message.RowsStop
	}
	order, err := builtin.OneOf(fn, "order", in[1], feedOrders())
	if err != nil {
		return nil, plan, err
	}
	plan.Order = message.RowOrder(slices.Index(feedOrders(), order))
	end, err := builtin.OneOf(fn, "at_end", in[3], feedEnds())
	if err != nil {
		return nil, plan, err
	}
	if in[3] != nil {
		plan.AtEnd = message.RowsEnd(slices.Index(feedEnds(), end))
	}
	switch {
	case plan.Unique && plan.Order == message.RowsRandom:
		return nil, plan, language.Faultf("%s: rows that are drawn at random come again, and unique = True takes each once", fn).In("order").Do("write order = \"shuffled\"")
	case plan.Unique && plan.AtEnd == message.RowsCycle:
		return nil, plan, language.Faultf("%s: unique = True takes each row once, and at_end = \"cycle\" begins again", fn).In("at_end").Do("write at_end = \"stop\" or \"fail\"")
	case plan.Order == message.RowsRandom && in[3] != nil:
		return nil, plan, language.Faultf("%s: rows that are drawn at random have no end", fn).In("at_end").Do("take at_end out, or write order = \"shuffled\"")
	}
	return in[0], plan, nil
}

// feedFile is feed.csv and feed.json.
func (l *loader) feedFile(fn string, format feed.Format, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	first, plan, err := readFeed(fn, "path", args, kwargs)
	if err != nil {
		return nil, err
	}
	name, ok := first.(starlark.String)
	if !ok {
		return nil, language.WrongType(fn, "#1", "the name of a file", first)
	}
	if err := collect.InsideFolder(fn, string(name)); err != nil {
		return nil, err.In("#1").Do("write %s(\"folder/name\")", fn)
	}
	plan.Name = string(name)
	if at := slices.IndexFunc(l.program.Feeds, func(f message.FeedFile) bool { return !f.Whole && f.Name == plan.Name }); at >= 0 {
		file := &l.program.Feeds[at]
		if file.JSON != (format == feed.JSON) {
			return nil, language.Faultf("%s: %q is read as CSV and as JSON", fn, plan.Name).In("#1")
		}
		plan.Rows = file.Rows
		return &feedValue{language.Opaque{Kind: "feed"}, Feed{Format: format, Columns: file.Columns, Rows: file.Rows, File: file}, plan}, nil
	}
	data, err := l.data(fn, plan.Name)
	if err != nil {
		return nil, err
	}
	table, err := feed.Scan(format, data)
	if err != nil {
		return nil, language.Faultf("%s: %s: %v", fn, plan.Name, err).In("#1")
	}
	plan.Rows = table.Rows
	return &feedValue{language.Opaque{Kind: "feed"}, Feed{Format: format, Columns: table.Columns, Rows: table.Rows, Table: table}, plan}, nil
}

// feedList is feed.list: rows in the file itself.
func (l *loader) feedList(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	first, plan, err := readFeed("feed.list", "rows", args, kwargs)
	if err != nil {
		return nil, err
	}
	values, err := language.List("feed.list", "#1", "rows", first)
	if err != nil {
		return nil, err
	}
	m := &guard.Meter{Limits: l.limits, Bytes: l.limits.LoadBytes, Total: l.limits.LoadBytes}
	var text []byte
	for i, v := range values {
		if _, ok := v.(*starlark.Dict); !ok {
			if _, nested := v.(starlark.Iterable); nested {
				return nil, language.Faultf("feed.list: row %d is %s", i+1, language.Describe(v)).In("#1").At(i).Do("write a dict, {\"name\": value}, or a text or number, which is then the column \"value\"")
			}
			own := starlark.NewDict(1)
			if err := own.SetKey(starlark.String("value"), v); err != nil {
				return nil, err
			}
			v = own
		}
		if text, err = builtin.AppendJSON(m, text, v, l.limits.Nesting); err != nil {
			return nil, language.Faultf("feed.list: row %d: %v", i+1, err).In("#1").At(i)
		}
		text = append(text, '\n')
	}
	table, err := feed.Scan(feed.JSON, text)
	if err != nil {
		return nil, language.Faultf("feed.list: %v", withoutLine(err)).In("#1")
	}
	plan.Name, plan.Rows = fmt.Sprintf("%s:%d", site.Filename(), site.Line), table.Rows
	return &feedValue{language.Opaque{Kind: "feed"}, Feed{Format: feed.JSON, Columns: table.Columns, Rows: table.Rows, Table: table}, plan}, nil
}

// withoutLine removes the line number, which a row of a list does not have.
func withoutLine(err error) error {
	var bad *feed.Error
	if errors.As(err, &bad) {
		own := *bad
		own.Line = 0
		return &own
	}
	return err
}

// takes reads a workflow's feed.
func (d *declaration) takes(in arguments) error {
	v := in.of("feed")
	if v == nil {
		return nil
	}
	f, ok := v.(*feedValue)
	if !ok {
		return language.WrongType("workflow", "feed", "what feed.csv, feed.json or feed.list returned", v)
	}
	d.plan.Feed, d.feed, d.columns = f.plan, &f.feed, f.feed.Columns
	return nil
}

// SetRow sets the row of the iteration: functions find it in vu.row.
func (v *VU) SetRow(from *feed.Reader, row uint64) { v.from, v.at, v.row = from, row, nil }

// rowValue returns the row of the iteration, as an immutable dict.
func (v *VU) rowValue() (starlark.Value, error) {
	switch {
	case v.w.Feed == nil:
		return nil, language.Faultf("this workflow has no feed").Do("write workflow(..., feed = feed.csv(\"people.csv\"))")
	case v.from == nil:
		return nil, language.Faultf("vu.row is of an iteration: there is none before the first").Do("read it in a step's function")
	case v.row != nil:
		return v.row, nil
	}
	fields := v.from.Raw(v.at)
	row := starlark.NewDict(len(fields))
	decode := json.Module.Members["decode"].(*starlark.Builtin)
	for i, name := range v.w.Feed.Columns {
		var value starlark.Value = starlark.String(fields[i])
		if v.w.Feed.Format == feed.JSON {
			text := string(fields[i])
			if err := builtin.ScanJSON(text, v.w.limits.Nesting, v.w.limits.IntBits/4); err != nil {
				return nil, err
			}
			var err error
			if value, err = decode.CallInternal(nil, starlark.Tuple{starlark.String(text)}, nil); err != nil {
				return nil, err
			}
		}
		if err := row.SetKey(starlark.String(name), value); err != nil {
			return nil, err
		}
	}
	row.Freeze()
	v.row = row
	return row, nil
}

// counterValue is the result of counter().
type counterValue struct {
	language.Opaque
	plan message.CounterPlan
	at   int // in the plan's list
}

// counter declares values that all virtual users of a job share, each of which one of them gets.
func (l *loader) counter(_ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [4]starlark.Value
	if err := language.Bind("counter", []string{"name", "most", "start", "at_end"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("counter: the name must be a text").In("#1")
	}
	if err := language.CheckName("counter", "#1", string(name)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(l.plan.Counters, func(c message.CounterPlan) bool { return c.Name == string(name) }) {
		return nil, language.Faultf("counter %q is declared twice", string(name)).In("#1").Do("declare it once, and use it in all functions")
	}
	if len(l.plan.Counters) >= plan.CountersMax {
		return nil, language.Faultf("more than %d counters", plan.CountersMax)
	}
	if in[1] == nil {
		return nil, language.Faultf("counter %q: most is missing", string(name)).Do("write how many values it has at most: most = 1000000")
	}
	most, err := language.Integer("counter", "most", in[1], 1, plan.CounterMax)
	if err != nil {
		return nil, err
	}
	c := message.CounterPlan{Name: string(name), Most: uint64(most), Start: 1, AtEnd: message.RowsStop}
	if in[2] != nil {
		start, err := language.Integer("counter", "start", in[2], 0, plan.CounterStart)
		if err != nil {
			return nil, err
		}
		c.Start = uint64(start)
	}
	end, err := builtin.OneOf("counter", "at_end", in[3], []string{"stop", "fail"})
	if err != nil {
		return nil, err
	}
	if end == "fail" {
		c.AtEnd = message.RowsFail
	}
	l.plan.Counters = append(l.plan.Counters, c)
	return &counterValue{language.Opaque{Kind: "counter"}, c, len(l.plan.Counters) - 1}, nil
}

// spent is the error with which vu.next ends a call once no values are left.
type spent struct{}

func (spent) Error() string { return "the counter has no more values" }

// vuNext is vu.next(counter): a value that no other virtual user gets.
func vuNext(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.next", []string{"counter"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	c, ok := in[0].(*counterValue)
	if !ok {
		if in[0] == nil {
			in[0] = starlark.None
		}
		return nil, language.WrongType("vu.next", "#1", "what counter returned", in[0]).Do("declare orders = counter(\"orders\", most = 1000000) outside of functions, and write vu.next(orders)")
	}
	n, ok := vuOf(thread).client.Next(c.at)
	if !ok {
		return nil, spent{}
	}
	return starlark.MakeUint64(c.plan.Start + n), nil
}

// waitDefault is how long a virtual user waits at a barrier that does not say it.
const waitDefault = 30 * time.Second

// barrierValue is the result of barrier().
type barrierValue struct {
	language.Opaque
	at int // in the plan's list
}

// barrier declares a point at which virtual users wait for each other.
func (l *loader) barrier(site syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [3]starlark.Value
	if err := language.Bind("barrier", []string{"name", "users", "timeout"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, ok := in[0].(starlark.String)
	if !ok {
		return nil, language.Faultf("barrier: the name must be a text").In("#1")
	}
	if err := language.CheckName("barrier", "#1", string(name)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(l.plan.Barriers, func(b message.BarrierPlan) bool { return b.Name == string(name) }) {
		return nil, language.Faultf("barrier %q is declared twice", string(name)).In("#1").Do("declare it once, and use it in all functions")
	}
	if len(l.plan.Barriers) >= plan.BarriersMax {
		return nil, language.Faultf("more than %d barriers", plan.BarriersMax)
	}
	if in[1] == nil {
		return nil, language.Faultf("barrier %q: users is missing", string(name)).Do("write how many virtual users wait for each other: users = 100")
	}
	users, err := language.Integer("barrier", "users", in[1], 2, plan.VUsMax)
	if err != nil {
		return nil, err
	}
	b := message.BarrierPlan{Name: string(name), Users: uint64(users), Timeout: waitDefault}
	if in[2] != nil {
		if b.Timeout, err = language.Duration("barrier", "timeout", in[2]); err != nil {
			return nil, err
		}
		if b.Timeout <= 0 || b.Timeout > plan.WaitMax {
			return nil, language.Faultf("barrier %q: timeout = %v is not above 0s and at most %v", b.Name, b.Timeout, plan.WaitMax).In("timeout").Do("write how long a virtual user waits for the others: timeout = \"30s\"")
		}
	}
	l.plan.Barriers = append(l.plan.Barriers, b)
	l.barrierAt = append(l.barrierAt, site)
	return &barrierValue{language.Opaque{Kind: "barrier"}, len(l.plan.Barriers) - 1}, nil
}

// crowds finds the barriers that wait for more virtual users than the plan has.
func (l *loader) crowds(p *message.Plan) (found []inspect.Finding) {
	var users uint64
	for i := range p.Workflows {
		users += p.Workflows[i].VUs
	}
	for i, b := range p.Barriers {
		if b.Users > users {
			at := l.barrierAt[i]
			e := l.src.ErrorAt(at.Filename(), int(at.Line), int(at.Col), 1,
				fmt.Sprintf("barrier %q waits for %d virtual users, and the workflows have %d together: each wait times out", b.Name, b.Users, users),
				"write users = "+strconv.FormatUint(max(users, 2), 10)+" or fewer, or give a workflow more vus")
			found = append(found, inspect.Finding{Error: *e, Warning: true})
		}
	}
	return found
}

// vuWait is vu.wait(barrier): whether all that the barrier wants have come.
func vuWait(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.wait", []string{"barrier"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	b, ok := in[0].(*barrierValue)
	if !ok {
		if in[0] == nil {
			in[0] = starlark.None
		}
		return nil, language.WrongType("vu.wait", "#1", "what barrier returned", in[0]).Do("declare rush = barrier(\"rush\", users = 100) outside of functions, and write vu.wait(rush)")
	}
	return starlark.Bool(vuOf(thread).client.Wait(b.at)), nil
}
