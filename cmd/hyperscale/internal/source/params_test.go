package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
)

const asking = `
a = param("a", default = "file")
b = param("b-c", default = 1)
t = param("t", default = "", secret = True)
workflow(name = "w", vus = 1, duration = "1s", steps = [step("s", http.get("http://127.0.0.1:1/" + a))])
`

// TestWhereParamsComeFrom: a flag, else the environment, else the file.
func TestWhereParamsComeFrom(t *testing.T) {
	value := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(value, []byte("of_a_file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HYPERSCALE_SET_A", "environment")
	t.Setenv("HYPERSCALE_SET_B_C", "7")
	t.Setenv("HYPERSCALE_SET_ABSENT", "x")
	for _, c := range []struct {
		flags Flags
		want  []message.Param
	}{
		{Flags{}, []message.Param{{Name: "a", Value: "environment"}, {Name: "b-c", Value: "7"}}},
		{Flags{Params: []string{"a=flag"}}, []message.Param{{Name: "a", Value: "flag"}, {Name: "b-c", Value: "7"}}},
		{Flags{files: []string{"a=" + value, "b-c=" + value}}, nil},
		{Flags{files: []string{"a=" + value}}, []message.Param{{Name: "a", Value: "of_a_file"}, {Name: "b-c", Value: "7"}}},
		{Flags{Params: []string{"a=1"}, files: []string{"a=" + value}}, nil},
		{Flags{files: []string{"a"}}, nil},
		{Flags{files: []string{"a=/nowhere"}}, nil},
	} {
		program, plan, err := Load("x.star", []message.File{{Name: "x.star", Data: []byte(asking)}}, nil, &c.flags)
		if (err == nil) != (c.want != nil) {
			t.Fatalf("%+v: %v", c.flags, err)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(c.want, program.Params); diff != "" {
			t.Errorf("%+v: %s", c.flags, diff)
		}
		if plan.Params[1].Value != "7" || !plan.Params[2].Secret || plan.Params[0].Secret {
			t.Errorf("%+v: the plan says %+v", c.flags, plan.Params)
		}
	}
}

func TestNotes(t *testing.T) {
	f := Flags{Params: []string{"t=abc", "a=1"}}
	got := strings.Join(f.notes([]string{"HYPERSCALE_SET_ABSENT=1", "HYPERSCALE_SET_B_C=1", "PATH=x"}, []message.ParamPlan{{Name: "t", Secret: true}, {Name: "b-c"}, {Name: "a"}}), "\n")
	want := `--set t=...: other users of this machine read it in the list of processes: use --set-file t=FILE or HYPERSCALE_SET_T
HYPERSCALE_SET_ABSENT sets nothing: the workflow has no param("absent")`
	if got != want {
		t.Error(got)
	}
}
