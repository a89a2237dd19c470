package history

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// lineMax bounds one line of a history file.
const lineMax = 1 << 20

// cutShort is what encoding/json says of a text whose end is missing.
const cutShort = "unexpected end of JSON input"

// line is a Record as JSON: one object a line.
type line struct {
	AtNS        time.Duration   `json:"at_ns"`
	Node        node.ID         `json:"node"`
	Incarnation uint64          `json:"incarnation"`
	LocalNS     node.Instant    `json:"local_ns,omitempty"`
	Name        string          `json:"event"`
	Data        json.RawMessage `json:"data"`
}

// AppendJSON appends r as one line of a history file.
func AppendJSON(b []byte, r Record) ([]byte, error) {
	data, err := json.Marshal(r.Event)
	if err != nil {
		return b, fmt.Errorf("write %s: %w", r.Event.EventName(), err)
	}
	text, err := json.Marshal(line{r.At, r.Node, r.Incarnation, r.Local, r.Event.EventName(), data})
	if err != nil {
		return b, fmt.Errorf("write %s: %w", r.Event.EventName(), err)
	}
	return append(append(b, text...), '\n'), nil
}

// Read hands each record of a history file to f, in order. A line that is cut short
// is what a process was about to write when it was killed, and tells nothing.
func Read(r io.Reader, f func(Record)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineMax)
	for n := 1; lines.Scan(); n++ {
		record, err := parse(lines.Bytes())
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Offset == int64(len(lines.Bytes())) && syntax.Error() == cutShort {
			continue
		}
		if err != nil {
			return fmt.Errorf("history line %d: %w", n, err)
		}
		f(record)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("history: a line is longer than %d bytes: is this a history file?", lineMax)
	} else if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

func parse(text []byte) (Record, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Record{}, err
	}
	e := event.New(l.Name)
	if e == nil {
		return Record{}, fmt.Errorf("event %q is not in the catalogue: was it recorded by a newer version?", l.Name)
	}
	if err := json.Unmarshal(l.Data, e); err != nil {
		return Record{}, fmt.Errorf("event %q: %w", l.Name, err)
	}
	return Record{l.AtNS, l.Node, l.Incarnation, l.LocalNS, reflect.ValueOf(e).Elem().Interface().(node.Event)}, nil
}

// Merge reads the history files of several nodes of one machine and orders them in one. The
// nodes share one clock, so the order is exactly that of real time. Events in the same
// nanosecond keep the order of the files. A record without the reading of its node's own clock
// has its At.
func Merge(files ...io.Reader) ([]Record, error) {
	var all []Record
	for i, f := range files {
		err := Read(f, func(r Record) {
			if r.Local == 0 {
				r.Local = node.Instant(r.At)
			}
			all = append(all, r)
		})
		if err != nil {
			return nil, fmt.Errorf("file %d: %w", i+1, err)
		}
	}
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}
