package output

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
)

// SinksMax bounds the sinks of a gate's configuration, and those that a job names.
const SinksMax = 16

// sinkNameMax bounds the name of a sink, in bytes.
const sinkNameMax = 64

// Sink is a place of the gates' configuration, as far as a gate must know it.
type Sink struct {
	Name    string
	Kind    string        // for people
	Window  time.Duration // of its rows: one of Windows
	Default bool          // each job delivers there that names no sinks
}

// Windows are the lengths that a sink's windows may have: each divides the next, so rows of long ones are sums of
// rows of short ones.
func Windows() []time.Duration {
	return []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute}
}

// CheckSinks reports the first fault of a configuration.
func CheckSinks(all []Sink) error {
	if len(all) > SinksMax {
		return fmt.Errorf("outputs: %d sinks, must be at most %d: name fewer", len(all), SinksMax)
	}
	for i := range all {
		s := &all[i]
		if !sinkName(s.Name) {
			return fmt.Errorf("outputs: sink %.70q must be 1 to %d of a to z, 0 to 9, _ and -, and not %q: name it otherwise", s.Name, sinkNameMax, message.NoOutputs)
		}
		if slices.ContainsFunc(all[:i], func(o Sink) bool { return o.Name == s.Name }) {
			return fmt.Errorf("outputs: sink %q is configured twice: take one out", s.Name)
		}
		if !slices.Contains(Windows(), s.Window) {
			return fmt.Errorf("outputs: sink %s: window = %v must be one of %v", s.Name, s.Window, Windows())
		}
	}
	return nil
}

func sinkName(s string) bool {
	return s != "" && len(s) <= sinkNameMax && s != message.NoOutputs && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Chosen returns the sinks, by name, that a job's rows go to: those that it names, or the default ones if it names
// none and says when it was sent. The error names what is not configured.
func Chosen(all []Sink, names []string, sent uint64) (chosen []Sink, err error) {
	switch {
	case len(names) == 1 && names[0] == message.NoOutputs, len(names) == 0 && sent == 0:
		return nil, nil
	case sent == 0:
		return nil, fmt.Errorf("sent = 0: rows have no time without it: submit with a version of hyperscale that sends it")
	}
	for _, s := range all {
		if len(names) == 0 && s.Default || slices.Contains(names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	slices.SortFunc(chosen, func(a, b Sink) int { return strings.Compare(a.Name, b.Name) })
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("sink %.64q is named twice: take one out", name)
		}
		if !slices.ContainsFunc(chosen, func(s Sink) bool { return s.Name == name }) {
			known := "none is"
			if len(all) > 0 {
				known = "known are"
				for _, s := range all {
					known += " " + s.Name
				}
			}
			return nil, fmt.Errorf("sink %.64q is not configured: %s", name, known)
		}
	}
	return chosen, nil
}
