package hostile

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hyperscale/runtime/protocol/http1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCatalogue(t *testing.T) {
	names, kinds := map[string]bool{}, map[http1.Kind]int{}
	all := All()
	for _, e := range all {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
		kinds[e.Want.Kind]++
		if e.Server.Accept != nil && e.Server.Secure != nil {
			t.Errorf("%q: a server that accepts in its own way never gets to its certificate", e.Name)
		}
		if e.Want.Whole() != (e.Want.Status != 0) {
			t.Errorf("%q: a whole answer and a status go together: %+v", e.Name, e.Want)
		}
	}
	if len(all) < 200 {
		t.Errorf("%d entries, want at least 200", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindRefused, http1.KindConnectTimeout, http1.KindTLS, http1.KindTLSAlert, http1.KindTLSAuthority,
		http1.KindTLSName, http1.KindTLSExpired, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol,
		http1.KindTooLarge, http1.KindTimeout, http1.KindWriteTimeout, http1.KindStatus, http1.KindRedirect,
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

func TestCatalogueOfHTTP2(t *testing.T) {
	names, kinds := map[string]bool{}, map[http1.Kind]int{}
	all := HTTP2()
	for _, e := range all {
		if names[e.Name] {
			t.Errorf("%q is there twice", e.Name)
		}
		names[e.Name] = true
		for _, w := range e.Want {
			kinds[w.Kind]++
			if w.Whole() != (w.Status != 0) {
				t.Errorf("%q: a whole answer and a status go together: %+v", e.Name, w)
			}
		}
		if len(e.Want) < 1 || len(e.Want) > 3 || e.Reused && e.round() < len(e.Want) {
			t.Errorf("%q has %d requests, of which %d are seen", e.Name, len(e.Want), e.round())
		}
	}
	if len(all) < 150 {
		t.Errorf("%d entries, want at least 150", len(all))
	}
	for _, kind := range []http1.Kind{
		http1.KindNone, http1.KindTLS, http1.KindTLSAlert, http1.KindClosed, http1.KindReset, http1.KindTruncated, http1.KindProtocol, http1.KindTooLarge,
		http1.KindRefusedStream, http1.KindGoaway, http1.KindStreamReset, http1.KindFlowControl, http1.KindCompression, http1.KindFlood,
		http1.KindTimeout, http1.KindWriteTimeout, http1.KindStatus,
	} {
		if kinds[kind] == 0 {
			t.Errorf("no entry ends in %q", kind)
		}
	}
}

// A server is hostile once; Close ends it though the client stays.
func TestServer(t *testing.T) {
	e := answers("", "HTTP/1.1 99", stay, fails(http1.KindProtocol))
	s, err := Start(&e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", s.Addresses()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, want := range []string{"HTTP/1.1 99", next} {
		if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	select {
	case <-s.Proved():
		t.Error("a second request is no proof of the second answer")
	default:
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Proved():
	case <-time.After(10 * time.Second):
		t.Error("a third request is no proof")
	}
	s.Close()
	if requests, hops, reused := s.Counts(); requests != 3 || hops != 0 || !reused {
		t.Errorf("got %d requests, %d hops, reused %v, want 3, 0, true", requests, hops, reused)
	}
}

// outcome is all that bytes may decide, whichever way they were cut.
type outcome struct {
	Kind     http1.Kind
	Status   int
	Bytes    int64
	Reusable bool
	Body     string
}

func parse(stream []byte, method string, limit int64, cut int) outcome {
	var p http1.Parser
	c := http1.Collector{Limit: limit}
	p.Reset(method)
	if limit > 0 {
		p.Collect(&c)
	}
	done, err := false, error(nil)
	for len(stream) > 0 && err == nil {
		piece := bytes.Clone(stream[:min(cut, len(stream))])
		stream = stream[len(piece):]
		_, done, err = p.Feed(piece)
		clear(piece) // it is gone once it was fed
	}
	if err == nil && !done {
		_, err = p.FinishEOF()
	}
	return outcome{http1.KindOf(err), p.Status(), p.BytesBody(), p.Reusable(), string(c.Body)}
}

// spoiling is a change of an answer of the catalogue.
type spoiling struct {
	answer, other uint16 // the latter's rest follows
	at, drop      uint16
	insert        []byte
}

func (s spoiling) apply(answers []string) []byte {
	text, other := answers[int(s.answer)%len(answers)], answers[int(s.other)%len(answers)]
	at := int(s.at) % (len(text) + 1)
	stream := append([]byte(text[:at]), s.insert...)
	if s.drop == 0 {
		return append(stream, text[at:]...)
	}
	return append(stream, other[min(len(other), at+int(s.drop)):]...)
}

// FuzzSpoiledAnswers spoils answers and asserts that no cutting changes the outcome, that no
// answer is both broken and reusable, and that a limit holds.
func FuzzSpoiledAnswers(f *testing.F) {
	const limit = 64
	var all []string
	for _, e := range All() {
		if text := e.Server.Answer; text != "" && len(text) <= 1<<16 {
			all = append(all, text)
		}
	}
	for i := range all {
		f.Add(uint16(i), uint16(0), uint16(0), uint16(0), []byte(nil), uint8(1), false)
		f.Add(uint16(i), uint16(7*i), uint16(3*i), uint16(i%5), []byte("\r\n"), uint8(3), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, answer, other, at, drop uint16, insert []byte, cut uint8, head bool) {
		stream := spoiling{answer, other, at, drop, insert}.apply(all)
		method := "GET"
		if head {
			method = "HEAD"
		}
		for _, limit := range []int64{0, limit} {
			whole := parse(stream, method, limit, max(1, len(stream)))
			pieces := parse(stream, method, limit, int(max(1, cut)))
			if diff := cmp.Diff(whole, pieces); diff != "" {
				t.Fatalf("%q in pieces of %d (-whole +cut):\n%s", stream, cut, diff)
			}
			if whole.Kind != http1.KindNone && whole.Reusable {
				t.Fatalf("%q: %+v", stream, whole)
			}
			if limit > 0 && (whole.Bytes > limit || int64(len(whole.Body)) != whole.Bytes) {
				t.Fatalf("%q: %+v beyond a limit of %d", stream, whole, limit)
			}
		}
	})
}
