package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hyperscale/sim"
)

// document is a whole file as JSON.
type document struct {
	head
	Faults []entry `json:"faults"`
}

// Read reads a file that Write or a person wrote.
func Read(r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, bytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	if len(text) > bytesMax {
		return nil, fmt.Errorf("read schedule: above the bound of %d bytes: is this a schedule? %w", bytesMax, ErrSchedule)
	}
	var d document
	if err := decode(text, &d); err != nil {
		return nil, err
	}
	if d.Schema != Schema {
		return nil, fmt.Errorf("read schedule: schema = %q, want %q: use the version of hyperscale that wrote it: %w", d.Schema, Schema, ErrSchedule)
	}
	f, err := d.file()
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w: %w", err, ErrSchedule)
	}
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("read schedule: %w: %w", err, ErrSchedule)
	}
	return f, nil
}

func decode(text []byte, d *document) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(d); err != nil {
		return fmt.Errorf("read schedule%s: %s: give a file that `sim swarm` wrote: %w", place(text, err), strings.TrimPrefix(err.Error(), "json: "), ErrSchedule)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read schedule%s: more follows after its end: remove it: %w", line(text, decoder.InputOffset()), ErrSchedule)
	}
	return nil
}

// place names the line of an error that has one.
func place(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return line(text, syntax.Offset)
	case errors.As(err, &kind):
		return line(text, kind.Offset)
	}
	return ""
}

func line(text []byte, offset int64) string {
	offset = min(max(offset, 0), int64(len(text)))
	return fmt.Sprintf(", line %d", 1+bytes.Count(text[:offset], []byte("\n")))
}

func (d *document) file() (*File, error) {
	virtual, err := duration("virtual", d.Virtual)
	if err != nil {
		return nil, err
	}
	until, err := optional("until", d.Until)
	if err != nil {
		return nil, err
	}
	hash, err := strconv.ParseUint(d.Hash, 16, 64)
	if err != nil {
		return nil, fmt.Errorf("hash = %q is no 64 bits in hexadecimal: leave it as it was written", d.Hash)
	}
	f := &File{
		Scenario: d.Scenario, Seed: d.Seed, Virtual: virtual, Until: until, Wire: d.Wire, Commit: d.Commit, Go: d.Go, Hash: hash,
		Verdict: d.Verdict, Detail: d.Detail, Draws: d.Draws,
		Faults: []sim.Fault{}, // never nil: a replay may have no faults
	}
	for i := range d.Faults {
		fault, err := d.Faults[i].fault()
		if err != nil {
			return nil, fmt.Errorf("faults[%d]: %w", i, err)
		}
		f.Faults = append(f.Faults, fault)
	}
	return f, nil
}

func (e *entry) fault() (f sim.Fault, err error) {
	f = sim.Fault{Kind: e.Kind, Nodes: e.Nodes, Peers: e.Peers, Value: e.Value, Aim: e.Aim, Beyond: e.Beyond}
	if f.At, err = duration("at", e.At); err != nil {
		return f, err
	}
	if f.For, err = optional("for", e.For); err != nil {
		return f, err
	}
	f.Hold, err = optional("hold", e.Hold)
	return f, err
}

// optional returns zero for an empty text.
func optional(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return duration(name, text)
}

func duration(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s = %.40q is no duration: write a number with a unit, such as \"1.5s\"", name, text)
	}
	return d, nil
}
