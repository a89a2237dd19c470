package doctor

import (
	"fmt"
	"io"

	"hyperscale/cmd/hyperscale/internal/command"
)

// The states of a finding.
const (
	isOK   = "ok"
	isWarn = "warn"
	isFail = "fail"
)

// Finding is what one check found.
type Finding struct {
	State  string `json:"state"` // ok, warn, fail
	Check  string `json:"check"`
	What   string `json:"what"` // the setting, file, address or node that it is about
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"`
}

func ok(check, what, format string, args ...any) Finding {
	return Finding{State: isOK, Check: check, What: what, Found: fmt.Sprintf(format, args...)}
}

func warn(check, what, remedy, format string, args ...any) Finding {
	return Finding{isWarn, check, what, fmt.Sprintf(format, args...), remedy}
}

func fail(check, what, remedy, format string, args ...any) Finding {
	return Finding{isFail, check, what, fmt.Sprintf(format, args...), remedy}
}

// worst is the exit code of findings.
func worst(all []Finding) (code int) {
	for _, f := range all {
		switch f.State {
		case isWarn:
			code = max(code, 1)
		case isFail:
			code = max(code, 2)
		}
	}
	return code
}

// print writes findings as lines, or as JSON.
func print(out io.Writer, all []Finding, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(out, all)
	}
	rows := [][]string{{"STATE", "CHECK", "OF", "FOUND"}}
	for _, f := range all {
		found := f.Found
		if f.Remedy != "" {
			found += ": " + f.Remedy
		}
		rows = append(rows, []string{f.State, f.Check, f.What, found})
	}
	return command.PrintRows(out, rows)
}
