package main

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
	"go.starlark.net/syntax"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/core/workflow/language"
)

// urlFlags are those of `run URL`, which writes the file for one request.
type urlFlags struct {
	method  string
	headers []string
	body    string
	save    string
}

// urlFlagNames are the flags that have no effect with a file, so the command rejects them
// there.
var urlFlagNames = []string{"method", "header", "body", "save"}

func (f *urlFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.method, "method", "", "for a URL: `METHOD` to use, if not GET, or POST where there is a body")
	flags.StringArrayVar(&f.headers, "header", nil, "for a URL: `'Name: value'` to send (repeatable)")
	flags.StringVar(&f.body, "body", "", "for a URL: `text` to send")
	flags.StringVar(&f.save, "save", "", "for a URL: keep the workflow file that is made of it as `FILE`")
}

// refuseAddress names the remedy where arg is no file, and an address that run does not take.
func refuseAddress(arg string) error {
	if _, err := os.Stat(arg); err == nil || strings.HasSuffix(arg, ".star") {
		return nil
	}
	if scheme, _, ok := strings.Cut(arg, "://"); ok {
		return command.Usage("%q is an address of %s, which run does not speak: write one of http or https, like http://127.0.0.1:8080/path", arg, scheme)
	}
	return nil
}

// token is what HTTP takes as a method or a header's name.
var token = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// source writes the workflow file for a URL.
func (f *urlFlags) source(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", command.Usage("%q is no address: write it like http://127.0.0.1:8080/path", address)
	}
	method := strings.ToUpper(f.method)
	if method == "" {
		method = "GET"
		if f.body != "" {
			method = "POST"
		}
	}
	request, err := f.request(method)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`# Made by: hyperscale run %s
target = param("target", default = %s, help = "address to request")

workflow(
    name = "run",
    vus = 64,
    duration = "10s",
    steps = [step("request", %s)],
)
`, strings.Join(strings.Fields(address), " "), syntax.Quote(address, false), request), nil
}

// shown is the file as a result keeps it, without secrets.
func (f *urlFlags) shown(address string) (string, error) {
	discreet := *f
	discreet.headers = nil
	for _, h := range f.headers {
		discreet.headers = append(discreet.headers, follow.Discreet("--header", h))
	}
	return discreet.source(follow.Discreet("", address))
}

// request writes the step's request.
func (f *urlFlags) request(method string) (string, error) {
	var b strings.Builder
	switch method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		fmt.Fprintf(&b, "http.%s(target", strings.ToLower(method))
	default:
		if !token.MatchString(method) {
			return "", command.Usage("--method %q is no method: write one such as GET or PURGE", f.method)
		}
		fmt.Fprintf(&b, "http.request(%s, target", syntax.Quote(method, false))
	}
	var headers []string
	seen := map[string]bool{}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return "", command.Usage("--header %q: write 'Name: value'", h)
		}
		if !token.MatchString(name) {
			return "", command.Usage("--header %q: %q is no header's name: write letters, digits and dashes, without spaces", h, name)
		}
		if seen[strings.ToLower(name)] {
			return "", command.Usage("--header %q: %s is given twice: join the values with a comma", h, name)
		}
		seen[strings.ToLower(name)] = true
		headers = append(headers, syntax.Quote(name, false)+": "+syntax.Quote(strings.TrimSpace(value), false))
	}
	if len(headers) > 0 {
		fmt.Fprintf(&b, ", headers = {%s}", strings.Join(headers, ", "))
	}
	if f.body != "" {
		fmt.Fprintf(&b, ", body = %s", syntax.Quote(f.body, false))
	}
	b.WriteByte(')')
	return b.String(), nil
}

// titleMax is below the bytes that a gate takes as a job's name.
const titleMax = 200

// titleOf names a run by its main file, or by the URL where hyperscale makes the file.
// The user of a URL and its query, where secrets are, stay out of it: other servers get it.
func titleOf(arg string, program *message.Program) string {
	u, err := url.Parse(arg)
	if !command.IsURL(arg) || err != nil {
		return program.Main
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return language.Clip(strings.ToValidUTF8(u.String(), "?"), titleMax)
}

// program makes the file, keeps it where asked, and loads it.
func (f *urlFlags) program(address string, load *source.Flags) (message.Program, *message.Plan, error) {
	text, err := f.source(address)
	if err != nil {
		return message.Program{}, nil, err
	}
	program, plan, err := source.Load("run.star", []message.File{{Name: "run.star", Data: []byte(text)}}, nil, load)
	if err != nil {
		return message.Program{}, nil, err
	}
	if f.save != "" {
		if err := source.Create(f.save, text); err != nil {
			return message.Program{}, nil, command.AsUsage(fmt.Errorf("--save: %w", err))
		}
	}
	return program, plan, nil
}
