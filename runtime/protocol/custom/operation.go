package custom

import (
	"fmt"
	"strconv"
	"time"

	"hyperscale/runtime/protocol/http1"
)

// LineMost bounds a line, in bytes without its end.
const LineMost = 1 << 20

// Part is a piece of a call's arguments: JSON as it is, or a value within one of its texts.
type Part struct {
	Text  string
	Value int // index of the value; below 0: Text
}

// Operation is a call, made before the clock.
type Operation struct {
	Name  string
	parts []Part
}

// Compile makes a call. Args are an object of JSON.
func Compile(name string, args []Part) *Operation {
	own := []Part{{Text: `,"call":` + string(quote(nil, name)) + `,"args":`, Value: -1}}
	return &Operation{Name: name, parts: append(own, args...)}
}

func quote(b []byte, text string) []byte {
	return append(http1.AppendJSON(append(b, '"'), []byte(text)), '"')
}

// Order is how a call is sent.
type Order struct {
	Tag     uint64 // the listener's
	User    uint64 // the number of its virtual user
	Timeout time.Duration
	Values  [][]byte
	Sent    *uint64 // grows by one when the kernel has the line
}

// line appends the line of a call.
func (o *Operation) line(b []byte, id uint64, how *Order) ([]byte, error) {
	begin := len(b)
	b = strconv.AppendUint(append(b, `{"id":`...), id, 10)
	b = strconv.AppendUint(append(b, `,"vu":`...), how.User, 10)
	for i := range o.parts {
		p := &o.parts[i]
		if p.Value < 0 {
			b = append(b, p.Text...)
		} else {
			b = http1.AppendJSON(b, how.Values[p.Value])
		}
		if len(b)-begin > LineMost {
			return b, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("the call %q has more than %d KiB: give the program the path of a file instead", o.Name, LineMost>>10)}
		}
	}
	b = strconv.AppendInt(append(b, `,"timeout_ms":`...), max(1, how.Timeout.Milliseconds()), 10)
	return append(b, "}\n"...), nil
}

// Show appends the arguments of a call, for people.
func (o *Operation) Show(b []byte, values [][]byte) []byte {
	b = append(b, o.Name...)
	for i, p := range o.parts {
		switch {
		case i == 0:
			b = append(b, ' ')
		case p.Value < 0:
			b = append(b, p.Text...)
		default:
			b = http1.AppendJSON(b, values[p.Value])
		}
	}
	return b
}
