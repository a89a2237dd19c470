package kafka

import (
	"slices"
	"strings"
)

// Part is a piece of a text: its own bytes, or a value.
type Part struct {
	Text  string
	Value int // index; below 0: Text
}

// Text is what a record has at one place.
type Text []Part

// Plain returns a text without values.
func Plain(s string) Text { return Text{{Text: s, Value: -1}} }

// open reports whether a value stands in the text.
func (t Text) open() bool { return slices.ContainsFunc(t, func(p Part) bool { return p.Value >= 0 }) }

// fill appends the text with its values.
func (t Text) fill(dst []byte, values [][]byte) []byte {
	for i := range t {
		if dst = append(dst, t[i].Text...); t[i].Value >= 0 {
			dst = append(dst, values[t[i].Value]...)
		}
	}
	return dst
}

// size is how many bytes fill appends.
func (t Text) size(values [][]byte) (n int) {
	for i := range t {
		if n += len(t[i].Text); t[i].Value >= 0 {
			n += len(values[t[i].Value])
		}
	}
	return n
}

const topicMost = 249 // bytes, of every broker

// Unsendable says why no topic has that name; empty: one can.
func Unsendable(topic string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}
	switch {
	case topic == "":
		return "is empty"
	case topic == "." || topic == "..":
		return "is no name"
	case len(topic) > topicMost:
		return "is longer than 249 bytes"
	case strings.ContainsFunc(topic, odd):
		return "has a character other than letters, digits, dots, dashes and underscores"
	}
	return ""
}
