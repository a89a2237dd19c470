package resolve

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// target is an SRV record, to be added to a reply.
func target(name, host string, port, priority, weight uint16, ttl uint32) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.ClassINET, TTL: ttl},
			Body:   &dnsmessage.SRVResource{Target: dnsmessage.MustNewName(host), Port: port, Priority: priority, Weight: weight},
		})
	}
}

// all applies changes of a reply in turn.
func all(changes ...func(*dnsmessage.Message)) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) {
		for _, c := range changes {
			c(m)
		}
	}
}

// A server's answer to a question for a service, and its outcome.
func TestServices(t *testing.T) {
	const name = "_m._tcp.example."
	var many []func(*dnsmessage.Message)
	for i := range 100 {
		many = append(many, target(name, fmt.Sprintf("h%03d.example.", i), 7500, 1, 1, 60))
	}
	for _, test := range []struct {
		why     string
		change  func(*dnsmessage.Message)
		records []string
		want    string
		ttl     time.Duration
	}{
		{"targets by priority, then weight", all(target(name, "c.example.", 7502, 2, 9, 60), target(name, "a.example.", 7500, 1, 1, 30), target(name, "b.example.", 7501, 1, 5, 60)), nil, "b.example:7501 a.example:7500 c.example:7502", 30 * time.Second},
		{"an alias of the service", target("_m._tcp.other.", "a.example.", 7500, 1, 1, 60), []string{name + " CNAME _m._tcp.other. 5"}, "a.example:7500", 5 * time.Second},
		{"the service of another owner", target("_m._tcp.evil.", "a.example.", 7500, 1, 1, 60), nil, "error: no such name, or it has no address", 0},
		{"no such service here", target(name, ".", 0, 0, 0, 60), nil, "error: no such name, or it has no address", 0},
		{"no records", nil, nil, "error: no such name, or it has no address", 0},
		{"no such name", code(dnsmessage.RCodeNameError), nil, "error: no such name, or it has no address", 0},
		{"a failure", code(dnsmessage.RCodeServerFailure), nil, "error: the server answers ServerFailure", 0},
		{"an address instead", nil, []string{name + " A 192.0.2.7 60"}, "error: no such name, or it has no address", 0},
		{"too many targets", all(many...), nil, "64 targets", time.Minute},
	} {
		l := NewServices(config(one), strings.TrimSuffix(name, "."), counting(), 0)
		for range 20 {
			q, ok := l.Out()
			if !ok {
				break
			}
			l.In(one, false, reply(t, q.Bytes, test.change, test.records...), 0)
		}
		a, err, done := l.Done()
		got := shown(a, err)
		if len(a.Services) > 10 {
			got = fmt.Sprintf("%d targets", len(a.Services))
		} else if err == nil {
			var parts []string
			for _, s := range a.Services {
				parts = append(parts, fmt.Sprintf("%s:%d", s.Target, s.Port))
			}
			got = strings.Join(parts, " ")
		}
		if !done || got != test.want || err == nil && a.TTL() != test.ttl {
			t.Errorf("%s: got %s for %v (done %v), want %s for %v", test.why, got, a.TTL(), done, test.want, test.ttl)
		}
	}
}

// A server that is silent is left for the next one, as for addresses.
func TestServicesAskTheNextServer(t *testing.T) {
	l := NewServices(config(one, two), "_m._tcp.example", counting(), 0)
	first, _ := l.Out()
	if _, more := l.Out(); more {
		t.Fatal("a service has no second family to ask for")
	}
	l.Expire(time.Second)
	second, ok := l.Out()
	if !ok || first.Server != one || second.Server != two {
		t.Fatalf("asks %v, then %v", first.Server, second.Server)
	}
	l.In(two, false, reply(t, second.Bytes, target("_m._tcp.example.", "a.example.", 7500, 1, 1, 60)), time.Second)
	if a, err, done := l.Done(); !done || err != nil || len(a.Services) != 1 || a.Server != netip.AddrPort(two) {
		t.Errorf("got %+v, %v, done %v", a, err, done)
	}
}

// text is a TXT record of some parts, to be added to a reply.
func text(name string, ttl uint32, parts ...string) func(*dnsmessage.Message) {
	return func(m *dnsmessage.Message) {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.ClassINET, TTL: ttl},
			Body:   &dnsmessage.TXTResource{TXT: parts},
		})
	}
}

// A server's answer to a question for texts, and its outcome.
func TestTexts(t *testing.T) {
	const name = "cluster.example."
	for _, test := range []struct {
		why     string
		change  func(*dnsmessage.Message)
		records []string
		want    string
	}{
		{"one record of two parts", text(name, 60, "authSource=", "admin"), nil, `["authSource=admin"]`},
		{"two records", all(text(name, 60, "a"), text(name, 60, "b")), nil, `["a" "b"]`},
		{"an alias", text("other.example.", 60, "a"), []string{name + " CNAME other.example. 5"}, `["a"]`},
		{"the text of another owner", text("evil.example.", 60, "a"), nil, "error: no such name, or it has no address"},
		{"no records", nil, nil, "error: no such name, or it has no address"},
		{"no such name", code(dnsmessage.RCodeNameError), nil, "error: no such name, or it has no address"},
		{"a failure", code(dnsmessage.RCodeServerFailure), nil, "error: the server answers ServerFailure"},
		{"an address instead", nil, []string{name + " A 192.0.2.7 60"}, "error: no such name, or it has no address"},
	} {
		l := NewTexts(config(one), name, counting(), 0)
		for range 20 {
			q, ok := l.Out()
			if !ok {
				break
			}
			l.In(one, false, reply(t, q.Bytes, test.change, test.records...), 0)
		}
		a, err, done := l.Done()
		got := shown(a, err)
		if err == nil {
			got = fmt.Sprintf("%q", a.Texts)
		}
		if !done || got != test.want {
			t.Errorf("%s: got %s (done %v), want %s", test.why, got, done, test.want)
		}
	}
}
