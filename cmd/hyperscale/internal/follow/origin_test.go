package follow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// The kept part of a command line runs again, and reveals no secret.
func TestSecretsAreHidden(t *testing.T) {
	got := discreet([]string{"run", "x.star", "--vus", "5", "--set", "api_token=abc", "--set=target=http://a/?b=c", "--header", "Authorization: Bearer abc", "--header=Accept: text/html", "--set=PASSWORD=abc", "--out", "prometheus=https://me:mine@p:9090/api/v1/write?t=mine", "--out=json=a=b.json", "http://me:mine@a/?b=c", "--set=target=http://me:mine@a/", "--set"})
	want := []string{"run", "x.star", "--vus", "5", "--set", "api_token=[hidden]", "--set=target=http://a/?b=c", "--header", "Authorization: [hidden]", "--header=Accept: text/html", "--set=PASSWORD=[hidden]", "--out", "prometheus=https://hidden@p:9090/api/v1/write?hidden", "--out=json=a=b.json", "http://hidden@a/?b=c", "--set=target=http://hidden@a/", "--set"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOriginKeepsSource(t *testing.T) {
	run := Origin(&message.Program{Main: "b.star", Seed: 7, Files: []message.File{
		{Name: "a.star", Data: []byte("helper")}, {Name: "b.star", Data: []byte(strings.Repeat("x", textMax+1))}, {Name: "rows.csv", Data: []byte("1,2")},
	}})
	want := []report.SourceFile{{Name: "b.star", Text: strings.Repeat("x", textMax), Cut: true}, {Name: "a.star", Text: "helper"}}
	if diff := cmp.Diff(want, run.Files); diff != "" || run.Seed != 7 || run.CPUs < 1 {
		t.Errorf("%+v\n%s", run, diff)
	}
}
