package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/runtime/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		every uint64
		name  string
	}{
		"1/1000": {1000, DefaultName}, "1/1=a=b.jsonl": {1, "a=b.jsonl"},
		"": {}, "2/3": {}, "1": {}, "1/": {}, "1/0": {}, "1/-1": {}, "1/x=f": {}, "1/9223372036854775808": {}, "1/10=": {}, "0.001": {},
	} {
		every, name, err := Parse(text)
		if want.every == 0 {
			if err == nil || !strings.Contains(err.Error(), "write 1/N") {
				t.Errorf("%q: %d, %q, %v", text, every, name, err)
			}
			continue
		}
		if err != nil || every != want.every || name != want.name {
			t.Errorf("%q: %d, %q, %v", text, every, name, err)
		}
	}
}

// TestChosenIsAShare: about one of Every, whatever the seed is, and not the same users or
// iterations all the time.
func TestChosenIsAShare(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Plan{Every: rapid.Uint64Range(1, 50).Draw(rt, "every"), Seed: rapid.Uint64().Draw(rt, "seed"), Workflow: rapid.String().Draw(rt, "workflow")}
		users, n := map[uint64]int{}, 0
		for user := range uint64(200) {
			for iteration := range uint64(200) {
				if p.Chosen(user, iteration+1) {
					users[user]++
					n++
				}
			}
		}
		want := 40_000 / int(p.Every)
		if n < want*8/10 || n > want*12/10 {
			rt.Fatalf("%d of 40,000 are chosen, want about %d", n, want)
		}
		for user, n := range users {
			if most := 200/int(p.Every)*4 + 15; n > most {
				rt.Fatalf("user %d has %d of its 200 iterations chosen", user, n)
			}
		}
	})
}

// slow is a sender that stands still until it is let go.
type slow struct {
	free chan struct{}
	mu   sync.Mutex
	got  []*message.ExecTrace
}

func (s *slow) SendTrace(m *message.ExecTrace) {
	<-s.free
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, m)
}

// TestNothingWaits: TRACE-2 and TRACE-3, with a worker that reads nothing, and more samples than a
// second may have.
func TestNothingWaits(t *testing.T) {
	for _, c := range []struct {
		name    string
		blocked bool
		samples uint64
		gap     time.Duration // between two samples
		least   uint64        // lines
		most    uint64
	}{
		{"a worker that reads nothing", true, 3000, time.Millisecond, Queue, 2 * Queue},
		{"too many for a second", false, 3000, 0, 1, LinesMax},
		{"few", false, Queue, 2 * time.Millisecond, Queue, Queue},
	} {
		s := &slow{free: make(chan struct{})}
		if !c.blocked {
			close(s.free)
		}
		r := NewRecorder(Plan{Every: 1, Workflow: "w"}, nil, s)
		r.Begin(3, 7)
		it := r.Of(3)
		if it == nil || it.User != 7 || it.Number != 1 || r.Of(2) != nil {
			t.Fatalf("%+v is sampled", it)
		}
		for i := range c.samples {
			r.Add(Sample{Place: it.Next(), Ended: int64(time.Duration(i) * c.gap)})
			if !c.blocked && i%100 == 0 {
				time.Sleep(time.Millisecond) // the writer has a core of its own at times
			}
		}
		if c.blocked {
			close(s.free)
		}
		r.End(3)
		if r.Of(3) != nil {
			t.Error("an iteration that has ended is sampled")
		}
		r.Close()
		lines := uint64(0)
		for _, m := range s.got {
			lines += uint64(bytes.Count(m.Lines, []byte{'\n'}))
		}
		last := s.got[len(s.got)-1]
		if !last.Last || last.Sampled != c.samples || lines+last.LeftOut != c.samples || lines < c.least || lines > c.most {
			t.Errorf("%s: %d lines, %+v", c.name, lines, last)
		}
	}
	var none *Recorder
	none.Begin(0, 0)
	none.End(0)
	none.Close()
	if none.Of(0) != nil {
		t.Error("a nil recorder samples")
	}
}

// TestFiles: only their owner reads them, and the last line adds up.
func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(name, []byte("older\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(name, 7)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // executors
		if f.Begin() != 7 {
			t.Error("an executor does not learn how rarely it samples")
		}
	}
	f.Take(&message.ExecTrace{Lines: []byte("1\n2\n")})
	f.size = FileMax - 1
	f.Take(&message.ExecTrace{Lines: []byte("3\n4\n5\n")})
	f.Take(&message.ExecTrace{Sampled: 9, LeftOut: 4, Last: true})
	s, err := f.Close()
	want := Summary{Summary: true, Every: 7, Sampled: 9, Written: 2, LeftOut: 7, Unfinished: 1}
	if err != nil || s != want || s.Written+s.LeftOut != s.Sampled {
		t.Errorf("got %+v, %v, want %+v", s, err, want)
	}
	text, err := os.ReadFile(name)
	if last := `{"summary":true,"every":7,"sampled":9,"written":2,"left_out":7,"unfinished":1}`; err != nil || string(text) != "1\n2\n"+last+"\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	var none *File
	if none.Take(nil); none.Begin() != 0 {
		t.Error("a file that is none samples")
	}
	full, err := Create("/dev/full", 1)
	if err != nil {
		t.Fatal(err) // every Linux has it
	}
	full.Begin()
	full.Take(&message.ExecTrace{Lines: []byte("1\n"), Sampled: 1, Last: true})
	if s, err := full.Close(); err == nil || s.Written != 0 || s.LeftOut != 1 {
		t.Errorf("a full disk: %+v, %v", s, err)
	}
}

// FuzzLine: TRACE-4, whatever peers and users write: one line of JSON, without secrets.
func FuzzLine(f *testing.F) {
	f.Add("http://ann:hunter2hunter2@h/?q=hunter2hunter2", "GET / HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n", "HTTP/1.1 200 OK\r\nX: hunter2hunter2\r\n")
	f.Add("\xff\n\u2028", strings.Repeat("a\r\n", 9000), "\x00")
	mask := redact.New([]string{"hunter2hunter2"})
	f.Fuzz(func(t *testing.T, url, head, answer string) {
		s := Sample{URL: url, Head: head, Answer: answer, Detail: answer}
		b := s.append(nil, "w", mask)
		if bytes.Count(b, []byte{'\n'}) != 1 || b[len(b)-1] != '\n' || !json.Valid(b) {
			t.Fatalf("no line of JSON: %q", b)
		}
		if bytes.Contains(b, []byte("hunter2hunter2")) {
			t.Fatalf("%q has the secret", b)
		}
		if most := 7*(2*headMax+2*textMax) + 4096; len(b) > most {
			t.Fatalf("a line of %d bytes, want at most %d", len(b), most)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	head := "GET /some/path?with=query HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: hyperscale\r\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz\r\nCookie: a=b; c=d\r\nAccept: */*\r\n"
	s := Sample{URL: "http://127.0.0.1:8080/some/path?with=query", Head: head, Answer: strings.Replace(head, "GET /some/path?with=query HTTP/1.1", "HTTP/1.1 200 OK", 1), Base: time.Now()}
	mask := redact.New([]string{"hunter2hunter2", "another secret"})
	b.ReportAllocs()
	for b.Loop() {
		s.append(nil, "w", mask)
	}
}

// BenchmarkBegin is what an iteration costs that is not sampled, with a question of its request.
func BenchmarkBegin(b *testing.B) {
	free := make(chan struct{})
	close(free)
	r := NewRecorder(Plan{Every: 1 << 60, Seed: 1, Workflow: "w"}, nil, &slow{free: free})
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Begin(7, 7)
		if r.Of(7) != nil {
			b.Fatal("sampled")
		}
		r.End(7)
	}
}
