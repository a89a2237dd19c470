package resolve

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var (
	one = netip.MustParseAddrPort("192.0.2.1:53")
	two = netip.MustParseAddrPort("192.0.2.2:53")
)

func config(servers ...netip.AddrPort) *Config {
	return &Config{Servers: servers, Dots: 1, Timeout: time.Second, Attempts: 2}
}

func counting() func() uint16 {
	n := uint16(100)
	return func() uint16 { n++; return n }
}

// reply answers a query. Records have the form "name type value ttl"; change alters the
// message.
func reply(t testing.TB, query []byte, change func(*dnsmessage.Message), records ...string) []byte {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		t.Fatal(err)
	}
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	for _, r := range records {
		var name, kind, value string
		var ttl uint32
		if _, err := fmt.Sscan(r, &name, &kind, &value, &ttl); err != nil {
			t.Fatal(r, err)
		}
		h := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.ClassINET, TTL: ttl}
		var body dnsmessage.ResourceBody
		switch kind {
		case "A":
			body = &dnsmessage.AResource{A: netip.MustParseAddr(value).As4()}
		case "AAAA":
			body = &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(value).As16()}
		case "CNAME":
			body = &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(value)}
		}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: body})
	}
	if change != nil {
		change(&m)
	}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shown is an answer in one line.
func shown(a Answer, err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "error: " + dns.Err
	}
	var parts []string
	for _, r := range a.Records {
		parts = append(parts, fmt.Sprintf("%s/%v", r.Addr, r.TTL))
	}
	for _, c := range a.Aliases {
		parts = append(parts, "via "+c.To)
	}
	return strings.Join(parts, " ")
}

func code(c dnsmessage.RCode) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) { m.Header.RCode = c }
}

// A server's answers to A and AAAA, and their outcome.
func TestAnswers(t *testing.T) {
	circle := []string{"w.example. CNAME a.example. 5", "a.example. CNAME w.example. 5"}
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf("c%d.example. CNAME c%d.example. 5", i, i+1))
	}
	tests := []struct {
		why    string
		v4, v6 []string
		change func(*dnsmessage.Message)
		want   string
	}{
		{"both families, in turn", []string{"w.example. A 192.0.2.7 60", "w.example. A 192.0.2.8 30"}, []string{"w.example. AAAA 2001:db8::1 20"}, nil, "2001:db8::1/20s 192.0.2.7/1m0s 192.0.2.8/30s"},
		{"one family", []string{"W.Example. A 192.0.2.7 60"}, nil, nil, "192.0.2.7/1m0s"},
		{"an alias", []string{"w.example. CNAME x.example. 5", "x.example. A 192.0.2.7 60"}, nil, nil, "192.0.2.7/1m0s via x.example"},
		{"an alias behind its address", []string{"x.example. A 192.0.2.7 60", "w.example. CNAME x.example. 5"}, nil, nil, "192.0.2.7/1m0s via x.example"},
		{"an address of somebody else", []string{"evil.example. A 192.0.2.66 60"}, nil, nil, "error: no such name, or it has no address"},
		{"an address beside the chain", []string{"w.example. CNAME x.example. 5", "x.example. A 192.0.2.7 60", "y.example. A 192.0.2.66 60"}, nil, nil, "192.0.2.7/1m0s via x.example"},
		{"a circle", circle, circle, nil, "error: the server's answer cannot be read"},
		{"a chain without end", append([]string{"w.example. CNAME c0.example. 5", "c40.example. A 192.0.2.7 60"}, long...), nil, nil, "error: the server's answer cannot be read"},
		{"an address of the other family", []string{"w.example. AAAA 2001:db8::1 20"}, []string{"w.example. A 192.0.2.7 60"}, nil, "error: no such name, or it has no address"},
		{"no such name", nil, nil, code(dnsmessage.RCodeNameError), "error: no such name, or it has no address"},
		{"a refusal", nil, nil, code(dnsmessage.RCodeRefused), "error: the server answers Refused"},
		{"a failure", nil, nil, code(dnsmessage.RCodeServerFailure), "error: the server answers ServerFailure"},
		{"a TTL of 2^31", []string{"w.example. A 192.0.2.7 2147483648"}, nil, nil, "192.0.2.7/0s"},
		{"a TTL of years", []string{"w.example. A 192.0.2.7 2147483647"}, nil, nil, "192.0.2.7/168h0m0s"},
	}
	for _, test := range tests {
		l := NewLookup(config(one), "w.example", counting(), 0)
		for range 20 {
			q, ok := l.Out()
			if !ok {
				break
			}
			records := test.v4
			if asksAAAA(q.Bytes) {
				records = test.v6
			}
			l.In(one, false, reply(t, q.Bytes, test.change, records...), 0)
		}
		a, err, done := l.Done()
		if got := shown(a, err); !done || got != test.want {
			t.Errorf("%s: got %s (done %v), want %s", test.why, got, done, test.want)
		}
	}
}

func asksAAAA(query []byte) bool {
	var m dnsmessage.Message
	_ = m.Unpack(query)
	return len(m.Questions) == 1 && m.Questions[0].Type == dnsmessage.TypeAAAA
}

// The resolver ignores an answer without a request, and the true answer counts when it arrives.
func TestForgedAnswersAreIgnored(t *testing.T) {
	forged := "w.example. A 192.0.2.66 60"
	tests := []struct {
		why    string
		from   netip.AddrPort
		tcp    bool
		change func(*dnsmessage.Message)
	}{
		{"another server", two, false, nil},
		{"another port of it", netip.MustParseAddrPort("192.0.2.1:54"), false, nil},
		{"another id", one, false, func(m *dnsmessage.Message) { m.Header.ID ^= 0x1000 }},
		{"no response", one, false, func(m *dnsmessage.Message) { m.Header.Response = false }},
		{"another question", one, false, func(m *dnsmessage.Message) { m.Questions[0].Name = dnsmessage.MustNewName("v.example.") }},
		{"another type", one, false, func(m *dnsmessage.Message) { m.Questions[0].Type = dnsmessage.TypeTXT }},
		{"two questions", one, false, func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }},
		{"no question", one, false, func(m *dnsmessage.Message) { m.Questions = nil }},
		{"over TCP, unasked", one, true, nil},
	}
	for _, test := range tests {
		l := NewLookup(config(one), "w.example", counting(), 0)
		v4, _ := l.Out()
		v6, _ := l.Out()
		l.In(test.from, test.tcp, reply(t, v4.Bytes, test.change, forged), 0)
		l.In(one, false, []byte{1, 2, 3}, 0)
		l.In(one, false, reply(t, v4.Bytes, nil, "w.example. A 192.0.2.7 60"), 0)
		l.In(one, false, reply(t, v4.Bytes, nil, forged), 0)
		l.In(one, false, reply(t, v6.Bytes, nil), 0)
		a, err, done := l.Done()
		if got := shown(a, err); !done || got != "192.0.2.7/1m0s" {
			t.Errorf("%s: got %s", test.why, got)
		}
	}
}

// Lookup repeats the question over TCP after a truncated datagram, and without EDNS after a
// server that does not know it.
func TestAsksAgain(t *testing.T) {
	l := NewLookup(config(one), "w.example", counting(), 0)
	v4, _ := l.Out()
	v6, _ := l.Out()
	l.In(one, false, reply(t, v6.Bytes, nil), 0)
	l.In(one, false, reply(t, v4.Bytes, code(dnsmessage.RCodeFormatError)), 0)
	plain, ok := l.Out()
	if !ok || plain.TCP || len(plain.Bytes) >= len(v4.Bytes) {
		t.Fatalf("without EDNS: %+v", plain)
	}
	l.In(one, false, reply(t, plain.Bytes, func(m *dnsmessage.Message) { m.Header.Truncated = true }), 0)
	stream, ok := l.Out()
	if !ok || !stream.TCP {
		t.Fatalf("cut: %+v", stream)
	}
	l.In(one, false, reply(t, stream.Bytes, nil, "w.example. A 192.0.2.66 60"), 0)
	if _, _, done := l.Done(); done {
		t.Fatal("a datagram answered what was asked over TCP")
	}
	l.In(one, true, reply(t, stream.Bytes, nil, "w.example. A 192.0.2.7 60"), 0)
	a, err, _ := l.Done()
	if got := shown(a, err); got != "192.0.2.7/1m0s" || !a.TCP || a.Queries != 4 {
		t.Errorf("got %s, %+v", got, a)
	}
}

// If a server does not answer, Lookup asks the next; after all rounds it times out.
func TestServersInTurn(t *testing.T) {
	l := NewLookup(config(one, two), "w.example", counting(), 0)
	var asked []string
	now := time.Duration(0)
	for {
		for q, ok := l.Out(); ok; q, ok = l.Out() {
			if !asksAAAA(q.Bytes) {
				asked = append(asked, q.Server.Addr().String())
			}
		}
		at, waits := l.Deadline()
		if !waits {
			break
		}
		now = at
		l.Expire(now)
	}
	_, err, done := l.Done()
	var dns *net.DNSError
	if !done || !errors.As(err, &dns) || !dns.IsTimeout || now != 4*time.Second {
		t.Errorf("after %v: %v", now, err)
	}
	if got := strings.Join(asked, " "); got != "192.0.2.1 192.0.2.2 192.0.2.1 192.0.2.2" {
		t.Errorf("asked %s", got)
	}
}

// Names of the search list are tried in their order; a server that fails says nothing of
// the next name.
func TestSearch(t *testing.T) {
	c := ParseConfig([]byte("# comment\nnameserver 192.0.2.1\nnameserver nonsense\nsearch a.test. b.test\noptions ndots:2 timeout:1 attempts:1 rotate\n"))
	c.Rotate = false
	for _, test := range []struct{ name, want string }{
		{"w", "w.a.test w.b.test w"},
		{"w.x", "w.x.a.test w.x.b.test w.x"},
		{"w.x.y", "w.x.y w.x.y.a.test w.x.y.b.test"},
		{"w.", "w"},
		{"-.." + strings.Repeat("x", 300), ""},
	} {
		var asked []string
		l := NewLookup(&c, test.name, counting(), 0)
		for q, ok := l.Out(); ok; q, ok = l.Out() {
			var m dnsmessage.Message
			if err := m.Unpack(q.Bytes); err != nil {
				t.Fatal(err)
			}
			if !asksAAAA(q.Bytes) {
				asked = append(asked, strings.TrimSuffix(m.Questions[0].Name.String(), "."))
			}
			l.In(one, false, reply(t, q.Bytes, code(dnsmessage.RCodeNameError)), 0)
		}
		if got := strings.Join(asked, " "); got != test.want {
			t.Errorf("%q: asked %q, want %q", test.name, got, test.want)
		}
	}
	l := NewLookup(&c, "w", counting(), 0)
	for q, ok := l.Out(); ok; q, ok = l.Out() {
		l.In(one, false, reply(t, q.Bytes, code(dnsmessage.RCodeServerFailure)), 0)
	}
	if a, err, _ := l.Done(); a.Queries != 2 || err == nil {
		t.Errorf("%d queries, %v", a.Queries, err)
	}
}

func TestHosts(t *testing.T) {
	h := ParseHosts([]byte("127.0.0.1 a B.example # c\nnonsense d\n::1 a\n::ffff:192.0.2.1 e\n"))
	for _, test := range []struct{ name, want string }{
		{"A.", "127.0.0.1/0s ::1/0s"}, {"b.EXAMPLE", "127.0.0.1/0s"}, {"c", ""}, {"d", ""}, {"e", "192.0.2.1/0s"},
		{"localhost", "127.0.0.1/0s ::1/0s"}, {"x.localhost", "127.0.0.1/0s ::1/0s"}, {"192.0.2.9", "192.0.2.9/0s"}, {"2001:db8::1", "2001:db8::1/0s"},
	} {
		if a, _ := h.find(test.name); shown(a, nil) != test.want || a.TTL() != 0 && test.want != "" {
			t.Errorf("%s: got %s, want %s", test.name, shown(a, nil), test.want)
		}
	}
}

func FuzzIn(f *testing.F) {
	l := NewLookup(config(one), "w.example", counting(), 0)
	q, _ := l.Out()
	f.Add(reply(f, q.Bytes, nil, "w.example. CNAME x.example. 5", "x.example. A 192.0.2.7 60"), false)
	f.Add(reply(f, q.Bytes, func(m *dnsmessage.Message) { m.Header.Truncated = true }), true)
	texts := NewTexts(config(one), "w.example", counting(), 0)
	q, _ = texts.Out()
	f.Add(reply(f, q.Bytes, text("w.example.", 60, "a=", "b")), false)
	f.Fuzz(func(t *testing.T, b []byte, tcp bool) {
		of := NewTexts(config(one), "w.example", counting(), 0)
		of.Out()
		of.In(one, tcp, b, 0)
		if a, _, _ := of.Done(); len(a.Texts) > recordsMax {
			t.Fatalf("%d texts", len(a.Texts))
		}
		l := NewLookup(config(one), "w.example", counting(), 0)
		l.Out()
		l.Out()
		for range 4 {
			l.In(one, tcp, b, 0)
			if len(b) > 2 {
				b[1]++
			}
		}
		sent := 2
		for _, ok := l.Out(); ok; _, ok = l.Out() {
			sent++
		}
		if a, _, _ := l.Done(); len(a.Records) > AddressesMax || len(a.Aliases) > ChainMax || sent > 16 {
			t.Fatalf("%d addresses, %d aliases, %d queries", len(a.Records), len(a.Aliases), sent)
		}
	})
}
