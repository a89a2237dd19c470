package http2

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

func started(t *testing.T, config Config, settings ...uint32) (*Conn, *records) {
	t.Helper()
	c, on := new(Conn), newRecords()
	c.Reset(config)
	if err := c.Feed(script{}.settings(settings...), on); err != nil {
		t.Fatal(err)
	}
	c.Sent(len(c.Output()))
	return c, on
}

func openAll(c *Conn, call *codec.Operation) (opened []uint32) {
	for c.CanOpen() {
		opened = append(opened, c.Open(call, uint64(c.streams.next), nil))
	}
	return opened
}

func TestPreface(t *testing.T) {
	var c Conn
	c.Reset(Config{StreamWindow: 1 << 20, Window: 1 << 20})
	want := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + string(script{}.settings(settingPush, 0, settingStreams, 0, settingWindow, 1<<20, settingHeadList, 65536).
		frame(typeWindow, 0, 0, words(1<<20-65535)))
	if got := string(c.Output()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// 51: the server's MAX_CONCURRENT_STREAMS, before it is known, lowered, 0 and raised.
func TestStreamsWaitForTheServer(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	var c Conn
	on := newRecords()
	c.Reset(Config{Streams: 10})
	feed := func(s script) {
		t.Helper()
		if err := c.Feed(s, on); err != nil {
			t.Fatal(err)
		}
	}
	want := func(why string, n int) {
		t.Helper()
		if got := len(openAll(&c, call)); got != n {
			t.Errorf("%s: got %d streams opened, want %d", why, got, n)
		}
	}
	want("before SETTINGS", 1)
	feed(script{}.settings(settingStreams, 3))
	want("the server takes 3", 2)
	feed(script{}.settings(settingStreams, 0))
	want("the server takes none", 0)
	feed(script{}.whole(1, 3, 5))
	want("still none", 0)
	feed(script{}.settings(settingStreams, 1<<32-1))
	want("only our own limit", 10)
	if o := on.of(5); !o.Done || c.Count() != 10 {
		t.Errorf("got %+v and %d streams, want the first three done", o, c.Count())
	}
}

func TestOutputIsBounded(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "POST", URL: "http://h/", Body: make([]byte, 1<<20)})
	c, on := started(t, Config{Output: 4096, Streams: 1000}, settingWindow, windowMost, settingFrame, 1<<24-1)
	if err := c.Feed(script{}.frame(typeWindow, 0, 0, words(windowMost-windowFirst)), on); err != nil {
		t.Fatal(err)
	}
	id := c.Open(call, 1, nil)
	total := 0
	for {
		b := c.Output()
		if len(b) > 4096 {
			t.Fatalf("got %d bytes queued, want at most 4,096", len(b))
		}
		if len(b) == 0 {
			break
		}
		n := min(len(b), 1000) // the socket takes only a part
		total += n
		c.Sent(n)
	}
	if total < 1<<20 || c.streams.find(id) == nil {
		t.Errorf("got %d bytes written, want the whole body", total)
	}
	openAll(c, mustCompile(t, http1.Request{Method: "GET", URL: "http://h/" + strings.Repeat("x", 1000)}))
	if n := len(c.Output()); n < 4096 || n > 4096+1200 {
		t.Errorf("got %d bytes of heads queued, want no more than one above 4,096", n)
	}
}

// 55: the client returns windows at their half, and a server can send within them without end.
func TestWindowsAreGivenBack(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	c, on := started(t, Config{Window: windowFirst, StreamWindow: windowFirst})
	id := c.Open(call, 1, nil)
	c.Sent(len(c.Output()))
	large := strings.Repeat("x", frameMost)
	next := script{}.head(id, 0, ":status", "200")
	for range 100 {
		next = next.data(id, 0, large).data(id, 0, large)
		if err := c.Feed(next, on); err != nil {
			t.Fatal(err)
		}
		if got := frames(t, c.Output()); got != "window 0 32768, window 1 32768" {
			t.Fatalf("got %q sent, want both windows given back", got)
		}
		c.Sent(len(c.Output()))
		next = nil
	}
	if got := on.of(1); got.Body != 200*frameMost || got.Failed != 0 {
		t.Errorf("got %+v, want %d bytes", got, 200*frameMost)
	}
}

func TestHandlerMayOpenAndCancel(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	c, on := started(t, Config{Streams: 2})
	first, second := c.Open(call, 1, nil), c.Open(call, 2, nil)
	on.onDone = func(tag uint64) {
		if tag == 1 {
			if !c.Cancel(second) || c.Cancel(second) {
				t.Error("the second stream cannot be cancelled just once")
			}
			openAll(c, call)
		}
	}
	if err := c.Feed(script{}.whole(first, second), on); err != nil {
		t.Fatal(err)
	}
	if on.by[2] != nil || c.Count() != 2 {
		t.Errorf("got %+v and %d streams, want silence of the cancelled one and two new", on.by[2], c.Count())
	}
}

// More resets than are remembered: late frames are forgiven all the same.
func TestManyResets(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	c, on := started(t, Config{Streams: 200})
	all := openAll(c, call)
	for _, id := range all {
		c.Cancel(id)
	}
	if err := c.Feed(script{}.whole(all...), on); err != nil || len(on.by) != 0 {
		t.Errorf("got %v and %d records, want neither", err, len(on.by))
	}
	next := c.Open(call, 1, nil)
	if err := c.Feed(script{}.whole(next).whole(next), on); http1.KindOf(err) != http1.KindProtocol {
		t.Errorf("got %v, want a frame after the end to be refused", err)
	}
	c.Reset(Config{})
	if c.err != nil || c.Count() != 0 || c.streams.next != 1 || c.streams.cancelled.forgiven != 0 {
		t.Error("Reset keeps something of the last connection")
	}
}

func TestClose(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	c, on := started(t, Config{})
	c.Open(call, 1, nil)
	c.Close(syscall.ECONNRESET, on)
	if got := on.of(1); got.Kind != http1.KindReset || got.Failed != 1 || c.Usable() {
		t.Errorf("got %+v, want a reset", got)
	}
	if err := c.Feed(script{}.settings(), on); !errors.Is(err, errClosed) {
		t.Errorf("got %v from a closed connection", err)
	}
}

func TestStreamNumbersEnd(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	c, _ := started(t, Config{})
	c.streams.next = streamLast
	if c.Open(call, 1, nil) != streamLast || c.Open(call, 1, nil) != 0 || c.Usable() {
		t.Error("a stream was opened beyond the last number")
	}
}

func TestCallsAsTheTwinReadsThem(t *testing.T) {
	body := []byte("body")
	call := mustCompile(t, http1.Request{Method: "post", URL: "https://h:8443/p?q=1", Params: []http1.Pair{{Name: "a", Value: "b c"}},
		Headers: []http1.Pair{{Name: "X-Up", Value: strings.Repeat("v", 40000)}, {Name: "Upgrade", Value: "x"}, {Name: "TE", Value: "trailers"}},
		Cookies: []http1.Pair{{Name: "c", Value: "d"}}, User: "u", Password: "p", Body: body})
	c, on := started(t, Config{}, settingTable, 4096)
	for i, update := range []bool{true, false, true} {
		if i == 2 {
			if err := c.Feed(script{}.settings(settingTable, 100, settingTable, 4096), on); err != nil {
				t.Fatal(err)
			}
			c.Sent(len(c.out.bytes))
		}
		id := c.Open(call, 1, nil)
		var fragments []byte
		for out := c.out.bytes; len(out) > 0; {
			f := parseFrame(out)
			if f.stream != id || f.length > frameMost || f.kind == typeHeaders != (len(fragments) == 0) {
				t.Fatalf("got frame %+v, want stream %d and legal lengths", f, id)
			}
			fragments = append(fragments, out[frameHead:frameHead+f.length]...)
			out = out[frameHead+f.length:]
		}
		if (fragments[0] == 0x20) != update {
			t.Errorf("request %d: got first byte %x, want a size update %t", i, fragments[0], update)
		}
		twin := hpack.NewDecoder(0, nil)
		fields, err := twin.DecodeFull(fragments)
		var got []string
		for _, f := range fields {
			got = append(got, f.Name+"="+f.Value[:min(20, len(f.Value))])
		}
		want := []string{":method=POST", ":scheme=https", ":authority=h:8443", ":path=/p?q=1&a=b+c", "x-up=vvvvvvvvvvvvvvvvvvvv", "te=trailers",
			"user-agent=hyperscale", "authorization=Basic dTpw", "cookie=c=d", "content-length=4"}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %q, want %q", err, got, want)
		}
		c.Sent(len(c.Output()))
	}
}

func TestRenderReusesMemory(t *testing.T) {
	from, err := http1.Request{Method: "POST", URL: "http://h/x", Body: []byte("b")}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var a, b codec.Operation
	Render(&a, &from)
	Render(&b, &from)
	before := bytes.Clone(b.Head)
	Render(&b, &from)
	if !bytes.Equal(a.Head, b.Head) || !bytes.Equal(before, b.Head) {
		t.Errorf("got %x, %x, want the same bytes each time", a.Head, b.Head)
	}
}

// The index of streams against a map.
func TestStreamsAreAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s := streams{next: 1}
		twin := map[uint32]uint64{}
		next := uint32(1)
		for range 300 {
			if len(twin) == 0 || random.IntN(5) < 3 {
				s.add(next).tag = uint64(next)
				twin[next] = uint64(next)
				next += 2
			} else {
				id := random.Uint32N(next)
				s.remove(id)
				delete(twin, id)
			}
			for id := range next + 2 {
				got := s.find(id)
				if want, ok := twin[id]; ok != (got != nil) || ok && got.tag != want {
					rt.Fatalf("stream %d: got %v, want %d %t", id, got, want, ok)
				}
			}
		}
		if s.count != len(twin) {
			rt.Fatalf("got %d streams, want %d", s.count, len(twin))
		}
	})
}

func TestSizes(t *testing.T) {
	if conn, stream := unsafe.Sizeof(Conn{}), unsafe.Sizeof(stream{}); conn > 1024 || stream > 128 {
		t.Errorf("a connection has %d bytes and a stream %d, want at most 1,024 and 128", conn, stream)
	}
}

// The handler gets Set-Cookie fields before each head, also from the table, and never those of
// trailers. All bodies share one bound.
func TestCommon(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "GET", URL: "http://h/"})
	common := http1.Common{BodyMax: 3}
	c, on := started(t, Config{Common: &common})
	openAll(c, call)
	cookies := &onHead{records: on, common: &common}
	in := script{}.frame(typeHeaders, flagEndHeaders, 1, "\x88\x77\x01a\x77\x01b").frame(typeHeaders, flagEndHeaders, 3, "\x88\xbe").
		frame(typeHeaders, flagEndHeaders, 5, "\x88\xbe").head(7, flagEndStream, ":status", "200").
		data(1, 0, "abc").head(1, flagEndStream, "set-cookie", "no").data(3, 0, "ab").data(3, flagEndStream, "cd")
	if err := c.Feed(in, cookies); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(cookies.all, " "), "1:a 1:b 3:b 5:b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if one, three := on.of(1), on.of(3); !one.Done || one.Body != 3 || three.Kind != http1.KindTooLarge || three.Body != 3 {
		t.Errorf("got %+v and %+v", one, three)
	}
}

type onHead struct {
	*records
	common *http1.Common
	all    []string
}

func (o *onHead) Head(tag uint64, status int) {
	for i := range o.common.Len() {
		o.all = append(o.all, fmt.Sprintf("%d:%s", tag, o.common.At(i)))
	}
	o.records.Head(tag, status)
}

// The bytes of a stream are those of its frames, without those that Body got.
func TestBytesOfAStream(t *testing.T) {
	call := mustCompile(t, http1.Request{Method: "POST", URL: "http://h/", Body: make([]byte, 1000)})
	c, on := started(t, Config{})
	var in, out uint64
	on.onDone = func(uint64) { in, out = c.Bytes() }
	id := c.Open(call, 1, nil)
	sent := len(c.Output())
	if !c.Sending(id) {
		t.Error("the request is not said to be under way")
	}
	c.Sent(sent)
	if c.Sending(id) {
		t.Error("the request is said to be under way")
	}
	for _, open := range c.AppendTags(nil) {
		stream, tag := open.ID, open.Tag
		if stream != id || tag != 1 {
			t.Errorf("got stream %d of tag %d", stream, tag)
		}
	}
	answer := script{}.head(id, 0, ":status", "200").data(id, flagPadded|flagEndStream, "\x03hello\x00\x00\x00")
	if err := c.Feed(answer, on); err != nil {
		t.Fatal(err)
	}
	if in != uint64(len(answer)-5) || out != uint64(sent) {
		t.Errorf("%d bytes in and %d out, want %d and %d", in, out, len(answer)-5, sent)
	}
}
