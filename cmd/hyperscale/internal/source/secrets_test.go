package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
)

// TestWhereSecretsComeFrom: a command, else the file, else the environment. No error shows a
// value.
func TestWhereSecretsComeFrom(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("good", "# of staging\n\n token = =of the file \r\nother=hunter2\nunused=hunter2\n", 0o600)
	for _, c := range []struct {
		flags secretFlags
		want  string // of token, then of other
		err   string
	}{
		{flags: secretFlags{}, want: "environment hunter2"},
		{flags: secretFlags{file: good}, want: " =of the file  hunter2"},
		{flags: secretFlags{file: good, commands: []string{"token=echo printed"}}, want: "printed hunter2"},
		{flags: secretFlags{commands: []string{"other=printf 'a=b\nc\n'"}}, want: "environment a=b\nc"},
		{flags: secretFlags{commands: []string{"other=echo $HYPERSCALE_SECRET_TOKEN- none"}}, want: "environment - none"},
		{flags: secretFlags{file: write("open", "token=hunter2\n", 0o640)}, err: "mode 0640): chmod 600 "},
		{flags: secretFlags{file: write("torn", "token=hunter2\nhunter2\n", 0o600)}, err: "line 2 has no name"},
		{flags: secretFlags{file: write("twice", "token=hunter2\ntoken=hunter3\n", 0o600)}, err: "line 2 gives token a second value"},
		{flags: secretFlags{file: "/nowhere"}, err: "no such file"},
		{flags: secretFlags{commands: []string{"tokn=echo x"}}, err: `no secret("tokn")`},
		{flags: secretFlags{commands: []string{"hunter2"}}, err: "write name=command"},
		{flags: secretFlags{commands: []string{"token=echo hunter2; exit 3"}}, err: "the command failed: exit status 3"},
		{flags: secretFlags{commands: []string{"token=echo abc"}}, err: `secret "token" has 3 bytes`},
	} {
		t.Setenv("HYPERSCALE_SECRET_TOKEN", "environment")
		t.Setenv("HYPERSCALE_SECRET_OTHER", "hunter2")
		c.flags.asked = true
		got, err := c.flags.resolve([]string{"other", "token"})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(strings.ReplaceAll(err.Error(), "echo hunter2", ""), "hunter2") {
				t.Errorf("%+v: got %v, want %q", c.flags, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c.flags, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got[1].Value)+" "+string(got[0].Value)); diff != "" {
			t.Errorf("%+v: %s", c.flags, diff)
		}
		if os.Getenv("HYPERSCALE_SECRET_TOKEN") != "" {
			t.Error("the environment still has a secret")
		}
	}
	missing := secretFlags{asked: true}
	_, err := missing.resolve([]string{"new-one"})
	for _, way := range []string{"HYPERSCALE_SECRET_NEW_ONE", "--secret-file", "--secret-command", "terminal"} {
		if err == nil || !strings.Contains(err.Error(), way) {
			t.Errorf("%v: want %s", err, way)
		}
	}
	if got, err := (&secretFlags{}).resolve([]string{"token"}); got != nil || err != nil {
		t.Errorf("a command that sends nothing asks for %v, %v", got, err)
	}
}

// TestProgramsGetTheirSecrets: by their names, and without a change of the plan.
func TestProgramsGetTheirSecrets(t *testing.T) {
	t.Setenv("HYPERSCALE_SECRET_T", "hunter2")
	f := Flags{secrets: secretFlags{asked: true}, seed: 1}
	program, _, err := Load("x.star", []message.File{{Name: "x.star", Data: []byte(`workflow(name = "w", steps = [step("s", http.get("http://h/", headers = {"X": secret("t")}))])`)}}, nil, &f)
	if err != nil || len(program.Secrets) != 1 || string(program.Secrets[0].Value) != "hunter2" || len(f.Secrets) != 1 {
		t.Fatalf("%v, %v", program.Secrets, err)
	}
}
