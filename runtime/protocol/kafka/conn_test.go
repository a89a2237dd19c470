package kafka_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/kafka"
)

// begun returns a connection behind its greeting.
func begun(t testing.TB, c kafka.Config) *kafka.Conn {
	_, _, d, err := greeted(kafka.New(c), hello(8, 4))
	if err != nil {
		t.Fatal(err)
	}
	return d.(*kafka.Conn)
}

// The partitions of keys are those of Kafka's own test of its hash (UtilsTest.testMurmur2).
func TestPartitionsOfKeys(t *testing.T) {
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536, "a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		for _, n := range []int{1, 3, 7, 1 << 20} {
			if got, want := kafka.PartitionOf([]byte(key), n), hash&0x7fffffff%int32(n); got != want {
				t.Errorf("%q of %d: partition %d, want %d", key, n, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<31-1).Draw(t, "partitions")
		if at := kafka.PartitionOf(rapid.SliceOf(rapid.Byte()).Draw(t, "key"), n); at < 0 || int(at) >= n {
			t.Fatalf("partition %d of %d", at, n)
		}
	})
}

// Whatever a connection is asked, each record gets its own answer, and counts as sent when the kernel has it
// whole. One that is given up ends the connection.
func TestAnswersBelongToTheirRecords(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := begun(t, kafka.Config{})
		h := heard{conn: c}
		o := kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Value: kafka.Text{{Text: "n", Value: 0}}, Acks: kafka.AcksAll})
		for number := 2; number < rapid.IntRange(3, 20).Draw(r, "records"); number++ {
			sent := h.sent
			if err := c.Produce(o, 0, kafka.Order{Values: [][]byte{[]byte("7")}, Keeps: true, Sent: &h.sent}); err != nil {
				r.Fatal(err)
			}
			for len(c.Output()) > 0 {
				if h.sent != sent {
					r.Fatalf("%d count as sent, and one is not", h.sent)
				}
				c.Sent(rapid.IntRange(1, len(c.Output())).Draw(r, "written"))
			}
			if h.sent != sent+1 || c.Forget() {
				r.Fatalf("%d of %d count as sent, or the connection forgets the last one", h.sent, sent+1)
			}
			h.Reset()
			wrong := rapid.IntRange(number-1, number+1).Draw(r, "number")
			err := c.Feed(produced(wrong, 0, int64(number)), &h)
			if wrong != number {
				if err == nil || h.String() != "" || !c.Over() {
					r.Fatalf("request %d takes answer %d: %s", number, wrong, h.String())
				}
				return
			}
			if err != nil || h.String() != fmt.Sprintf("answer {\"topic\":\"orders\",\"partition\":0,\"offset\":%d}\n", number) || !c.Forget() {
				r.Fatalf("record %d heard %q, %v", number, h.String(), err)
			}
		}
	})
}

// produced is the answer to a record.
func produced(number int, code int16, offset int64) []byte {
	return answer(fmt.Sprintf("%d i32:1 text:orders i32:1 i32:0 i16:%d i64:%d i64:-1 i64:0 i32:0 i16:-1 i32:0", number, code, offset))
}

// What values may not make of a topic.
func TestValuesThatNameNoTopic(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"a b", `value: the topic "t-a b" has a character other than letters, digits, dots, dashes and underscores`},
		{strings.Repeat("x", 300), `value: the topic "t-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." is longer than 249 bytes`},
		{"", ""}, {"a.b_c-D9", ""},
	} {
		c := begun(t, kafka.Config{})
		o := kafka.Prepare(kafka.Message{Topic: kafka.Text{{Text: "t-", Value: 0}}, Acks: kafka.AcksAll})
		err := c.Produce(o, 0, kafka.Order{Values: [][]byte{[]byte(tt.value)}})
		if got := fmt.Sprint(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%q: got %v, want %s", tt.value, err, tt.want)
		}
		if err != nil && len(c.Output()) > 0 {
			t.Errorf("%q: %q is queued", tt.value, c.Output())
		}
	}
}

// A layout of more brokers or partitions than a cluster has ends the connection.
func TestLayoutsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		brokers, partitions int
		want                string
	}{
		{1_000, 10_000, "<nil>"},
		{1_001, 1, "protocol: an answer to Metadata tells of 1001 brokers, and 1000 are taken"},
		{1, 10_001, "protocol: an answer to Metadata tells of 10001 partitions, and 10000 are taken"},
	} {
		c := begun(t, kafka.Config{})
		if err := c.Learn("orders", kafka.Order{}); err != nil {
			t.Fatal(err)
		}
		c.Sent(len(c.Output()))
		b := fmt.Sprintf("2 i32:0 i32:%d", tt.brokers) + strings.Repeat(" i32:1 text:b i32:9092 i16:-1", tt.brokers) +
			fmt.Sprintf(" text:cluster i32:1 i32:1 i16:0 text:orders i8:0 i32:%d", tt.partitions) + strings.Repeat(" i16:0 i32:0 i32:1 i32:0 i32:0", tt.partitions)
		var on quiet
		if got := fmt.Sprint(c.Feed(answer(b), &on)); got != tt.want || (on.n == 1) != (got == "<nil>") {
			t.Errorf("%d brokers, %d partitions: %s", tt.brokers, tt.partitions, got)
		}
	}
}

// No password stands in an error or in what a greeting shows.
func TestPasswordsAreHidden(t *testing.T) {
	p := kafka.New(kafka.Config{Mechanism: kafka.PLAIN, User: "app", Password: "geheim"})
	said := append(hello(8, 4), answer("2 i16:0 i32:1 text:PLAIN")...)
	wrote, _, _, err := greeted(p, append(said, answer("3 i16:58 text:not-geheim bytes:")...))
	if !strings.Contains(string(wrote), "geheim") || err == nil {
		t.Fatalf("the password does not go out: %q %v", wrote, err)
	}
	if shown := fmt.Sprint(err, string(kafka.Describe(nil, wrote))); strings.Contains(shown, "geheim") || !strings.Contains(shown, "SaslAuthenticate") {
		t.Errorf("%s", shown)
	}
}

// quiet hears and keeps nothing.
type quiet struct{ n int }

func (q *quiet) Message(codec.MessageKind, []byte) { q.n++ }
func (q *quiet) Pong(uint64)                       {}
func (q *quiet) Leaves(uint16, string)             {}

// A record whose answer is not read allocates nothing, once its connection is warm.
func TestRecordsAllocateNothing(t *testing.T) {
	c := begun(t, kafka.Config{})
	var on quiet
	var sent uint64
	o := kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Key: kafka.Text{{Value: 0}}, Value: kafka.Plain("hello"), Acks: kafka.AcksAll})
	values := [][]byte{[]byte("7")}
	number := uint32(1)
	reply := produced(0, 0, 7)
	var scratch []byte
	got := testing.AllocsPerRun(200, func() {
		number++
		var at int32
		at, scratch = o.Choose(3, values, scratch)
		if c.Produce(o, at, kafka.Order{Values: values, Sent: &sent}) != nil {
			t.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		binary.BigEndian.PutUint32(reply[4:], number)
		if c.Feed(reply, &on) != nil {
			t.Fatal("broken")
		}
	})
	if got > 0 || on.n != int(number)-1 {
		t.Errorf("%v allocations, %d of %d answered", got, on.n, number-1)
	}
}

func BenchmarkRecord(b *testing.B) {
	c := begun(b, kafka.Config{})
	var on quiet
	o := kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Key: kafka.Plain("7"), Value: kafka.Plain("hello"), Acks: kafka.AcksAll})
	reply := produced(0, 0, 7)
	number := uint32(1)
	b.ReportAllocs()
	for b.Loop() {
		number++
		if c.Produce(o, 0, kafka.Order{}) != nil {
			b.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		binary.BigEndian.PutUint32(reply[4:], number)
		_ = c.Feed(reply, &on)
	}
}

// Nothing that a broker sends makes the codec panic, and however it is cut, the outcome is the same.
func FuzzFeed(f *testing.F) {
	f.Add(produced(2, 0, 7), uint8(0), uint8(1))
	f.Add(produced(2, 6, -1), uint8(0), uint8(3))
	f.Add(answer(metadata), uint8(1), uint8(4))
	f.Add(answer("2 i32:0 i32:2147483647"), uint8(1), uint8(2))
	for _, of := range []string{"41=tea,coffee;43=milk", "41=tea;crc", "41=tea;43=milk;cut", "41=tea;count", "41=tea;headers"} {
		f.Add(answer("2 i32:0 i16:0 i32:0 i32:1 text:orders i32:1 i32:0 i16:0 i64:50 i64:50 i64:0 i32:0 i32:-1 records:"+of), uint8(8), uint8(5))
	}
	for _, coding := range []kafka.Compression{kafka.Gzip, kafka.Snappy, kafka.LZ4, kafka.Zstd} {
		f.Add(compressed(f, coding), uint8(8), uint8(5))
	}
	f.Add(answer("2 i32:1 text:orders i32:1 i32:0 i16:0 i64:-1 i64:41"), uint8(16), uint8(3))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, b []byte, verb, cut uint8) {
		play := func(most int) string {
			c := begun(t, kafka.Config{AnswerMax: 1 << 16})
			h := heard{conn: c}
			with := kafka.Order{Keeps: verb&2 != 0}
			switch all := []kafka.Position{{Topic: "orders", Offset: 41}}; {
			case verb&8 != 0:
				_ = c.Fetch(all, kafka.Window{})
			case verb&16 != 0:
				_ = c.Locate(all)
			case verb&1 == 0:
				_ = c.Produce(kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Acks: kafka.AcksAll}), 0, with)
			default:
				_ = c.Learn("orders", with)
			}
			c.Sent(len(c.Output()))
			if verb&4 != 0 {
				c.Forget()
			}
			for rest := b; len(rest) > 0; {
				n := min(most, len(rest))
				if err := c.Feed(rest[:n], &h); err != nil {
					h.say("%v", err)
					break
				}
				rest = rest[n:]
			}
			h.say("%v", c.Over())
			return h.String()
		}
		if whole, pieces := play(len(b)+1), play(int(cut)+1); whole != pieces {
			t.Errorf("at once:\n%s\nin pieces:\n%s", whole, pieces)
		}
	})
}

// compressed is an answer to Fetch with a record as the codec writes it.
func compressed(t testing.TB, by kafka.Compression) []byte {
	c := begun(t, kafka.Config{})
	o := kafka.Prepare(kafka.Message{Topic: kafka.Plain("orders"), Value: kafka.Plain(strings.Repeat("tea ", 100)), Acks: kafka.AcksAll, Compression: by})
	if err := c.Produce(o, 0, kafka.Order{Now: 1_700_000_000_000}); err != nil {
		t.Fatal(err)
	}
	out := c.Output()
	at := bytes.Index(out, []byte("orders")) + len("orders") + 4 + 4
	b := answer("2 i32:0 i16:0 i32:0 i32:1 text:orders i32:1 i32:0 i16:0 i64:50 i64:50 i64:0 i32:0 i32:-1")
	b = append(b, out[at:]...)
	binary.BigEndian.PutUint64(b[len(b)-(len(out)-at-4):], 41) // its offset
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// What was compressed is read again, and no more of it than the bound lets through.
func TestCodingsAreReadAgain(t *testing.T) {
	for _, by := range []kafka.Compression{kafka.Uncompressed, kafka.Gzip, kafka.Snappy, kafka.LZ4, kafka.Zstd} {
		for most, want := range map[int64]string{1 << 16: strings.Repeat("tea ", 100), 300: "expanded: raise max_body"} {
			if by == kafka.Uncompressed && most < 1<<16 {
				continue
			}
			c := begun(t, kafka.Config{AnswerMax: most})
			h := heard{conn: c}
			if err := c.Fetch([]kafka.Position{{Topic: "orders", Offset: 41}}, kafka.Window{}); err != nil {
				t.Fatal(err)
			}
			c.Sent(len(c.Output()))
			err := c.Feed(compressed(t, by), &h)
			if got := h.String() + fmt.Sprint(err); !strings.Contains(got, want) {
				t.Errorf("coding %d within %d bytes: %s", by, most, got)
			}
		}
	}
}

const metadata = "2 i32:0 i32:2 i32:1 text:b1 i32:9092 i16:-1 i32:2 text:b2 i32:9093 text:rack text:cluster i32:1 i32:1 i16:0 text:orders i8:0 i32:2 i16:0 i32:1 i32:2 i32:2 i32:1 i32:2 i32:0 i16:5 i32:0 i32:-1 i32:0 i32:0"

// Nothing that a broker says in its greeting makes the codec panic.
func FuzzGreeting(f *testing.F) {
	said := append(hello(8, 4), answer("2 i16:0 i32:1 text:PLAIN")...)
	f.Add(append(said, answer("3 i16:0 i16:-1 bytes:")...), uint8(1))
	f.Add(append(said, answer("3 i16:0 i16:-1 bytes:r=AAAAAAAAAAAAAAAAAAAAAAAAx,s=AAAA,i=1")...), uint8(2))
	f.Add(hello(2, 0), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		p := kafka.New(kafka.Config{Mechanism: kafka.Mechanism(how % 4), User: "app", Password: "geheim"})
		r, _ := codec.NewRounds(p.Greet(kafka.Random{}))
		_, rest, d, err := r.Feed(nil, b)
		for n := 0; err == nil && r.Works() && n < 100; n++ {
			_, rest, d, err = r.Feed(nil, nil)
		}
		if d != nil && err == nil {
			_ = d.Feed(append([]byte(nil), rest...), &quiet{})
		}
	})
}

// BenchmarkFetch takes an answer of 4 MiB in the pieces that a loop reads.
func BenchmarkFetch(b *testing.B) {
	c := begun(b, kafka.Config{})
	var on quiet
	value := strings.Repeat("x", 128)
	one := batch(0, 0, slices.Repeat([]string{value}, 1000))
	var all []byte
	for i := range 28 {
		binary.BigEndian.PutUint64(one, uint64(i*1000))
		all = append(all, one...)
	}
	reply := answer("0 i32:0 i16:0 i32:0 i32:1 text:orders i32:1 i32:0 i16:0 i64:50 i64:50 i64:0 i32:0 i32:-1")
	reply = append(binary.BigEndian.AppendUint32(reply, uint32(len(all))), all...)
	binary.BigEndian.PutUint32(reply, uint32(len(reply)-4))
	number := uint32(1)
	positions := []kafka.Position{{Topic: "orders"}}
	b.ReportAllocs()
	for b.Loop() {
		number++
		if c.Fetch(positions, kafka.Window{}) != nil {
			b.Fatal("no room")
		}
		c.Sent(len(c.Output()))
		binary.BigEndian.PutUint32(reply[4:], number)
		for rest := reply; len(rest) > 0; {
			n := min(len(rest), 64<<10)
			if err := c.Feed(rest[:n], &on); err != nil {
				b.Fatal(err)
			}
			rest = rest[n:]
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/28000, "ns/record")
}
