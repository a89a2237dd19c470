package pubsub

import (
	"bytes"
	"fmt"

	"hyperscale/runtime/protocol/http1"
)

const (
	lineMost  = 8 << 10  // bytes of a line, with its end: texts of any length are no lines
	frameMore = 64 << 10 // bytes of a frame beside its message
	wordsMost = 4        // of a frame that means anything
	idleMost  = 1024     // frames in a row that carry no message
)

// frame is how far a value of the server, with all those in it, has come.
type frame struct {
	at   int   // of its bytes, that are judged
	left int64 // values to come
}

// word is a value of a frame: a text, a number or an error, or null.
type word struct {
	kind byte
	text []byte
}

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

// errLarge is the error of a frame that exceeds what is kept.
func errLarge(most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a message of the subscription exceeds %d bytes: raise max_body", most)}
}

// whole judges b, which begins with the frame, and reports whether all of it has come. The next call
// goes on where this one has ended: b must begin with the same bytes.
func (f *frame) whole(b []byte, most int64) (bool, *http1.Error) {
	if f.at == 0 {
		f.left = 1
	}
	for f.left > 0 {
		rest := b[f.at:]
		if len(rest) == 0 {
			return false, nil
		}
		if bytes.IndexByte([]byte("+-:$*_,#!=(%~>|"), rest[0]) < 0 {
			return false, breach("the server sent %q, which begins no value of a subscription: is this a Redis server, and does it speak TLS or not?", rest[0])
		}
		end := bytes.IndexByte(rest[:min(len(rest), lineMost)], '\n')
		switch {
		case end < 0 && len(rest) >= lineMost:
			return false, &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("a line of the server exceeds %d bytes", lineMost)}
		case end < 0:
			return false, nil
		case end < 2 || bytes.IndexByte(rest[:end], '\r') != end-1:
			return false, breach("a line of the server does not end with CR LF")
		}
		size, more, err := extent(rest[0], rest[1:end-1], f.at == 0)
		if err != nil {
			return false, err
		}
		const least = 3 // bytes of a value
		if size > most-int64(f.at) || more > (most-int64(f.at))/least {
			return false, errLarge(most)
		}
		past := end + 1
		if size >= 0 {
			past += int(size) + 2
			if len(rest) < past {
				return false, nil
			}
			if string(rest[past-2:past]) != "\r\n" {
				return false, breach("a text of the server does not end with CR LF where its length says")
			}
		}
		f.at += past
		f.left += more - 1
		if int64(f.at) > most || f.left > most/least {
			return false, errLarge(most)
		}
	}
	return true, nil
}

// extent is what follows a value's line: the bytes of its text, below 0 if it has none, and the values
// in it.
func extent(kind byte, line []byte, first bool) (size, more int64, err *http1.Error) {
	switch kind {
	case '$', '=', '!', '*', '~', '>', '%', '|':
	default:
		return -1, 0, nil
	}
	if (kind == '$' || kind == '*') && string(line) == "-1" {
		return -1, 0, nil
	}
	n := int64(0)
	for _, d := range line {
		if d < '0' || d > '9' || n > 1<<40 {
			return 0, 0, breach("%q is not a length of the type %q", line[:min(len(line), 40)], kind)
		}
		n = 10*n + int64(d-'0')
	}
	if len(line) == 0 {
		return 0, 0, breach("the type %q has no length", kind)
	}
	switch kind {
	case '$', '=', '!':
		return n, 0, nil
	case '%':
		return -1, 2 * n, nil
	case '|':
		if first {
			return -1, 2 * n, nil // a frame of its own
		}
		return -1, 2*n + 1, nil // its value follows
	}
	return -1, n, nil
}

// words returns the values of a frame that is whole, into memory; false: it has others than a few that
// are flat.
func words(b []byte, memory *[wordsMost]word) ([]word, bool) {
	first, rest := cutWord(b)
	if first.kind != '*' && first.kind != '>' {
		return append(memory[:0], first), true
	}
	all := memory[:0]
	for len(rest) > 0 {
		if len(all) == wordsMost {
			return nil, false
		}
		var w word
		switch w, rest = cutWord(rest); w.kind {
		case '*', '>', '~', '%', '|':
			return nil, false
		}
		all = append(all, w)
	}
	return all, true
}

// cutWord cuts the first value from bytes that are judged. That of an aggregate is its line alone.
func cutWord(b []byte) (w word, rest []byte) {
	end := bytes.IndexByte(b, '\n')
	line := b[1 : end-1]
	w, rest = word{b[0], line}, b[end+1:]
	switch size, _, _ := extent(b[0], line, false); {
	case size >= 0:
		w.text, rest = rest[:size], rest[size+2:]
	case b[0] == '$':
		w.kind = '_' // null, and not the text "-1"
	}
	return w, rest
}

// claims reports that a frame begins as a message or a confirmation does.
func claims(b []byte) bool {
	_, rest := cutWord(b)
	if len(rest) == 0 {
		return false
	}
	first, _ := cutWord(rest)
	switch string(first.text) {
	case "message", "pmessage", "smessage", "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe":
		return true
	}
	return false
}
