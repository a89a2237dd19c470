package follow

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime"
	"slices"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/load"
	"hyperscale/core/message"
	"hyperscale/runtime/export"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/report"
)

// textMax bounds the part of a source file that a result keeps.
const textMax = 64 << 10

// Origin describes how to run a program again.
func Origin(p *message.Program, plan *message.Plan) *report.Run {
	run := &report.Run{
		Command: discreet(os.Args[1:], plan.Params), Version: command.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: processor(), CPUs: runtime.NumCPU(), Seed: p.Seed, Files: []report.SourceFile{}, Given: []string{},
	}
	for _, of := range p.Params {
		run.Given = append(run.Given, of.Name+"="+of.Value)
	}
	for i := range plan.Workflows {
		run.Rate = run.Rate || load.Open(&plan.Workflows[i])
		run.Loads = append(run.Loads, report.LoadOf(&plan.Workflows[i]))
	}
	add := func(f *message.File) {
		text := f.Data[:min(len(f.Data), textMax)]
		if bytes.IndexByte(text, 0) < 0 { // binary content tells a reader nothing
			digest := sha256.Sum256(f.Data)
			run.Files = append(run.Files, report.SourceFile{Name: f.Name, SHA256: hex.EncodeToString(digest[:]), Text: strings.ToValidUTF8(string(text), "\uFFFD"), Cut: len(text) < len(f.Data)})
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

// discreet leaves secrets out of arguments: result files are sent around.
func discreet(args []string, params []message.ParamPlan) []string {
	out := make([]string, 0, len(args))
	flag := ""
	for _, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case flag != "":
			arg, flag = shownValue(flag, arg, params), ""
		case joined && hides(name):
			arg = name + "=" + shownValue(name, value, params)
		case hides(arg):
			flag = arg
		default:
			arg = Discreet("", arg)
		}
		out = append(out, arg)
	}
	return out
}

// secretCommand is the flag whose command tells a secret.
const secretCommand = "--secret-command"

// hides says whether a flag's value may hold a secret.
func hides(flag string) bool {
	return flag == "--set" || flag == "--header" || flag == "--body" || flag == "--out" || flag == secretCommand
}

// shownValue is a flag's value: the file may mark the parameter that it sets.
func shownValue(flag, value string, params []message.ParamPlan) string {
	name, _, ok := strings.Cut(value, "=")
	if flag == "--set" && ok && slices.ContainsFunc(params, func(p message.ParamPlan) bool { return p.Secret && p.Name == name }) {
		return name + "=" + redact.Hidden
	}
	return Discreet(flag, value)
}

// Discreet is a flag's value as results may show it, or an argument if flag is empty. It omits
// bodies, values of parameters and headers whose name suggests a secret, and the user and the
// query of an address.
func Discreet(flag, pair string) string {
	separator := "="
	switch flag {
	case "--out":
		if kind, place, ok := strings.Cut(pair, "="); ok && command.IsURL(place) {
			return kind + "=" + export.Discreet(place)
		}
		return pair
	case "--body":
		return redact.Hidden
	case secretCommand: // it may print the secret that it has in it
		name, _, _ := strings.Cut(pair, "=")
		return name + "=" + redact.Hidden
	case "":
		if !command.IsURL(pair) {
			return pair
		}
		return redact.Address(pair)
	case "--header":
		separator = ":"
	}
	name, value, ok := strings.Cut(pair, separator)
	switch {
	case !ok:
		return pair
	case flag == "--header":
		return name + separator + redact.Head(name, value)
	case redact.Suspicious(name):
		return name + separator + redact.Hidden
	}
	return name + separator + redact.Address(value)
}
