package export

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

// parsed is an independent reader: it counts elements instead of trusting attributes.
type parsed struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure []struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Error []struct{} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func parseJUnit(t interface{ Fatalf(string, ...any) }, b []byte) parsed {
	for d := xml.NewDecoder(strings.NewReader(string(b))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, b)
		}
	}
	var p parsed
	if err := xml.Unmarshal(b, &p); err != nil {
		t.Fatalf("%v in:\n%s", err, b)
	}
	tests, failures, errors := 0, 0, 0
	for _, s := range p.Suites {
		f, e := 0, 0
		for _, c := range s.Cases {
			f, e = f+len(c.Failure), e+len(c.Error)
		}
		if s.Tests != len(s.Cases) || s.Failures != f || s.Errors != e {
			t.Fatalf("suite %q says %d, %d, %d and has %d, %d, %d", s.Name, s.Tests, s.Failures, s.Errors, len(s.Cases), f, e)
		}
		tests, failures, errors = tests+s.Tests, failures+s.Failures, errors+s.Errors
	}
	if tests != p.Tests || failures != p.Failures || errors != p.Errors {
		t.Fatalf("the whole says %d, %d, %d and has %d, %d, %d", p.Tests, p.Failures, p.Errors, tests, failures, errors)
	}
	return p
}

func TestJUnit(t *testing.T) {
	b, err := JUnit(result(t))
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/result.xml", string(b))
	p := parseJUnit(t, b)
	if p.Tests != 1+1+2+2 || p.Failures != 2 || p.Errors != 0 {
		t.Errorf("%d tests, %d failures, %d errors: want 6, a threshold and a check", p.Tests, p.Failures, p.Errors)
	}
	want := "want home.latency.p99 < 250ms, the value is 400ms"
	if got := p.Suites[1].Cases[1].Failure[0].Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	lint(t, b)
}

// lint has a second parser look at it, where there is one.
func lint(t *testing.T, b []byte) {
	t.Helper()
	tool, err := exec.LookPath("xmllint")
	if err != nil {
		return
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "--noout", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestJUnitOfAFailedJob: an incomplete run is an error, in the job and in the workflow. If a
// threshold judges checks together, no single one fails.
func TestJUnitOfAFailedJob(t *testing.T) {
	b, err := JUnit(result(t, func(m *message.Result) {
		m.State, m.Error = message.JobFailed, "no worker\x00"
		m.Workflows[0].State, m.Workflows[0].Error = message.WorkflowFailed, "no worker"
		m.Thresholds = []message.ThresholdResult{{Workflow: "shop", Expr: "checks > 70%", Value: 800_000, Of: message.OfChecks, OK: true}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if p := parseJUnit(t, b); p.Errors != 2 || p.Failures != 0 {
		t.Errorf("%d errors, %d failures, want 2 and none", p.Errors, p.Failures)
	}
}

// TestJUnitHoldsAnyText: no name or message breaks out of its attribute.
func TestJUnitHoldsAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(hostile), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		r := &report.Result{Name: text, Job: text, Outcome: "FAILED", Error: text, Workflows: []report.Workflow{{
			Name: text, Outcome: "FAILED", Error: text, Steps: []report.Step{{Name: text}},
			Checks: []report.Check{{Name: text, Failed: 1, Errors: []report.Error{{Kind: text, Example: text, Count: 1}}}},
		}}, Thresholds: []report.Threshold{{Workflow: text, Expr: text}}}
		b, err := JUnit(r)
		if err != nil {
			t.Fatal(err)
		}
		p := parseJUnit(t, b)
		if got := p.Suites[1].Cases[1].Name; got != "threshold "+clean(text) {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}
