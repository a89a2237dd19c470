package follow

import (
	"bufio"
	"bytes"
	"net/url"
	"os"
	"runtime"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/report"
)

// textMax bounds the part of a source file that a result keeps.
const textMax = 64 << 10

// Origin describes how to run a program again.
func Origin(p *message.Program) *report.Run {
	run := &report.Run{
		Command: discreet(os.Args[1:]), Version: command.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: processor(), CPUs: runtime.NumCPU(), Seed: p.Seed, Files: []report.SourceFile{},
	}
	add := func(f *message.File) {
		text := f.Data[:min(len(f.Data), textMax)]
		if bytes.IndexByte(text, 0) < 0 { // binary content tells a reader nothing
			run.Files = append(run.Files, report.SourceFile{Name: f.Name, Text: strings.ToValidUTF8(string(text), "\uFFFD"), Cut: len(text) < len(f.Data)})
		}
	}
	for _, main := range []bool{true, false} {
		for i := range p.Files {
			if f := &p.Files[i]; (f.Name == p.Main) == main && (main || strings.HasSuffix(f.Name, ".star")) {
				add(f)
			}
		}
	}
	return run
}

// processor is the processor's name; nothing where the system does not tell.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// hidden replaces values that a result file must not contain.
const hidden = "[hidden]"

// discreet leaves secrets out of arguments: result files are sent around.
func discreet(args []string) []string {
	out := make([]string, 0, len(args))
	flag := ""
	for _, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case flag != "":
			arg, flag = Discreet(flag, arg), ""
		case joined && hides(name):
			arg = name + "=" + Discreet(name, value)
		case hides(arg):
			flag = arg
		default:
			arg = withoutUser(arg)
		}
		out = append(out, arg)
	}
	return out
}

// hides says whether a flag's value may hold a secret.
func hides(flag string) bool { return flag == "--set" || flag == "--header" || flag == "--out" }

// withoutUser hides the user in an address.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || !command.IsURL(address) {
		return address
	}
	u.User = url.User("hidden")
	return u.String()
}

// Discreet is a flag's value as results may show it, or an argument if flag is empty. It omits
// values of parameters and headers whose name suggests a secret, and the user of an address.
func Discreet(flag, pair string) string {
	if kind, place, ok := strings.Cut(pair, "="); flag == "--out" && ok && command.IsURL(place) {
		return kind + "=" + export.Discreet(place)
	} else if flag == "--out" {
		return pair
	}
	separator := "="
	switch flag {
	case "":
		return withoutUser(pair)
	case "--header":
		separator = ":"
	}
	name, value, ok := strings.Cut(pair, separator)
	if !ok {
		return pair
	}
	for _, word := range []string{"auth", "token", "secret", "pass", "key", "cookie", "session", "credential"} {
		if strings.Contains(strings.ToLower(name), word) {
			return name + separator + value[:len(value)-len(strings.TrimLeft(value, " "))] + hidden
		}
	}
	return name + separator + withoutUser(value)
}
