package custom_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"hyperscale/runtime/protocol/custom"
)

type quiet struct{ n, bytes int }

func (q *quiet) Answered(_ uint64, a *custom.Answer) {
	q.n++
	q.bytes += len(a.Body)
}

func begun(t testing.TB, inFlight int) *custom.Conn {
	c := custom.New(custom.Hello{InFlight: inFlight})
	c.Sent(len(c.Output()))
	if err := c.Feed([]byte(`{"hyperscale":1,"name":"x","measures":["rows"]}`+"\n"), nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// exchange carries one call.
func exchange(t testing.TB, c *custom.Conn, op *custom.Operation, order custom.Order, text []byte, on custom.Listener, n *uint64) []byte {
	if _, err := c.Operate(op, order); err != nil {
		t.Fatal(err)
	}
	c.Sent(len(c.Output()))
	*n++
	text = fmt.Appendf(text[:0], `{"id":%d,"ok":true,"status":200,"body":"hello there","measures":{"rows":3}}`+"\n", *n<<10)
	if err := c.Feed(text, on); err != nil {
		t.Fatal(err)
	}
	return text
}

// A call allocates nothing but what its test does.
func TestCallsAllocateNothing(t *testing.T) {
	c, q := begun(t, 1), &quiet{}
	op := custom.Compile("book", []custom.Part{{Text: `{"id":"`, Value: -1}, {Value: 0}, {Text: `"}`, Value: -1}})
	var sent, n uint64
	order := custom.Order{Values: [][]byte{[]byte("17")}, Sent: &sent, Timeout: 1e9}
	var text []byte
	own := testing.AllocsPerRun(100, func() { text = fmt.Appendf(text[:0], `{"id":%d}`, (n+1)<<20) })
	if got := testing.AllocsPerRun(1000, func() { text = exchange(t, c, op, order, text, q, &n) }); got > own {
		t.Errorf("%v allocations a call, %v of them of the test", got, own)
	}
	if uint64(q.n) != n || sent != n || c.Asked() != n {
		t.Error(q.n, sent, c.Asked(), n)
	}
}

func BenchmarkCall(b *testing.B) {
	b.ReportAllocs()
	c, q := begun(b, 1), &quiet{}
	op := custom.Compile("book", []custom.Part{{Text: `{"id":"`, Value: -1}, {Value: 0}, {Text: `"}`, Value: -1}})
	var sent, n uint64
	order := custom.Order{Values: [][]byte{[]byte("17")}, Sent: &sent, Timeout: 1e9}
	var text []byte
	for b.Loop() {
		text = exchange(b, c, op, order, text, q, &n)
	}
}

// CUSTOM-5: a cancel needs no answer, however many calls are cancelled; an answer that comes all the same
// is no breach, and one to a call that was never made is one.
func TestLateAnswersAreBounded(t *testing.T) {
	c, q := begun(t, 1), &quiet{}
	op, order := custom.Compile("a", []custom.Part{{Text: "{}", Value: -1}}), custom.Order{Sent: new(uint64), Timeout: 1}
	var late uint64
	const most = 1 << 16
	for range most + 3 {
		at, err := c.Operate(op, order)
		if err != nil {
			t.Fatal(err)
		}
		c.Cancel(at, &late)
		c.Sent(len(c.Output()))
	}
	if _, err := c.Operate(op, order); err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{1, 3, 4, most + 3, most + 4} {
		if err := c.Feed(fmt.Appendf(nil, "{\"id\":%d,\"ok\":true}\n", n<<10), q); err != nil {
			t.Errorf("call %d: %v", n, err)
		}
	}
	if late != 4 || q.n != 1 {
		t.Errorf("%d answers are late, %d others came", late, q.n)
	}
	for _, n := range []uint64{4, most + 3, most + 5} { // answered, answered, never made
		if err := c.Feed(fmt.Appendf(nil, "{\"id\":%d,\"ok\":true}\n", n<<10), q); err == nil {
			t.Errorf("call %d: an answer is no breach", n)
		}
	}
}

// A program that leaves the lines of calls unread whose time is over is deaf; open calls wait as long as
// they may.
func TestDeafPrograms(t *testing.T) {
	c := begun(t, 20)
	op := custom.Compile("a", []custom.Part{{Value: 0}})
	var late uint64
	order := custom.Order{Sent: new(uint64), Timeout: 1, Values: [][]byte{bytes.Repeat([]byte("7"), 1000<<10)}}
	var places []int32
	for range 20 {
		at, err := c.Operate(op, order)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, at)
	}
	for i, at := range places {
		if got, want := c.Deaf(), i*1000>>10 >= 16; got != want {
			t.Fatalf("behind %d cancelled calls: %v", i, got)
		}
		c.Cancel(at, &late)
	}
	if c.Sent(len(c.Output())); c.Deaf() {
		t.Error("it has read all")
	}
}

// FuzzFeed: whatever a program says, the conversation ends by the rules, and its outcome depends on no cut.
func FuzzFeed(f *testing.F) {
	for _, s := range []string{`{"hyperscale":1,"measures":["rows"]}` + "\n" + `{"id":1024,"ok":true,"body":"\u00e9\"","measures":{"rows":1}}` + "\n", `{"hyperscale":1}` + "\n" + `{"id":2049,"ok":false,"code":"a","error":"b"}` + "\n{", "{\n", `{"":{"[":"\\"}}` + "\n", `{"hyperscale":1,"name":"\"}"}` + "\n{}\n"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, said []byte, cut uint8) {
		play := func(cut int) string {
			c := custom.New(custom.Hello{InFlight: 2})
			q, out := &quiet{}, ""
			for line := range bytes.Lines(said) {
				for part := range slices.Chunk(line, cut) {
					if err := c.Feed(part, q); err != nil {
						return fmt.Sprint(out, err, q, c.Close())
					}
				}
				for c.Room() && c.Asked() < 4 {
					if _, err := c.Operate(custom.Compile("a", []custom.Part{{Text: "{}", Value: -1}}), custom.Order{Tag: c.Asked(), Sent: new(uint64)}); err != nil {
						t.Fatal(err)
					}
				}
				if c.Asked() == 4 {
					c.End()
				}
				out += fmt.Sprintln(c.Busy(), q)
			}
			return fmt.Sprint(out, q, c.Close())
		}
		if a, b := play(len(said)+1), play(max(1, int(cut))); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}
