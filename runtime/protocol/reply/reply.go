package reply

import (
	"bytes"
	"iter"
)

// Most bounds a reply, in bytes. Less would cut the help texts of servers; more would let each of 1,000
// connections hold them.
const Most = 64 << 10

const codeLength = 3

// Reply is what a server answers to a command. Its lines are valid until the reader's next call.
type Reply struct {
	Code    int // from 100 to 599; 0: there is no whole reply
	lines   []byte
	secrets []string
}

// Positive reports that the server has done what it was asked.
func (r *Reply) Positive() bool { return r.Code/100 == 2 }

// Lines returns the text of each line, without code and line end.
func (r *Reply) Lines() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := r.lines; len(rest) > 0; {
			line, behind, _ := bytes.Cut(rest, []byte("\n"))
			rest = behind
			if !yield(textOf(bytes.TrimSuffix(line, []byte("\r")), r.Code)) {
				return
			}
		}
	}
}

// textOf cuts the code off a line that has it.
func textOf(line []byte, code int) []byte {
	if of, _ := codeOf(line); of != code {
		return line
	}
	return line[min(len(line), codeLength+1):]
}

// Text returns the text of the first line.
func (r *Reply) Text() []byte {
	for line := range r.Lines() {
		return line
	}
	return nil
}

// Reader finds replies in what a server sends. The zero value is ready.
type Reader struct {
	// Loose takes lines in the middle of a reply that have no code, as FTP allows.
	Loose bool
	// Secrets are what no error shows, also where the server repeats it.
	Secrets []string
	held    []byte // a reply that is not whole
	line    int    // of held: where its last line begins
	code    int    // of its first line; 0: that is not whole
}

// Next takes bytes up to the end of the next reply, which Code 0 says is not there yet.
func (r *Reader) Next(b []byte) (one Reply, used int, err error) {
	if len(r.held) == 0 {
		if one, used, err = r.cut(b); one.Code == 0 && err == nil {
			used, err = len(b), r.hold(b)
		}
		return one, used, err
	}
	for used < len(b) {
		n := bytes.IndexByte(b[used:], '\n') + 1
		if n == 0 {
			return Reply{}, len(b), r.hold(b[used:])
		}
		if err := r.hold(b[used : used+n]); err != nil {
			return Reply{}, used, err
		}
		used += n
		last, err := r.ends(r.held[r.line:])
		if err != nil {
			return Reply{}, used, err
		}
		if r.line = len(r.held); last {
			return r.whole(r.held), used, nil
		}
	}
	return Reply{}, used, nil
}

// cut finds a reply that begins b, of which so much was seen before that its last line begins at r.line.
func (r *Reader) cut(b []byte) (one Reply, used int, err error) {
	for used = r.line; used < len(b); {
		n := bytes.IndexByte(b[used:], '\n') + 1
		if n == 0 {
			break
		}
		if used+n > Most {
			return Reply{}, used, errLong
		}
		last, err := r.ends(b[used : used+n])
		if used += n; err != nil {
			return Reply{}, used, err
		}
		if last {
			return r.whole(b[:used]), used, nil
		}
		r.line = used
	}
	return Reply{}, 0, nil
}

// Cut finds a reply that begins b, and keeps none of it: used is 0 if it is not whole. Then the same bytes
// come again, with more behind them.
func (r *Reader) Cut(b []byte) (one Reply, used int, err error) { return r.cut(b) }

// whole returns a reply that has all of its lines, and begins the next one.
func (r *Reader) whole(lines []byte) Reply {
	one := Reply{r.code, lines, r.Secrets}
	r.line, r.code = 0, 0
	if r.held = r.held[:0]; cap(r.held) > heldKept {
		r.held = nil
	}
	return one
}

const heldKept = 512 // bytes of a buffer that an idle connection keeps

// hold keeps bytes of a reply that is not whole.
func (r *Reader) hold(b []byte) error {
	if len(r.held)+len(b) > Most {
		return errLong
	}
	r.held = append(r.held, b...)
	return nil
}

// Partial reports that a reply has begun, and is not whole.
func (r *Reader) Partial() bool { return len(r.held) > 0 }

// ends takes a line with its end, and reports whether it ends its reply.
func (r *Reader) ends(line []byte) (bool, error) {
	code, goesOn := codeOf(bytes.TrimRight(line, "\r\n"))
	switch {
	case r.code == 0 && code == 0:
		return false, errNoCode(line, r.Secrets)
	case r.code == 0:
		r.code = code
	case code == r.code:
	case r.Loose:
		return false, nil
	case code == 0:
		return false, errNoCode(line, r.Secrets)
	default:
		return false, errChanges(r.code, code)
	}
	return !goesOn, nil
}

// codeOf returns the code of a line, and whether the reply goes on behind it; 0: it has none.
func codeOf(line []byte) (code int, goesOn bool) {
	if len(line) < codeLength {
		return 0, false
	}
	for _, c := range line[:codeLength] {
		if c < '0' || c > '9' {
			return 0, false
		}
		code = code*10 + int(c-'0')
	}
	if code < 100 || code > 599 {
		return 0, false
	}
	if len(line) == codeLength {
		return code, false
	}
	switch line[codeLength] {
	case ' ':
		return code, false
	case '-':
		return code, true
	}
	return 0, false
}
