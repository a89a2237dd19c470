package workflow

import (
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// pauses reads the pauses, and how long the end may take.
func (d *declaration) pauses(in arguments) (err error) {
	if between, ok := in.of("think").(*betweenValue); ok {
		d.plan.Think, d.plan.ThinkMax = between.low, between.high
	} else if in.of("think") != nil {
		if d.plan.Think, err = duration("workflow", "think", in.of("think")); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name string
		to   *time.Duration
	}{
		{"timeout", &d.plan.Timeout}, {"pace", &d.plan.Pace}, {"graceful_stop", &d.plan.GracefulStop}, {"interval", &d.plan.Interval},
	} {
		if in.of(one.name) == nil {
			continue
		}
		if *one.to, err = duration("workflow", one.name, in.of(one.name)); err != nil {
			return err
		}
	}
	if d.plan.Interval != 0 && d.plan.Interval < plan.IntervalMin {
		return faultf("workflow %q: interval = %v is below %v", d.plan.Name, d.plan.Interval, plan.IntervalMin).in("interval").do("write interval = \"1s\"")
	}
	return nil
}

// manners reads where and how it runs.
func (d *declaration) manners(in arguments) error {
	priority, err := in.choice("priority", priorities()...)
	if err != nil {
		return err
	}
	d.plan.Priority = message.Importance(max(slices.Index(priorities(), priority), 0))
	if in.of("cores") != nil {
		n, err := integer("workflow", "cores", in.of("cores"), 1, plan.CoresMax)
		if err != nil {
			return err
		}
		d.plan.Cores = uint32(n)
		if d.plan.Priority != message.PriorityAuto {
			return faultf("workflow %q has cores and a priority, both say how many cores it gets", d.plan.Name).in("cores").do("take one of them out")
		}
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
		client, ok := in.of("http").(*clientValue)
		if !ok {
			return wrongType("workflow", "http", "http.client(...)", in.of("http"))
		}
		d.http = client.options
	}
	return nil
}

// priorities are the words for message.Importance, in its order.
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
		return wrongType("workflow", "connections", "\"per_vu\" or a whole number", v).meant(string(v), []string{"per_vu"})
	default:
		n, err := integer("workflow", "connections", v, 1, plan.ConnectionsMax)
		if err != nil {
			return err
		}
		d.plan.Connections = uint32(n)
	}
	if d.plan.Session == message.SessionNone {
		return faultf("workflow %q shares connections, and session = \"none\" closes them after each iteration", d.plan.Name).in("connections").do("take one of them out")
	}
	return nil
}

// readTags reads a dict of texts, sorted by name.
func readTags(fn string, v starlark.Value) ([]message.Tag, error) {
	all, err := pairs(fn, "tags", v)
	if err != nil {
		return nil, err
	}
	if len(all) > plan.TagsMax {
		return nil, faultf("%s: %d tags, the limit is %d", fn, len(all), plan.TagsMax).in("tags")
	}
	var tags []message.Tag
	for i, p := range all {
		if err := checkName(fn, "tags", p.Name); err != nil {
			return nil, err
		}
		if i > 0 && slices.ContainsFunc(all[:i], func(o Pair) bool { return o.Name == p.Name }) {
			return nil, faultf("%s: the tag %q has two values", fn, p.Name).in("tags").do("give it one")
		}
		if len(p.Value) > plan.TagMax {
			return nil, faultf("%s: the tag %q is longer than %d bytes", fn, p.Name, plan.TagMax).in("tags")
		}
		tags = append(tags, message.Tag{Name: p.Name, Value: p.Value})
	}
	slices.SortFunc(tags, func(a, b message.Tag) int { return strings.Compare(a.Name, b.Name) })
	return tags, nil
}

// ReportKinds are the forms that a result can be written in.
func ReportKinds() []string { return []string{"json", "csv", "junit", "prometheus", "html"} }

// reports reads KIND=FILE, and prometheus=URL.
func (d *declaration) reports(v starlark.Value) (err error) {
	if d.plan.Report, err = names("workflow", "report", "outputs", v); err != nil {
		return err
	}
	if len(d.plan.Report) > plan.ReportsMax {
		return faultf("workflow %q has %d reports, the limit is %d", d.plan.Name, len(d.plan.Report), plan.ReportsMax).in("report")
	}
	for i, r := range d.plan.Report {
		kind, place, _ := strings.Cut(r, "=")
		fault := faultf("workflow %q: report has %q in it", d.plan.Name, clip(r, 40)).in("report").at(i)
		switch {
		case !slices.Contains(ReportKinds(), kind) || place == "":
			return fault.do("write KIND=FILE, such as \"json=result.json\", with one of %s", strings.Join(ReportKinds(), ", "))
		case len(r) > plan.ReportMax:
			return fault.do("a place has at most %d bytes", plan.ReportMax)
		case strings.Contains(place, "://") && kind != "prometheus":
			return fault.do("give the name of a file: prometheus alone takes an address")
		case strings.Contains(place, "://") && !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://"):
			return fault.do("write \"prometheus=http://host:9090\", or the name of a file")
		}
	}
	return nil
}
