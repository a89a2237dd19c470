package export

import (
	"encoding/xml"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// The elements and attributes that Jenkins, GitLab, Azure and Surefire's schema have in
// common, in the order that the strict ones want.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Time     string       `xml:"time,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string      `xml:"name,attr"`
	Classname string      `xml:"classname,attr"`
	Time      string      `xml:"time,attr"`
	Failure   *junitFault `xml:"failure"`
	Error     *junitFault `xml:"error"`
	Skipped   *junitSkip  `xml:"skipped"`
	SystemOut string      `xml:"system-out,omitempty"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitFault struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes a suite for the job and one for each workflow. Cases are the outcome, each
// threshold and each check. An unmet one is a failure, an incomplete run an error, a datacenter that
// best effort left out is skipped. Checks that a threshold judges together only show their counts.
func JUnit(r *report.Result) ([]byte, error) {
	all := junitSuites{Name: clean(r.Name), Time: seconds(r.DurationNS), Suites: []junitSuite{jobSuite(r)}}
	for i := range r.Workflows {
		all.Suites = append(all.Suites, workflowSuite(r, &r.Workflows[i]))
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.count()
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	b, err := xml.MarshalIndent(&all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the result as JUnit XML: %w", err)
	}
	return slices.Concat([]byte(xml.Header), b, []byte("\n")), nil
}

func (s *junitSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
}

func (s *junitSuite) property(name, value string) {
	s.Properties = append(s.Properties, junitProperty{clean(name), clean(value)})
}

// jobSuite is the job as a whole: its outcome is not that of its workflows alone.
func jobSuite(r *report.Result) junitSuite {
	s := junitSuite{Name: clean(r.Name), Time: seconds(r.DurationNS), Timestamp: timestamp(r.StartedAt)}
	class := class(r.Name, "")
	s.property("job", r.Job)
	s.property("outcome", r.Outcome)
	for _, c := range append(countsOf(&r.Totals), laterOf(&r.Totals)...) {
		s.property(c.name, strconv.FormatUint(c.n, 10))
	}
	s.property("generator.saturated", strconv.FormatBool(r.Generator.Saturated))
	if r.Generator.Throttled() {
		s.property("generator.throttled_for_ns", strconv.FormatInt(r.Generator.ThrottledNS, 10))
	}
	s.property("generator.lag.p99_ns", strconv.FormatUint(r.Generator.LagNS.P99, 10))
	if r.Run != nil {
		s.property("version", r.Run.Version)
		s.property("command", strings.Join(r.Run.Command, " "))
		s.property("seed", strconv.FormatUint(r.Run.Seed, 10))
	}
	s.Cases = append(s.Cases, outcomeCase(class, r.Outcome, r.Error, r.DurationNS))
	for _, name := range slices.Sorted(maps.Keys(r.Datacenters)) {
		if d := r.Datacenters[name]; len(r.Datacenters) > 1 {
			c := outcomeCase(class, d.Outcome, d.Error, 0)
			c.Name += " in " + clean(name)
			if c.Error != nil && slices.Contains(r.Missing, name) { // the job did without it
				c.Error, c.Skipped = nil, &junitSkip{c.Error.Message}
			}
			s.Cases = append(s.Cases, c)
		}
	}
	known := func(workflow string) bool {
		return slices.ContainsFunc(r.Workflows, func(w report.Workflow) bool { return w.Name == workflow })
	}
	for _, t := range r.Thresholds {
		if !known(t.Workflow) {
			s.Cases = append(s.Cases, thresholdCase(class, t))
		}
	}
	return s
}

func workflowSuite(r *report.Result, w *report.Workflow) junitSuite {
	s := junitSuite{Name: clean(r.Name) + ": " + clean(w.Name), Time: seconds(w.DurationNS), Timestamp: timestamp(r.StartedAt)}
	class := class(r.Name, w.Name)
	s.property("vus", strconv.FormatUint(w.VUs, 10))
	s.property("cores", strconv.FormatUint(uint64(w.Cores), 10))
	for _, c := range append(countsOf(&w.Totals), laterOf(&w.Totals)...) {
		s.property(c.name, strconv.FormatUint(c.n, 10))
	}
	all := slices.Concat(w.Steps, w.Requests, w.Beside)
	for i := range all {
		step := &all[i]
		s.property(step.Name+".rate_milli", strconv.FormatUint(step.RateMilli, 10))
		for _, c := range figuresOf(&step.LatencyNS) {
			s.property(step.Name+".latency_ns."+c.name, strconv.FormatUint(c.n, 10))
		}
	}
	s.Cases = append(s.Cases, outcomeCase(class, w.Outcome, w.Error, w.DurationNS))
	judged := false
	for _, t := range r.Thresholds {
		if t.Workflow == w.Name {
			s.Cases = append(s.Cases, thresholdCase(class, t))
			judged = judged || t.Of == "checks"
		}
	}
	for i := range w.Checks {
		s.Cases = append(s.Cases, checkCase(class, &w.Checks[i], judged))
	}
	return s
}

func outcomeCase(class, outcome, why string, tookNS int64) junitCase {
	c := junitCase{Name: "outcome", Classname: class, Time: seconds(tookNS)}
	if outcome != "COMPLETED" {
		message := outcome
		if why != "" {
			message += ": " + clean(why)
		}
		c.Error = &junitFault{Type: outcome, Message: message, Text: message}
	}
	return c
}

func thresholdCase(class string, t report.Threshold) junitCase {
	expr, value := clean(t.Expr), ui.ThresholdValue(t)
	c := junitCase{Name: "threshold " + expr, Classname: class, Time: seconds(0)}
	if t.OK {
		c.SystemOut = "the value is " + value
		return c
	}
	message := "want " + expr + ", the value is " + value
	c.Failure = &junitFault{Type: "threshold", Message: message, Text: message + " (" + strconv.FormatInt(t.Value, 10) + ")"}
	return c
}

func checkCase(class string, k *report.Check, judged bool) junitCase {
	c := junitCase{Name: "check " + clean(k.Name), Classname: class, Time: seconds(0)}
	counts := units.Count(k.Passed) + " passed, " + units.Count(k.Failed) + " failed, " + units.Count(k.Skipped) + " skipped"
	if k.Failed == 0 || judged {
		c.SystemOut = counts
		return c
	}
	var text strings.Builder
	text.WriteString(counts + "\n")
	for _, e := range k.Errors {
		text.WriteString(units.Count(e.Count) + " times: " + clean(strings.TrimSpace(e.Kind+" "+e.Example)) + "\n")
	}
	c.Failure = &junitFault{Type: "check", Message: counts, Text: text.String()}
	return c
}

// class is where a build server files a case: a package for the file, a class for the
// workflow. Dots part the two, so that names lose theirs.
func class(file, workflow string) string {
	flat := func(s string) string { return strings.Map(flatten, clean(s)) }
	name := flat(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	if workflow == "" {
		return name
	}
	return name + "." + flat(workflow)
}

func flatten(r rune) rune {
	switch r {
	case '.', '/', '\\', ' ':
		return '_'
	}
	return r
}

// seconds writes a time as the schema has it: no exponent, no sign.
func seconds(ns int64) string {
	return strconv.FormatFloat(time.Duration(max(ns, 0)).Seconds(), 'f', 3, 64)
}

// timestamp is ISO 8601 without a zone, in UTC, as Surefire's schema wants it.
func timestamp(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}
