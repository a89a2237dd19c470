package follow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
	"hyperscale/runtime/page"
	"hyperscale/runtime/report"
)

// outputKind is a form that --out writes a result in: to a file by encode, or, where
// the kind has one, to a server by serve.
type outputKind struct {
	name   string
	encode func(*report.Result) ([]byte, error)
	marks  []string                                        // each file of the kind begins with them, in some order
	serve  func(url string, tell teller) (listener, error) // nil: files only
}

func outputKinds() []outputKind {
	return []outputKind{
		{name: "json", encode: (*report.Result).Encode, marks: []string{`"schema": "hyperscale.result/`}},
		{name: "csv", encode: export.CSV, marks: []string{"job,name,started_at,datacenter,workflow,step,"}},
		{name: "xml", encode: export.XML, marks: []string{"<result>", "<schema>hyperscale.result/"}},
		{name: "junit", encode: export.JUnit, marks: []string{`<property name="job" `, `<property name="outcome" `}},
		{name: "prometheus", encode: export.Prometheus, marks: []string{"# HELP hyperscale_"}, serve: remoteWrite},
		{name: "html", encode: page.Render, marks: []string{"default-src &#39;none&#39;; img-src data:; base-uri"}},
	}
}

// ResultKind is a kind of output that takes the result.
type ResultKind struct{ Name, Place, About string }

// ResultKinds are the kinds that --out writes a result in.
func ResultKinds() (all []ResultKind) {
	about := map[string]string{
		"json": "the result file", "csv": "a row for each step", "xml": "the result file as XML", "junit": "thresholds and checks as tests",
		"prometheus": "metrics: at the end as a file, during the run by remote write", "html": "one page to look at",
	}
	for _, k := range outputKinds() {
		place := "FILE"
		if k.serve != nil {
			place += "-or-URL"
		}
		all = append(all, ResultKind{k.name, place, about[k.name]})
	}
	return all
}

// remoteWrite is a server that takes Prometheus' remote write.
func remoteWrite(url string, tell teller) (listener, error) {
	r, err := export.NewRemote(url)
	if err != nil {
		return nil, err
	}
	return export.NewPusher(r, tell), nil
}

// listener is a place on the network that hears of a job while it runs and at its end.
type listener interface {
	// Check finds out before the run whether it will listen.
	Check() error
	// Apply takes one status; it never waits.
	Apply(*message.JobStatus)
	// Finish reports the end, until the context ends.
	Finish(context.Context, *report.Result) error
	// Close gives up without an end. It may follow Finish.
	Close()
}

// Written is one `--out KIND=FILE`, or KIND=URL.
type Written struct {
	outputKind
	place  string
	server listener // nil: place is a file
	told   bool     // by the workflow's file, not by --out
}

// CutOut reads one --out: the kind by its number in names, and the place.
func CutOut(s string, names []string, known string) (at int, place string, err error) {
	kind, place, ok := strings.Cut(s, "=")
	if !ok || place == "" {
		return 0, "", command.Usage("--out %q: write KIND=FILE, as in --out json=result.json", s)
	}
	if at = slices.Index(names, kind); at < 0 {
		return 0, "", command.Usage("--out %q: no output of kind %q: use %s", kind+"="+export.Discreet(place), kind, known)
	}
	return at, place, nil
}

// Outputs reads what --out asks for.
func (f *Flags) Outputs(tell teller) ([]Written, error) {
	known := outputKinds()
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	var all []Written
	for _, s := range f.files() {
		at, place, err := CutOut(s, names, OutputNames()+sinkNames())
		if err != nil {
			return nil, err
		}
		kind := names[at]
		o := Written{outputKind: known[at], place: place, told: f.told}
		if command.IsURL(place) {
			if o.serve == nil {
				return nil, command.Usage("--out %s=%s: %s is written to a file: give its name, as in --out %[1]s=result.%[1]s", kind, export.Discreet(place), kind)
			}
			if o.server, err = o.serve(place, tell); err != nil {
				return nil, command.AsUsage(o.failed(err))
			}
		}
		all = append(all, o)
	}
	return all, nil
}

// files are the --out that no kind of rows takes.
func (f *Flags) files() (others []string) {
	for _, s := range f.Outs {
		if name, _, _ := strings.Cut(s, "="); !TakesRows(name) {
			others = append(others, s)
		}
	}
	return others
}

// TakesRows says that a kind takes rows while a run lasts, and no result at its end.
func TakesRows(kind string) bool {
	_, rows := rowsKind(kind)
	return rows || kind == sinkKind
}

// sinkNames lists the kinds that take rows.
func sinkNames() string {
	var names []string
	for _, k := range kinds.All() {
		if _, rows := rowsKind(k.Name); rows {
			names = append(names, k.Name+"="+k.Place)
		}
	}
	return "; for rows " + strings.Join(append(names, sinkKind+"=NAME"), ", ")
}

// OutputNames lists them for people: "json=FILE or csv=FILE".
func OutputNames() string {
	var names []string
	for _, k := range outputKinds() {
		name := k.name + "=FILE"
		if k.serve != nil {
			name += "-or-URL"
		}
		names = append(names, name)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return names[0]
}

// failed names the output that err is about, without the secrets in its address.
func (o *Written) failed(err error) error {
	by := "--out "
	if o.told {
		by = "the workflow's report "
	}
	return fmt.Errorf("%s%s=%s: %w", by, o.name, export.Discreet(o.place), err)
}

// Check finds out before the run that the output will find its place after it.
func (o *Written) Check() error {
	check := func() error { return Writable(o.place) }
	if o.server != nil {
		check = o.server.Check
	}
	err := o.allowed()
	if err == nil {
		err = check()
	}
	if err != nil {
		return command.AsUsage(o.failed(err))
	}
	return nil
}

// allowed says why the workflow's file may not name a place. The user may name any.
func (o *Written) allowed() error {
	if !o.told || o.server != nil {
		return nil
	}
	return ownPlace(o.place, o.marks...)
}

// Write writes the result to the file, or sends the end to the server.
func (o *Written) Write(ctx context.Context, r *report.Result) error {
	if o.server != nil {
		if err := o.server.Finish(ctx, r); err != nil {
			return o.failed(err)
		}
		return nil
	}
	b, err := o.encode(r)
	if err == nil {
		err = o.allowed() // it may have changed during the run
	}
	if err == nil {
		err = report.WriteFile(o.place, b)
	}
	if err != nil {
		return o.failed(err)
	}
	return nil
}

// reported is what a result says of an output.
func reported(o *outputs.Report) report.Output {
	out := report.Output{
		Name: o.Name, Kind: o.Kind, Offered: o.Rows, Delivered: o.Delivered, Behind: o.Behind, Rejected: o.Rejected, Lost: o.Lost,
		LostRequests: o.LostRequests, Merged: o.Merged, PerhapsTwice: o.PerhapsTwice, Failed: o.Failed,
	}
	if !o.Whole() {
		out.Error = o.Because()
	}
	return out
}
