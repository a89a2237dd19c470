package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"hyperscale/sim"
)

// head is everything except the faults, as JSON.
type head struct {
	Schema   string   `json:"schema"`
	Scenario string   `json:"scenario"`
	Seed     uint64   `json:"seed"`
	Virtual  string   `json:"virtual"`
	Until    string   `json:"until,omitempty"`
	Wire     bool     `json:"wire"`
	Commit   string   `json:"commit"`
	Go       string   `json:"go"`
	Hash     string   `json:"hash"`
	Verdict  string   `json:"verdict"`
	Detail   string   `json:"detail"`
	Draws    []string `json:"draws"`
}

// entry is a fault as JSON: durations are written as people write them.
type entry struct {
	At    string   `json:"at"`
	For   string   `json:"for,omitempty"`
	Kind  string   `json:"kind"`
	Nodes []string `json:"nodes,omitempty"`
	Peers []string `json:"peers,omitempty"`
	Value int64    `json:"value,omitempty"`

	Aim    string `json:"aim,omitempty"`
	Hold   string `json:"hold,omitempty"`
	Beyond bool   `json:"beyond,omitempty"`
}

// Clip shortens a detail to the size that a file allows.
func Clip(s string) string {
	const more = " ..."
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= textMax {
		return s
	}
	s = s[:textMax-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}

// Write writes the file, after Validate.
func (f *File) Write(w io.Writer) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("write schedule: %w", err)
	}
	var b bytes.Buffer
	draws := f.Draws
	if draws == nil {
		draws = []string{}
	}
	text, err := json.MarshalIndent(head{
		Schema: Schema, Scenario: f.Scenario, Seed: f.Seed, Virtual: f.Virtual.String(), Until: length(f.Until), Wire: f.Wire, Commit: f.Commit, Go: f.Go,
		Hash: fmt.Sprintf("%016x", f.Hash), Verdict: f.Verdict, Detail: f.Detail, Draws: draws,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write schedule: %w", err)
	}
	b.Write(bytes.TrimSuffix(text, []byte("\n}")))
	b.WriteString(",\n  \"faults\": [")
	for i := range f.Faults {
		line, err := json.Marshal(entryOf(&f.Faults[i]))
		if err != nil {
			return fmt.Errorf("write schedule, faults[%d]: %w", i, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(line)
	}
	if len(f.Faults) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("]\n}\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write schedule: %w", err)
	}
	return nil
}

func entryOf(f *sim.Fault) entry {
	return entry{At: f.At.String(), For: length(f.For), Kind: f.Kind, Nodes: f.Nodes, Peers: f.Peers, Value: f.Value,
		Aim: f.Aim, Hold: length(f.Hold), Beyond: f.Beyond}
}

func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
