package bson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DepthMost is how deep documents may nest: those of MongoDB do 100 deep.
const DepthMost = 128

// kind is what a value of JSON is.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindArray
	kindObject
)

// tree is a value of JSON whose fields keep their order.
type tree struct {
	kind  kind
	truth bool
	text  string // of a number or a text
	names []string
	each  []tree
}

var errDeep = fmt.Errorf("it nests more than %d deep", DepthMost)

// parse reads one value of JSON.
func parse(text string) (*tree, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	t, err := parseValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return t, nil
}

func parseValue(d *json.Decoder, depth int) (*tree, error) {
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	switch v := token.(type) {
	case nil:
		return &tree{kind: kindNull}, nil
	case bool:
		return &tree{kind: kindBool, truth: v}, nil
	case json.Number:
		return &tree{kind: kindNumber, text: v.String()}, nil
	case string:
		return &tree{kind: kindText, text: v}, nil
	}
	if depth == DepthMost {
		return nil, errDeep
	}
	t := &tree{kind: kindArray}
	if token == json.Delim('{') {
		t.kind = kindObject
	}
	for d.More() {
		if t.kind == kindObject {
			name, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("it is not JSON: %w", err)
			}
			t.names = append(t.names, name.(string)) // the decoder takes no other name
		}
		one, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		t.each = append(t.each, *one)
	}
	if _, err := d.Token(); err != nil { // its end
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return t, nil
}

// field returns the value of an object's field; nil: it has none of that name.
func (t *tree) field(name string) *tree {
	for i, n := range t.names {
		if n == name {
			return &t.each[i]
		}
	}
	return nil
}
