package store

import (
	"fmt"
	"unicode/utf8"

	"hyperscale/core/node"
)

// Bounds of a record: those that node.Record promises.
const (
	KeyMax   = 256
	ValueMax = 1 << 20
)

// RecordError says what is wrong with a record.
type RecordError struct {
	Key    string // shortened
	What   string
	Remedy string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("record %q: %s: %s", e.Key, e.What, e.Remedy)
}

// check holds a record against the bounds.
func check(key, value []byte) error {
	shown := string(key[:min(len(key), 64)])
	switch {
	case len(key) == 0:
		return &RecordError{Key: shown, What: "the key is empty", Remedy: "give it one"}
	case len(key) > KeyMax:
		return &RecordError{Key: shown, What: fmt.Sprintf("the key has %d bytes, at most %d are kept", len(key), KeyMax), Remedy: "shorten what it is made of"}
	case !utf8.Valid(key):
		return &RecordError{Key: shown, What: "the key is no text", Remedy: "write ids in their text form"}
	case len(value) > ValueMax:
		return &RecordError{Key: shown, What: fmt.Sprintf("the value has %d bytes, at most %d are kept", len(value), ValueMax), Remedy: "split it"}
	}
	return nil
}

func checkAll(records []node.Record) error {
	for _, r := range records {
		if err := check([]byte(r.Key), r.Value); err != nil {
			return err
		}
		if r.Key == keySelf {
			return &RecordError{Key: r.Key, What: "it is the store's own", Remedy: "give it another key"}
		}
	}
	return nil
}
