package follow

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// The kept part of a command line runs again, and reveals no secret.
func TestSecretsAreHidden(t *testing.T) {
	got := discreet([]string{"run", "x.star", "--vus", "5", "--set", "api_token=abc", "--set=target=http://a/?b=c", "--header", "Authorization: Bearer abc", "--header=Accept: text/html", "--set=PASSWORD=abc", "--set", "pin=abc", "--body=abc", "--out", "prometheus=https://me:mine@p:9090/api/v1/write?t=mine", "--out=json=a=b.json", "http://me:mine@a/?b=c", "--set=target=http://me:mine@a/", "--secret-command", "tok=printf abc", "--secret-command=t=echo abc", "--set"}, []message.ParamPlan{{Name: "pin", Secret: true}, {Name: "target"}})
	want := []string{"run", "x.star", "--vus", "5", "--set", "api_token=***", "--set=target=http://a/?b=***", "--header", "Authorization: Bearer ***", "--header=Accept: text/html", "--set=PASSWORD=***", "--set", "pin=***", "--body=***", "--out", "prometheus=https://hidden@p:9090/api/v1/write?hidden", "--out=json=a=b.json", "http://***@a/?b=***", "--set=target=http://***@a/", "--secret-command", "tok=***", "--secret-command=t=***", "--set"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSourceIsKeptOnDemand(t *testing.T) {
	run := Origin(&message.Program{Main: "b.star", Seed: 7, Params: []message.Param{{Name: "pin", Value: "4711"}}, Files: []message.File{
		{Name: "a.star", Data: []byte("helper")}, {Name: "b.star", Data: []byte(strings.Repeat("x", textMax+1))}, {Name: "rows.csv", Data: []byte("1,2")},
	}}, &message.Plan{Workflows: []message.WorkflowPlan{{Name: "w", Rate: 1}}})
	want := []report.SourceFile{{Name: "b.star", Text: strings.Repeat("x", textMax), Cut: true}, {Name: "a.star", Text: "helper"}}
	digest := cmpopts.IgnoreFields(report.SourceFile{}, "SHA256")
	if diff := cmp.Diff(want, run.Files, digest); diff != "" || run.Seed != 7 || run.CPUs < 1 || !run.Rate || len(run.Files[0].SHA256) != 64 || !slices.Equal(run.Given, []string{"pin=4711"}) {
		t.Errorf("%+v\n%s", run, diff)
	}
	f := &Follower{out: &Flags{}, Run: run}
	if diff := cmp.Diff([]report.SourceFile{{Name: "b.star"}, {Name: "a.star"}}, f.kept().Files, digest); diff != "" {
		t.Error(diff)
	}
	if f.out.Texts = true; f.kept().Files[0].Text == "" || run.Files[0].Text == "" {
		t.Error("the source is lost")
	}
}
