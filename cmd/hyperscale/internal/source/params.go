package source

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/exec"
)

// setPrefix begins the names of variables that set params.
const setPrefix = "HYPERSCALE_SET_"

// parameters reads the values of --set, of which the last of a name wins, and of --set-file.
func (f *Flags) parameters() ([]message.Param, error) {
	values := map[string]string{}
	for _, s := range f.Params {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, command.Usage("--set %q: write name=value, as in --set target=http://127.0.0.1:8080", s)
		}
		values[name] = value
	}
	for _, s := range f.files {
		name, file, ok := strings.Cut(s, "=")
		if !ok || name == "" || file == "" {
			return nil, command.Usage("--set-file %q: write name=file, as in --set-file query=query.graphql", s)
		}
		if _, twice := values[name]; twice {
			return nil, command.Usage("--set-file %s=%s: %s is set twice: leave out one of the flags", name, file, name)
		}
		value, err := content(file)
		if err != nil {
			return nil, command.AsUsage(fmt.Errorf("--set-file %s=%s: %w", name, file, err))
		}
		values[name] = value
	}
	return sortedParams(values), nil
}

// valueMax bounds the value that a file gives to a param.
const valueMax = 64 << 10

// content is a file's text without the line break at its end.
func content(file string) (string, error) {
	b, err := limited(file, valueMax)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}

// limited reads a file of a bounded size, which may be a pipe.
func limited(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return b, err
}

func sortedParams(values map[string]string) []message.Param {
	var params []message.Param
	for _, name := range slices.Sorted(maps.Keys(values)) {
		params = append(params, message.Param{Name: name, Value: values[name]})
	}
	return params
}

// variables are those of the environment that begin with prefix, by the rest of their names.
func variables(environ []string, prefix string) map[string]string {
	all := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if end, ok := strings.CutPrefix(name, prefix); ok {
			all[end] = value
		}
	}
	return all
}

// notes says what the flags and the environment did that a person may not expect.
func (f *Flags) notes(environ []string, params []message.ParamPlan) (all []string) {
	for _, s := range f.Params {
		name, _, _ := strings.Cut(s, "=")
		if slices.ContainsFunc(params, func(p message.ParamPlan) bool { return p.Secret && p.Name == name }) {
			all = append(all, fmt.Sprintf("--set %s=...: other users of this machine read it in the list of processes: use --set-file %s=FILE or %s%s", name, name, setPrefix, language.Variable(name)))
		}
	}
	for end := range variables(environ, setPrefix) {
		if !slices.ContainsFunc(params, func(p message.ParamPlan) bool { return language.Variable(p.Name) == end }) {
			all = append(all, fmt.Sprintf("%s%s sets nothing: the workflow has no param(%q)", setPrefix, end, strings.ToLower(end)))
		}
	}
	for end := range variables(environ, exec.SecretPrefix) {
		if !slices.ContainsFunc(f.Secrets, func(name string) bool { return language.Variable(name) == end }) {
			all = append(all, fmt.Sprintf("%s%s sets nothing: the workflow has no secret(%q)", exec.SecretPrefix, end, strings.ToLower(end)))
		}
	}
	slices.Sort(all)
	return all
}
