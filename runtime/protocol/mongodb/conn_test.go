package mongodb_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mongodb"
)

const primary = `{"isWritablePrimary": true, "maxWireVersion": 21, "ok": 1}`

// quiet listens to nothing.
type quiet struct{ answers int }

func (q *quiet) Message(codec.MessageKind, []byte) { q.answers++ }
func (q *quiet) Pong(uint64)                       {}
func (q *quiet) Leaves(uint16, string)             {}

func compiled(t testing.TB, text string, words ...bson.Word) *bson.Template {
	c, err := bson.Compile(text, words)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// MONGODB-5: an operation whose documents nothing reads allocates nothing, with values and with batches.
func TestNothingIsAllocated(t *testing.T) {
	c, err := begun(mongodb.Config{}, primary)
	if err != nil {
		t.Fatal(err)
	}
	o := mongodb.Find(compiled(t, `{"find": "orders", "filter": {"n": {"$numberInt": "7"}, "s": "w0w"}, "$db": "shop"}`, bson.Word{Text: "w0w"}), mongodb.Cursor{})
	more := answer(2, `{"cursor": {"firstBatch": [{"_id": 1}, {"_id": 2}], "id": 77, "ns": "shop.orders"}, "ok": 1}`)
	last := answer(2, `{"cursor": {"nextBatch": [{"_id": 3}], "id": 0, "ns": "shop.orders"}, "ok": 1}`)
	on, values, number := &quiet{}, [][]byte{[]byte("open")}, uint32(1)
	once := func() {
		if err := c.Operate(o, mongodb.Order{Values: values}); err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{more, last} {
			c.Sent(c.Unsent())
			number++
			binary.LittleEndian.PutUint32(b[8:], number)
			half := len(b) / 2
			if c.Feed(b[:half], on) != nil || c.Feed(b[half:], on) != nil {
				t.Fatal("no answer")
			}
		}
	}
	once()
	if n := testing.AllocsPerRun(100, once); n > 0 || on.answers < 100 {
		t.Errorf("an operation makes %v allocations", n)
	}
}

func BenchmarkFind(b *testing.B) {
	c, err := begun(mongodb.Config{}, primary)
	if err != nil {
		b.Fatal(err)
	}
	o := mongodb.Find(compiled(b, `{"find": "orders", "filter": {"_id": 7}, "$db": "shop"}`), mongodb.Cursor{})
	last := answer(2, `{"cursor": {"firstBatch": [{"_id": 3, "name": "tea", "price": 1.5}], "id": 0, "ns": "shop.orders"}, "ok": 1}`)
	on, number := &quiet{}, uint32(1)
	b.ReportAllocs()
	for b.Loop() {
		if c.Operate(o, mongodb.Order{}) != nil {
			b.Fatal("no room")
		}
		c.Sent(c.Unsent())
		number++
		binary.LittleEndian.PutUint32(last[8:], number)
		if c.Feed(last, on) != nil {
			b.Fatal("no answer")
		}
	}
}

// MONGODB-2: a cursor that brings nothing for ever is a flood.
func TestEmptyBatches(t *testing.T) {
	c, err := begun(mongodb.Config{}, primary)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Operate(mongodb.Find(compiled(t, `{"find": "a", "$db": "s"}`), mongodb.Cursor{}), mongodb.Order{}); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		c.Sent(c.Unsent())
		if err = c.Feed(answer(n+1, `{"cursor": {"nextBatch": [], "id": 7, "ns": "s.a"}, "ok": 1}`), &quiet{}); err != nil {
			if n != 1024 || !strings.Contains(err.Error(), "1024 batches") {
				t.Errorf("batch %d: %v", n, err)
			}
			return
		}
	}
}

// greets plays bytes as a greeting.
func greets(b []byte, most int) string {
	h := &heard{}
	r, _ := codec.NewRounds(mongodb.New(mongodb.Config{User: "a", Password: "b", Mechanism: mongodb.SCRAMSHA1}).Greet(mongodb.Random{}))
	for len(b) > 0 {
		n := min(most, len(b))
		wrote, _, d, err := r.Feed(nil, b[:n])
		if h.shows(wrote); err != nil || d != nil {
			h.say("%v %v", d != nil, err)
			break
		}
		b = b[n:]
	}
	return h.String()
}

// MONGODB-1, MONGODB-2: nothing that a server sends makes the codec panic, however it is cut.
func FuzzFeed(f *testing.F) {
	for _, text := range []string{
		`{"ok": 1}`, `sum {"ok": 1}`, `code=1 {"ok": 1}`, `{"n": 1, "nModified": 1, "upserted": [{"index": 0}], "writeErrors": [{"code": 1}], "ok": 1}`,
		`{"cursor": {"firstBatch": [{"_id": 1}], "id": 77, "ns": "s.a"}, "ok": 1}`, `{"ok": 0, "code": 10107, "errmsg": "x", "codeName": "y"}`, `{"writeConcernError": {"code": 7}, "ok": 1}`,
	} {
		f.Add(answer(2, text), uint8(1), uint8(1))
	}
	f.Add(append(answer(1, primary), answer(2, `{"conversationId": 1, "payload": "r=x", "done": true, "ok": 1}`)...), uint8(8), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, verb, cut uint8) {
		play := func(most int) string {
			if verb&8 != 0 {
				return greets(b, most)
			}
			c, err := begun(mongodb.Config{AnswerMax: 1 << 16}, primary)
			if err != nil {
				t.Fatal(err)
			}
			h := &heard{conn: c}
			template := compiled(t, `{"a": 1, "$db": "s"}`)
			o := []*mongodb.Operation{mongodb.Run(template), mongodb.Write(template), mongodb.Find(template, mongodb.Cursor{}), mongodb.Find(template, mongodb.Cursor{Batch: 2, Batches: 1})}[verb%4]
			_ = c.Operate(o, mongodb.Order{Keeps: verb&4 != 0})
			c.Sent(c.Unsent())
			for rest := b; len(rest) > 0; {
				n := min(most, len(rest))
				err := c.Feed(rest[:n], h)
				h.writes()
				if err != nil {
					h.say("%v", err)
					break
				}
				rest = rest[n:]
			}
			h.say("%v", c.Over())
			return h.String()
		}
		if pieces, one := play(int(cut)+1), play(1); pieces != one {
			t.Errorf("in pieces:\n%s\none by one:\n%s", pieces, one)
		}
	})
}

// Whatever a TXT record says, a greeting begins with hello, or an error says what is wrong.
func FuzzTell(f *testing.F) {
	f.Add("authSource=admin&replicaSet=rs0", 3)
	f.Add("loadBalanced=true", 1)
	f.Add("a=%zz&&=", 0)
	f.Fuzz(func(t *testing.T, text string, servers int) {
		g := mongodb.New(mongodb.Config{}).Greet(mongodb.Random{})
		if err := g.Tell(text, servers); err != nil {
			if http1.KindOf(err) != http1.KindDNS || len(err.Error()) > 800 { // of 60 characters each may take ten
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if b := g.Begin(nil); bson.Check(b[21:]) != nil {
			t.Fatalf("%q: no BSON: %q", text, b)
		}
	})
}
