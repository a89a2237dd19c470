package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/docs/site"
)

// TestManualFlags reads every command of the manuals as the command line does, those that no
// test runs too: the command, its flags and their values, its arguments. Of commands within
// sentences, which have placeholders, names alone.
func TestManualFlags(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range manualText(t) {
		values := map[string]string{}
		for _, b := range commandsOf(t, name, text) {
			for _, words := range shellCommands(b.text, values) {
				if err := refuses(words, string(makefile)); err != nil {
					t.Errorf("%s: block of line %d: `%s`: %v", name, b.line, strings.Join(words, " "), err)
				}
			}
		}
		for _, s := range site.Spans(text) {
			if err := refusesSpan(s.Text, string(makefile)); err != nil {
				t.Errorf("%s:%d: `%s`: %v", name, s.Line, s.Text, err)
			}
		}
	}
}

// refuses says why a command line would not even begin.
func refuses(words []string, makefile string) error {
	if len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/hyperscale" {
		words = words[2:]
	}
	switch {
	case words[0] == "make":
		return refusesMake(words[1:], makefile)
	case words[0] != "hyperscale" && !strings.HasSuffix(words[0], "/hyperscale"):
		return nil
	}
	cmd, rest, err := newRootCommand().Find(words[1:])
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := cmd.Flags().GetBool("help"); help { // every command has it, once it is asked for
		return nil
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	if cmd.HasSubCommands() && len(cmd.Flags().Args()) == 0 {
		return fmt.Errorf("it is no command by itself")
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func refusesMake(words []string, makefile string) error {
	for _, w := range words {
		variable, _, sets := strings.Cut(w, "=")
		rule := `(?m)^` + regexp.QuoteMeta(w) + `:`
		if sets {
			rule = `(?m)^` + regexp.QuoteMeta(variable) + ` \?=`
		}
		if !regexp.MustCompile(rule).MatchString(makefile) {
			return fmt.Errorf("the Makefile has no %s", w)
		}
	}
	return nil
}

// refusesSpan judges names alone: of the command, and of each flag.
func refusesSpan(text, makefile string) error {
	words := strings.Fields(text)
	if len(words) < 2 {
		return nil
	}
	if words[0] == "make" {
		return refusesMake(words[1:], makefile)
	}
	if words[0] != "hyperscale" {
		return nil
	}
	cmd := newRootCommand()
	for _, w := range words[1:] {
		if flag, is := strings.CutPrefix(w, "--"); is {
			flag, _, _ = strings.Cut(flag, "=")
			if flag != "help" && !hasFlag(cmd, flag) {
				return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), flag)
			}
			continue
		}
		at := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == w })
		if at >= 0 {
			cmd = cmd.Commands()[at]
		} else if cmd.HasSubCommands() && strings.ToUpper(w) != w {
			return fmt.Errorf("%s has no command %s", cmd.CommandPath(), w)
		}
	}
	return nil
}

func hasFlag(cmd *cobra.Command, name string) bool {
	found := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) { found = found || f.Name == name })
	return found
}

// shellCommands splits a script into commands of words: enough of a shell for the manuals. An
// unknown value ($i) is 1. The output of a command ($(...)) is a job's ID, as our manuals use
// it for nothing else. values are the assignments so far.
func shellCommands(text string, values map[string]string) [][]string {
	var commands [][]string
	var words []string
	end := func() {
		for len(words) > 0 { // words before a command
			name, value, assigns := strings.Cut(words[0], "=")
			if assigns && shellName.MatchString(name) {
				values[name] = value
			} else if !slices.Contains([]string{"do", "then", "else", "if", "until", "while", "!", "sudo", "time", "nohup"}, words[0]) {
				break
			}
			words = words[1:]
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for _, token := range shellToken.FindAllString(strings.ReplaceAll(text, "\\\n", " "), -1) {
		switch {
		case strings.HasPrefix(token, "#"), strings.TrimLeft(token, " \t") == "", shellRedirect.MatchString(token):
		case strings.Trim(token, "\n;&|()") == "":
			end()
		default:
			for _, inner := range shellInner.FindAllStringSubmatch(token, -1) {
				commands = append(commands, shellCommands(inner[1], values)...)
			}
			words = append(words, expand(token, values))
		}
	}
	end()
	return commands
}

var (
	shellName     = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	shellRedirect = regexp.MustCompile(`^\d?[<>]`)
	// A comment, a redirection with its file, an operator, spaces, a word.
	shellToken = regexp.MustCompile(`#[^\n]*|\d?[<>]{1,2}&?[ \t]*[^\s;&|]+|[\n;&|()]+|[ \t]+|(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\([^)]*\)|\$\{[^}]*\}|\\.|[^\s;&|<>()'"\\])+`)
	shellInner = regexp.MustCompile(`\$\(([^)]*)\)`)
	shellPart  = regexp.MustCompile(`'[^']*'|"(?:\\.|[^"\\])*"|\$\([^)]*\)|\$\{?\w+\}?|\\.|[^'"$\\]+|\$`)
)

// expand removes the quotes of a word and replaces variables.
func expand(token string, values map[string]string) string {
	return shellPart.ReplaceAllStringFunc(token, func(part string) string {
		switch part[0] {
		case '\'':
			return part[1 : len(part)-1]
		case '"':
			return expand(part[1:len(part)-1], values)
		case '\\':
			return part[1:]
		case '$':
			if strings.HasPrefix(part, "$(") {
				return "fx3e303ahd4ny8rvm1fxmzk48m"
			}
			if value, known := values[strings.Trim(part, "${}")]; known {
				return value
			}
			return "1"
		}
		return part
	})
}

// TestManualFaultsAreSeen plants mistakes in a manual.
func TestManualFaultsAreSeen(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"hyperscale run test.star --out html=page.html   # a page", ""},
		{"H=bin/hyperscale; for i in 1 2; do $H gate --id gate-$i --listen 127.0.0.1:900$i 2> out/$i.log & done", ""},
		{"sudo make chaos RUNS=20", ""},
		{"echo 'a b' | hyperscale new search.star --from-curl -", ""},
		{"hyperscale rum test.star", `"rum" is not a command`},
		{"hyperscale run test.star --vsu 10", "unknown flag: --vsu"},
		{"hyperscale run test.star --duration 10", "invalid argument"},
		{"hyperscale run", "needs FILE"},
		{"curl -fs 127.0.0.1:9201/readyz && hyperscale status --cluser", "unknown flag: --cluser"},
		{"H=bin/hyperscale\n\"$H\" sim play storm", `"play" is not a command`},
		{"job=$(hyperscale submit test.star --gate a:1)\nhyperscale watch $job --gate a:1", ""},
		{"job=$(hyperscale submit test.star --gates a:1)", "unknown flag: --gates"},
		{"make swarms", "no swarms"},
		{"make swarm SEED=1..2 SEDES=1", "no SEDES=1"},
		{"hyperscale sim", "no command by itself"},
	} {
		got := ""
		for _, words := range shellCommands(test.line, map[string]string{}) {
			if err := refuses(words, "swarm: ## x\nchaos:\nSEED ?= 1\nRUNS ?= 1\n"); err != nil {
				got += err.Error()
			}
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("`%s`: got %q, want %q", test.line, got, test.want)
		}
	}
	for _, text := range []string{"hyperscale rnu FILE", "hyperscale run FILE --vsu N", "make chaoz"} {
		if refusesSpan(text, "chaos:\n") == nil {
			t.Errorf("`%s` is let through", text)
		}
	}
}
