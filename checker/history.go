package checker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/node"
)

// lineMax bounds one line of a history file.
const lineMax = 1 << 20

// line is a Record as JSON: one object a line.
type line struct {
	AtNS        time.Duration   `json:"at_ns"`
	Node        node.ID         `json:"node"`
	Incarnation uint64          `json:"incarnation"`
	Name        string          `json:"event"`
	Data        json.RawMessage `json:"data"`
}

// AppendJSON appends r as one line of a history file.
func AppendJSON(b []byte, r Record) ([]byte, error) {
	data, err := json.Marshal(r.Event)
	if err != nil {
		return b, fmt.Errorf("write %s: %w", r.Event.EventName(), err)
	}
	text, err := json.Marshal(line{r.At, r.Node, r.Incarnation, r.Event.EventName(), data})
	if err != nil {
		return b, fmt.Errorf("write %s: %w", r.Event.EventName(), err)
	}
	return append(append(b, text...), '\n'), nil
}

// Read hands each record of a history file to f, in order.
func Read(r io.Reader, f func(Record)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineMax)
	for n := 1; lines.Scan(); n++ {
		record, err := parse(lines.Bytes())
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
	return Record{l.AtNS, l.Node, l.Incarnation, reflect.ValueOf(e).Elem().Interface().(node.Event)}, nil
}
