package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/exec"
)

// secretFlags say where the values of secrets come from.
type secretFlags struct {
	asked    bool // the command needs values
	file     string
	commands []string
	known    map[string]string // values that were read, by name
	environ  map[string]string // those of the environment, by language.Variable; nil: not read yet
}

// AddSecrets gives a command that sends requests the flags for secrets.
func (f *Flags) AddSecrets(flags *pflag.FlagSet) {
	f.secrets.asked = true
	f.AddSecretsAsked(flags)
}

// AddSecretsAsked gives a command the same flags for the secrets that grpc.reflect alone asks for.
func (f *Flags) AddSecretsAsked(flags *pflag.FlagSet) {
	flags.StringVar(&f.secrets.file, "secret-file", "", "`FILE` with a line name=value for each secret() of the workflow; only its owner may read it")
	flags.StringArrayVar(&f.secrets.commands, "secret-command", nil, "`name=command`: a secret() of the workflow is what the command prints (repeatable)")
}

// SecretVariable is the variable of the environment that holds a secret.
func SecretVariable(name string) string { return exec.SecretPrefix + language.Variable(name) }

// Bounds of where secrets come from.
const (
	secretFileMax    = 1 << 20
	secretCommandMax = time.Minute
)

// resolve returns the values of the secrets of a whole program, if the command needs them.
func (s *secretFlags) resolve(names []string) ([]message.Secret, error) {
	if !s.asked {
		return nil, nil
	}
	for _, c := range s.commands {
		if name, _, ok := strings.Cut(c, "="); ok && name != "" && !slices.Contains(names, name) {
			return nil, language.Faultf("--secret-command %s=...: the workflow has no secret(%q)", language.Clip(name, 40), language.Clip(name, 40)).Meant(name, names)
		}
	}
	return s.values(names)
}

// values returns the values of secrets: of a command, else of the file, else of the environment, else of
// a person at the terminal. It reads each once.
func (s *secretFlags) values(names []string) ([]message.Secret, error) {
	if s.environ == nil {
		s.known, s.environ = map[string]string{}, variables(os.Environ(), exec.SecretPrefix)
		//lint:orderfree each is removed alone
		for end := range s.environ { // no process that this one starts needs it
			if err := os.Unsetenv(exec.SecretPrefix + end); err != nil {
				return nil, err
			}
		}
	}
	given := map[string]string{}
	if s.file != "" {
		var err error
		if given, err = readSecrets(s.file); err != nil {
			return nil, fmt.Errorf("--secret-file %s: %w", s.file, err)
		}
	}
	var all []message.Secret
	for _, name := range names {
		if _, read := s.known[name]; !read {
			value, err := s.value(name, given)
			if err != nil {
				return nil, err
			}
			if n := len(value); n < plan.SecretMin || n > plan.SecretMax || !utf8.ValidString(value) {
				return nil, fmt.Errorf("secret %q has %d bytes: it must be UTF-8 of %d to %d bytes, as outputs could not hide a shorter one", name, n, plan.SecretMin, plan.SecretMax)
			}
			s.known[name] = value
		}
		all = append(all, message.Secret{Name: name, Value: message.Sealed(s.known[name])})
	}
	return all, nil
}

// value reads one secret; given are those of the file.
func (s *secretFlags) value(name string, given map[string]string) (value string, err error) {
	for _, c := range slices.Backward(s.commands) {
		of, line, ok := strings.Cut(c, "=")
		switch {
		case !ok || of == "" || line == "":
			return "", command.Usage("--secret-command: write name=command, as in --secret-command 'token=pass show staging/token'")
		case of != name:
			continue
		}
		if value, err = printed(line); err != nil {
			err = fmt.Errorf("--secret-command %s=...: %w", name, err)
		}
		return value, err
	}
	if value, ok := given[name]; ok {
		return value, nil
	}
	if value, ok := s.environ[language.Variable(name)]; ok {
		return value, nil
	}
	return typed(name)
}

// readSecrets reads lines name=value. It rejects a file that others may read.
func readSecrets(file string) (map[string]string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others than its owner may use it (mode %04o): chmod 600 %s", mode.Perm(), file)
	}
	b, err := limited(file, secretFileMax)
	if err != nil {
		return nil, err
	}
	values, number := map[string]string{}, 0
	for line := range strings.Lines(string(b)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if text := strings.TrimSpace(line); text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("line %d has no name: write name=value", number)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("line %d gives %s a second value: keep one of them", number, language.Clip(name, 40))
		}
		values[name] = value
	}
	return values, nil
}

// printed is what a command prints, without the line break at its end.
func printed(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), secretCommandMax)
	defer cancel()
	var out bytes.Buffer
	cmd := osexec.CommandContext(ctx, "sh", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &out, os.Stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it has not ended after %v", secretCommandMax)
		}
		return "", fmt.Errorf("the command failed: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(out.String(), "\n"), "\r"), nil
}

// typed asks a person for a secret, where there is one.
func typed(name string) (string, error) {
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return "", fmt.Errorf("secret %q has no value: set %s, or give --secret-file FILE with a line %s=VALUE, or --secret-command '%s=COMMAND', or run it at a terminal, which asks", name, SecretVariable(name), name, name)
	}
	if _, err := fmt.Fprintf(os.Stderr, "secret %s: ", name); err != nil {
		return "", err
	}
	before, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(in)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		_, _ = fmt.Fprintln(os.Stderr) // the line break that the terminal did not show
		if errors.Is(l.err, io.EOF) {
			l.err = fmt.Errorf("secret %q was not given", name)
		}
		return string(l.text), l.err
	case <-interrupt:
		_ = term.Restore(in, before) // else the shell would show no key
		return "", command.Exit(command.ExitInterrupted, nil)
	}
}
