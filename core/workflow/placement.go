package workflow

import (
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/demand"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// pauses reads the pauses, and how long the end may take.
func (d *declaration) pauses(in arguments) (err error) {
	if between, ok := in.of("think").(*demand.Between); ok {
		d.plan.Think, d.plan.ThinkMax = between.Low, between.High
	} else if in.of("think") != nil {
		if d.plan.Think, err = language.Duration("workflow", "think", in.of("think")); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name string
		to   *time.Duration
	}{
		{"timeout", &d.plan.Timeout}, {"pace", &d.plan.Pace}, {"graceful_stop", &d.plan.GracefulStop}, {"interval", &d.plan.Interval},
		{"jitter", &d.plan.Jitter}, {"start_delay", &d.plan.StartDelay},
	} {
		if in.of(one.name) == nil {
			continue
		}
		if *one.to, err = language.Duration("workflow", one.name, in.of(one.name)); err != nil {
			return err
		}
	}
	if d.plan.Interval != 0 && d.plan.Interval < plan.IntervalMin {
		return language.Faultf("workflow %q: interval = %v is below %v", d.plan.Name, d.plan.Interval, plan.IntervalMin).In("interval").Do("write interval = \"1s\"")
	}
	return nil
}

// placement reads where and how the workflow runs.
func (d *declaration) placement(in arguments) error {
	priority, err := in.choice("priority", priorities()...)
	if err != nil {
		return err
	}
	d.plan.Priority = message.Importance(max(slices.Index(priorities(), priority), 0))
	if in.of("cores") != nil {
		n, err := language.Integer("workflow", "cores", in.of("cores"), 1, plan.CoresMax)
		if err != nil {
			return err
		}
		d.plan.Cores = uint32(n)
		if d.plan.Priority != message.PriorityAuto {
			return language.Faultf("workflow %q has cores and a priority, both say how many cores it gets", d.plan.Name).In("cores").Do("take one of them out")
		}
	}
	if err := d.memory(in.of("memory")); err != nil {
		return err
	}
	if err := d.connections(in); err != nil {
		return err
	}
	if d.plan.Tags, err = readTags("workflow", in.of("tags")); err != nil {
		return err
	}
	if err := d.reports(in.of("report")); err != nil {
		return err
	}
	if in.of("http") != nil {
		client, ok := in.of("http").(*request.Client)
		if !ok {
			return language.WrongType("workflow", "http", "http.client(...)", in.of("http"))
		}
		d.http = client.Options
	}
	return nil
}

// memory reads what each executor may have.
func (d *declaration) memory(v starlark.Value) error {
	if v == nil {
		return nil
	}
	n, err := request.Bytes("workflow", "memory", v, plan.MemoryMax)
	if err != nil {
		return err
	}
	if n < plan.MemoryMin {
		return language.Faultf("workflow %q: memory = %v is below %s, which an executor needs for itself", d.plan.Name, v, guard.Size(plan.MemoryMin)).In("memory").Do("write memory = \"2GiB\", or leave it out")
	}
	d.plan.Memory = uint64(n)
	return nil
}

// priorities lists the words for message.Importance, in its order.
func priorities() []string { return []string{"auto", "low", "normal", "high", "exclusive"} }

func (d *declaration) connections(in arguments) error {
	session, err := in.choice("session", "vu", "none")
	if err != nil {
		return err
	}
	if session == "none" {
		d.plan.Session = message.SessionNone
	}
	switch v := in.of("connections").(type) {
	case nil:
		return nil
	case starlark.String:
		if v == "per_vu" {
			return nil
		}
		return language.WrongType("workflow", "connections", "\"per_vu\" or a whole number", v).Meant(string(v), []string{"per_vu"})
	default:
		n, err := language.Integer("workflow", "connections", v, 1, plan.ConnectionsMax)
		if err != nil {
			return err
		}
		d.plan.Connections = uint32(n)
	}
	if d.plan.Session == message.SessionNone {
		return language.Faultf("workflow %q shares connections, and session = \"none\" closes them after each iteration", d.plan.Name).In("connections").Do("take one of them out")
	}
	return nil
}

// readTags reads a dict of texts, sorted by name.
func readTags(fn string, v starlark.Value) ([]message.Tag, error) {
	all, err := builtin.Pairs(fn, "tags", v)
	if err != nil {
		return nil, err
	}
	if len(all) > plan.TagsMax {
		return nil, language.Faultf("%s: %d tags, the limit is %d", fn, len(all), plan.TagsMax).In("tags")
	}
	var tags []message.Tag
	for i, p := range all {
		if err := language.CheckName(fn, "tags", p.Name); err != nil {
			return nil, err
		}
		if i > 0 && slices.ContainsFunc(all[:i], func(o builtin.Pair) bool { return o.Name == p.Name }) {
			return nil, language.Faultf("%s: the tag %q has two values", fn, p.Name).In("tags").Do("give it one")
		}
		if len(p.Value) > plan.TagMax {
			return nil, language.Faultf("%s: the tag %q is longer than %d bytes", fn, p.Name, plan.TagMax).In("tags")
		}
		tags = append(tags, message.Tag{Name: p.Name, Value: p.Value})
	}
	slices.SortFunc(tags, func(a, b message.Tag) int { return strings.Compare(a.Name, b.Name) })
	return tags, nil
}

// ReportKinds lists the formats of a result.
func ReportKinds() []string { return []string{"json", "csv", "xml", "junit", "prometheus", "html"} }

// reports reads KIND=FILE, and prometheus=URL.
func (d *declaration) reports(v starlark.Value) (err error) {
	if d.plan.Report, err = language.Names("workflow", "report", "outputs", v); err != nil {
		return err
	}
	if len(d.plan.Report) > plan.ReportsMax {
		return language.Faultf("workflow %q has %d reports, the limit is %d", d.plan.Name, len(d.plan.Report), plan.ReportsMax).In("report")
	}
	for i, r := range d.plan.Report {
		kind, place, _ := strings.Cut(r, "=")
		fault := language.Faultf("workflow %q: report has %q in it", d.plan.Name, language.Clip(r, 40)).In("report").At(i)
		switch {
		case !slices.Contains(ReportKinds(), kind) || place == "":
			return fault.Do("write KIND=FILE, such as \"json=result.json\", with one of %s", strings.Join(ReportKinds(), ", "))
		case len(r) > plan.ReportMax:
			return fault.Do("a place has at most %d bytes", plan.ReportMax)
		case strings.Contains(place, "://") && kind != "prometheus":
			return fault.Do("give the name of a file: prometheus alone takes an address")
		case strings.Contains(place, "://") && !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://"):
			return fault.Do("write \"prometheus=http://host:9090\", or the name of a file")
		}
	}
	return nil
}
