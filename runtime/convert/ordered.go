package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// object is a JSON object or a YAML mapping whose members keep their order.
type object struct {
	keys   []string
	values []any
	at     map[string]int
}

func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	if o.at == nil {
		if i := slices.Index(o.keys, key); i >= 0 {
			return o.values[i]
		}
		return nil
	}
	if i, ok := o.at[key]; ok {
		return o.values[i]
	}
	return nil
}

// put adds a member; of two with one name the last counts, and put says so.
func (o *object) put(key string, value any) (again bool) {
	if i := o.index(key); i >= 0 {
		o.values[i] = value
		return true
	}
	if o.at == nil && len(o.keys) == 8 {
		o.at = make(map[string]int, 16)
		for i, k := range o.keys {
			o.at[k] = i
		}
	}
	if o.at != nil {
		o.at[key] = len(o.keys)
	}
	o.keys, o.values = append(o.keys, key), append(o.values, value)
	return false
}

func (o *object) index(key string) int {
	if o.at != nil {
		if i, ok := o.at[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.keys, key)
}

// The parts of a document, as they should be: what is something else reads as nothing.
func (o *object) object(key string) *object { v, _ := o.get(key).(*object); return v }
func (o *object) list(key string) []any     { v, _ := o.get(key).([]any); return v }
func (o *object) text(key string) string    { return scalar(o.get(key)) }

// scalar is a text or a number as text.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return clean(v)
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

var (
	errTwice = errors.New("an object has a name twice")
	errDeep  = errors.New("it is nested too deep")
)

// parseJSON reads JSON whose objects keep their order. With strict an object with a
// name twice is an error: a dict cannot say it.
func parseJSON(data []byte, strict bool) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parseValue(d, strict, nestingMax)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind it")
	}
	return v, nil
}

func parseValue(d *json.Decoder, strict bool, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth == 0 {
		return nil, errDeep
	}
	if open == '[' {
		all := []any{}
		for d.More() {
			v, err := parseValue(d, strict, depth-1)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err = d.Token()
		return all, err
	}
	o := &object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d, strict, depth-1)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if o.put(name, v) && strict {
			return nil, errTwice
		}
	}
	_, err = d.Token()
	return o, err
}
