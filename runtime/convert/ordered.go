package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// Object is a JSON object or a YAML mapping whose members keep their order.
type Object struct {
	Keys   []string
	Values []any
	at     map[string]int
}

func (o *Object) Get(key string) any {
	if o == nil {
		return nil
	}
	if o.at == nil {
		if i := slices.Index(o.Keys, key); i >= 0 {
			return o.Values[i]
		}
		return nil
	}
	if i, ok := o.at[key]; ok {
		return o.Values[i]
	}
	return nil
}

// Put adds a member; of two with one name the last counts, and put says so.
func (o *Object) Put(key string, value any) (again bool) {
	if i := o.Index(key); i >= 0 {
		o.Values[i] = value
		return true
	}
	if o.at == nil && len(o.Keys) == 8 {
		o.at = make(map[string]int, 16)
		for i, k := range o.Keys {
			o.at[k] = i
		}
	}
	if o.at != nil {
		o.at[key] = len(o.Keys)
	}
	o.Keys, o.Values = append(o.Keys, key), append(o.Values, value)
	return false
}

func (o *Object) Index(key string) int {
	if o.at != nil {
		if i, ok := o.at[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.Keys, key)
}

// The parts of a document by type: a value of another type reads as nothing.
func (o *Object) Object(key string) *Object { v, _ := o.Get(key).(*Object); return v }
func (o *Object) List(key string) []any     { v, _ := o.Get(key).([]any); return v }
func (o *Object) Text(key string) string    { return Scalar(o.Get(key)) }

// Scalar is a text or a number as text.
func Scalar(v any) string {
	switch v := v.(type) {
	case string:
		return Clean(v)
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

// ParseJSON reads JSON whose objects keep their order. With strict an object with a
// name twice is an error: a dict cannot say it.
func ParseJSON(data []byte, strict bool) (any, error) {
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
	o := &Object{}
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
		if o.Put(name, v) && strict {
			return nil, errTwice
		}
	}
	_, err = d.Token()
	return o, err
}

func (o *Object) Members() []string {
	if o == nil {
		return nil
	}
	return o.Keys
}
