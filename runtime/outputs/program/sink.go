package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// Kind is the row of the table of kinds.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "exec", Engine: "program", About: "a program of yours: lines of JSON, acknowledged", Place: "PROGRAM", Example: "./forward.py --table load",
		Delivery: outputs.AtLeastOnce, Limits: outputs.Limits{Rows: 500, Timeout: 30 * time.Second},
		Tested: "programs that refuse, hang, die and lie", Schema: schema,
		Open: func(s *outputs.Settings) (outputs.Sink, error) { return newSink(strings.Fields(s.Place)) },
	}
}

const schema = `stdin, a line for each row: {"n":1,"row":{"kind":"window",...}}. n rises by one; a row is as in: outputs schema jsonl.
stdout: {"ack":n} once all rows up to n are kept; {"reject":n,"why":"..."} before that, for a row that is never taken.
A program that ends, or acknowledges nothing for 30 s, is started again, and gets the rows again that it has not acknowledged.
`

// closeMax is how long a program may take to end when its stdin does.
const closeMax = 2 * time.Second

// earlyMax is how long the check waits for a program that cannot start to end.
const earlyMax = 200 * time.Millisecond

type sink struct {
	args  []string
	early time.Duration // for the check
	child *child        // nil: it does not run
	n     uint64        // of the last row that was written
	buf   []byte
}

func newSink(args []string) (outputs.Sink, error) {
	if len(args) == 0 {
		return nil, errors.New("name a program: its path, then its arguments by spaces")
	}
	return &sink{args: args, early: earlyMax}, nil
}

// Check starts the program, and reports one that ends at once.
func (s *sink) Check(ctx context.Context) error {
	if _, err := exec.LookPath(s.args[0]); err != nil {
		return fmt.Errorf("%w: name a program that this user may run, such as ./forward.sh", err)
	}
	if err := s.start(); err != nil {
		return err
	}
	select {
	case <-s.child.ended:
		last := s.end()
		return errors.New(strings.TrimSuffix("the program ends before it gets a row: let it read stdin to its end: "+last, ": "))
	case <-time.After(s.early):
	case <-ctx.Done():
	}
	return nil
}

func (s *sink) start() (err error) {
	if s.child == nil {
		s.n = 0
		s.child, err = startChild(s.args)
	}
	return err
}

func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	if s.child != nil && s.child.over() {
		s.end()
	}
	if err := s.start(); err != nil {
		return outputs.Again(0, err.Error())
	}
	first := s.n + 1
	s.buf = s.buf[:0]
	for i := range b.Rows {
		s.n++
		s.buf = fmt.Appendf(s.buf, `{"n":%d,"row":`, s.n)
		s.buf = append(outputs.AppendJSON(s.buf, &b.Rows[i]), '}', '\n')
	}
	// The program may acknowledge rows before it has read all, so writing has a goroutine of its own.
	wrote := make(chan error, 1)
	go func(to *os.File, b []byte) {
		_, err := to.Write(b)
		wrote <- err
	}(s.child.stdin, s.buf)
	rejected, why, err := s.answers(ctx, first)
	if err != nil {
		last := s.end()
		<-wrote
		return outputs.Unclear(strings.TrimSuffix(fmt.Sprintf("%v: %s", err, last), ": "))
	}
	select {
	case <-wrote:
	case <-ctx.Done():
		s.end()
		<-wrote
		return outputs.Unclear("the program acknowledged rows that it had not read")
	}
	if len(rejected) > 0 {
		return outputs.Rejected(rejected, why)
	}
	return outputs.Delivered()
}

// answer is a line of the program.
type answer struct {
	Ack    uint64 `json:"ack"`
	Reject uint64 `json:"reject"`
	Why    string `json:"why"`
}

// read judges a line of a program that has acknowledged some rows and has got the last one.
func read(line []byte, acked, last uint64) (a answer, err error) {
	if err := json.Unmarshal(line, &a); err != nil || (a.Ack == 0) == (a.Reject == 0) {
		return a, fmt.Errorf("the program answers %.40q: it is to write {\"ack\":n} or {\"reject\":n,\"why\":\"...\"}", line)
	}
	if n := a.Ack + a.Reject; n <= acked || n > last {
		return a, fmt.Errorf("the program answers for row %d, and has rows %d to %d", n, acked+1, last)
	}
	return a, nil
}

// whyMax bounds the reason of a program for people, in bytes.
const whyMax = 200

// answers waits until the program has acknowledged all rows.
func (s *sink) answers(ctx context.Context, first uint64) (rejected []int, why string, err error) {
	for acked := first - 1; acked < s.n; {
		select {
		case <-ctx.Done():
			return nil, "", fmt.Errorf("the program acknowledged %d of %d rows in time", acked-(first-1), s.n-(first-1))
		case line, ok := <-s.child.lines:
			if !ok {
				return nil, "", errors.New("the program ended before it acknowledged all rows")
			}
			a, err := read(line, acked, s.n)
			if err != nil {
				return nil, "", err
			}
			if a.Ack > 0 {
				acked = a.Ack
				continue
			}
			if len(rejected) == 0 {
				why = strings.ToValidUTF8(a.Why[:min(len(a.Why), whyMax)], "")
			}
			rejected = append(rejected, int(a.Reject-first))
			if len(rejected) > 2*int(s.n-first+1) {
				rejected = ordered(rejected) // one row again and again
			}
		}
	}
	return ordered(rejected), why, nil
}

// ordered are numbers ascending, each once. A program rejects rows in any order.
func ordered(all []int) []int {
	slices.Sort(all)
	return slices.Compact(all)
}

// end kills the program, and returns its last words.
func (s *sink) end() string {
	last := s.child.kill()
	s.child = nil
	return last
}

func (s *sink) Close() {
	if s.child != nil {
		s.child.leave(closeMax)
		s.child = nil
	}
}
