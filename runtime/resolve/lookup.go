package resolve

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Query is a message to be sent. Over TCP two bytes with its length go before it.
type Query struct {
	Server netip.AddrPort
	TCP    bool
	Bytes  []byte
}

// Lookup resolves one name: both families at once, one candidate after the other, one server
// after the other. Instants are those of the caller.
type Lookup struct {
	config     *Config
	name       string
	candidates []string // absolute, without the dot at the end
	at         int      // index of the candidate in progress
	ids        func() uint16
	first      int             // index of the server to ask first
	kind       dnsmessage.Type // of records; 0: both families of addresses

	asks    [2]ask // A, AAAA
	out     []Query
	answer  Answer
	err     error // why the last candidate has no address
	done    bool
	negated bool // a server has said that there is no such name
}

// ask is one question for one family.
type ask struct {
	kind     dnsmessage.Type
	id       uint16
	server   int // how many were asked before
	deadline time.Duration
	tcp      bool // the datagram was cut
	plain    bool // without EDNS
	over     bool
	records  []Record
	services []Service
	texts    []string
}

// NewLookup begins at that time. Ids must be drawn at random.
func NewLookup(c *Config, name string, ids func() uint16, now time.Duration) *Lookup {
	return newLookup(&Lookup{config: c, name: name, ids: ids, answer: Answer{Name: name}}, now)
}

// NewServices begins a lookup of the targets of a service: SRV records.
func NewServices(c *Config, name string, ids func() uint16, now time.Duration) *Lookup {
	return newLookup(&Lookup{config: c, name: name, ids: ids, answer: Answer{Name: name}, kind: dnsmessage.TypeSRV}, now)
}

// NewTexts begins a lookup of the texts of a name: TXT records.
func NewTexts(c *Config, name string, ids func() uint16, now time.Duration) *Lookup {
	return newLookup(&Lookup{config: c, name: name, ids: ids, answer: Answer{Name: name}, kind: dnsmessage.TypeTXT}, now)
}

func newLookup(l *Lookup, now time.Duration) *Lookup {
	c, ids, name := l.config, l.ids, l.name
	if c.Rotate && len(c.Servers) > 0 {
		l.first = int(ids()) % len(c.Servers)
	}
	l.candidates = candidates(c, name)
	if len(l.candidates) == 0 || len(c.Servers) == 0 {
		l.end(notFound(name))
		return l
	}
	l.begin(now)
	return l
}

// candidates are the names that a name may stand for (resolv.conf(5), search and ndots).
func candidates(c *Config, name string) (all []string) {
	plain := strings.TrimSuffix(name, ".")
	if !isName(plain) {
		return nil
	}
	if plain != name {
		return []string{plain}
	}
	asIs := strings.Count(plain, ".") >= c.Dots
	if asIs {
		all = append(all, plain)
	}
	for _, domain := range c.Search {
		if longer := plain + "." + domain; isName(longer) {
			all = append(all, longer)
		}
	}
	if !asIs {
		all = append(all, plain)
	}
	return all
}

// begin asks for both families of the present candidate.
func (l *Lookup) begin(now time.Duration) {
	l.asks = [2]ask{{kind: dnsmessage.TypeA}, {kind: dnsmessage.TypeAAAA}}
	if l.kind != 0 {
		l.asks = [2]ask{{kind: l.kind}, {over: true}}
	}
	l.answer.Aliases, l.answer.Canonical, l.negated, l.err = nil, "", false, nil
	for i := range l.asks {
		if !l.asks[i].over {
			l.send(&l.asks[i], now)
		}
	}
}

func (l *Lookup) serverOf(a *ask) netip.AddrPort {
	return l.config.Servers[(l.first+a.server)%len(l.config.Servers)]
}

func (l *Lookup) send(a *ask, now time.Duration) {
	a.id = l.ids()
	for other := range l.asks { // to distinguish two open requests
		if o := &l.asks[other]; o != a && o.id == a.id {
			a.id++
		}
	}
	b, err := build(a, l.candidates[l.at])
	if err != nil {
		l.next(a, now, err)
		return
	}
	a.deadline = now + l.config.Timeout
	l.answer.Queries++
	l.out = append(l.out, Query{Server: l.serverOf(a), TCP: a.tcp, Bytes: b})
}

func build(a *ask, name string) ([]byte, error) {
	n, err := dnsmessage.NewName(name + ".")
	if err != nil {
		return nil, err
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, 512), dnsmessage.Header{ID: a.id, RecursionDesired: true})
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if err := b.Question(dnsmessage.Question{Name: n, Type: a.kind, Class: dnsmessage.ClassINET}); err != nil {
		return nil, err
	}
	if !a.plain {
		if err := b.StartAdditionals(); err != nil {
			return nil, err
		}
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(datagramMax, dnsmessage.RCodeSuccess, false); err != nil {
			return nil, err
		}
		if err := b.OPTResource(h, dnsmessage.OPTResource{}); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// datagramMax is what fits any path without being cut (RFC 9715).
const datagramMax = 1232

// Out takes the next message to be sent.
func (l *Lookup) Out() (Query, bool) {
	if l.done || len(l.out) == 0 {
		return Query{}, false
	}
	q := l.out[0]
	l.out = l.out[1:]
	return q, true
}

// Deadline is when Expire wants to be called; false: it waits for nothing.
func (l *Lookup) Deadline() (time.Duration, bool) {
	least, waits := time.Duration(0), false
	for i := range l.asks {
		if a := &l.asks[i]; !l.done && !a.over && (!waits || a.deadline < least) {
			least, waits = a.deadline, true
		}
	}
	return least, waits
}

// Expire gives up queries that have waited long enough.
func (l *Lookup) Expire(now time.Duration) {
	for i := range l.asks {
		if a := &l.asks[i]; !l.done && !a.over && a.deadline <= now {
			l.next(a, now, late(l.name, l.serverOf(a)))
		}
	}
}

// Failed reports that a query could not be sent, or that its server broke the connection.
func (l *Lookup) Failed(q Query, now time.Duration, why error) {
	for i := range l.asks {
		if a := &l.asks[i]; !l.done && !a.over && l.serverOf(a) == q.Server && len(q.Bytes) > 1 && uint16(q.Bytes[0])<<8|uint16(q.Bytes[1]) == a.id {
			l.next(a, now, failed(l.name, why.Error(), q.Server))
		}
	}
}

// next asks the next server, until all were asked as often as configured.
func (l *Lookup) next(a *ask, now time.Duration, why error) {
	a.server++
	a.tcp = false
	if a.server < l.config.Attempts*len(l.config.Servers) {
		l.send(a, now)
		return
	}
	a.over = true
	if l.err == nil {
		l.err = why
	}
	l.settle(now)
}

// settle looks whether both families have ended.
func (l *Lookup) settle(now time.Duration) {
	if l.done || !l.asks[0].over || !l.asks[1].over {
		return
	}
	v4, v6 := l.asks[0].records, l.asks[1].records
	for len(v4)+len(v6) > 0 && len(l.answer.Records) < AddressesMax {
		if len(v6) > 0 {
			l.answer.Records, v6 = append(l.answer.Records, v6[0]), v6[1:]
		}
		if len(v4) > 0 {
			l.answer.Records, v4 = append(l.answer.Records, v4[0]), v4[1:]
		}
	}
	l.answer.Services, l.answer.Texts = order(l.asks[0].services), l.asks[0].texts
	switch {
	case len(l.answer.Records)+len(l.answer.Services)+len(l.answer.Texts) > 0:
		l.end(nil)
	case l.at+1 < len(l.candidates) && (l.negated || l.err == nil):
		l.at++
		l.begin(now)
	case l.err != nil && !l.negated:
		l.end(l.err)
	default:
		l.end(notFound(l.name))
	}
}

func (l *Lookup) end(err error) { l.done, l.err, l.out = true, err, nil }

// Done returns the outcome once there is one.
func (l *Lookup) Done() (Answer, error, bool) {
	if !l.done {
		return Answer{}, nil, false
	}
	return l.answer, l.err, true
}
