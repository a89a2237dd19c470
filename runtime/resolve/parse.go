package resolve

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// In handles a server's bytes. It ignores bytes that answer no open question: the true answer
// may still come.
func (l *Lookup) In(from netip.AddrPort, tcp bool, b []byte, now time.Duration) {
	if l.done {
		return
	}
	var p dnsmessage.Parser
	h, err := p.Start(b)
	if err != nil || !h.Response || h.OpCode != 0 {
		return
	}
	a := l.asked(from, h.ID, tcp)
	if a == nil || !l.isAbout(a, &p) {
		return
	}
	switch {
	case h.Truncated && !tcp:
		a.tcp, l.answer.TCP = true, true
		l.send(a, now)
		return
	case h.RCode == dnsmessage.RCodeNameError:
		a.over, l.negated = true, true
	case h.RCode == dnsmessage.RCodeFormatError && !a.plain:
		a.plain = true
		l.send(a, now)
		return
	case h.RCode != dnsmessage.RCodeSuccess:
		l.next(a, now, failed(l.name, "the server answers "+strings.TrimPrefix(h.RCode.String(), "RCode"), from))
		return
	default:
		if !l.take(a, &p) {
			l.next(a, now, failed(l.name, "the server's answer cannot be read", from))
			return
		}
		a.over = true
	}
	if !l.answer.Server.IsValid() || len(a.records)+len(a.services) > 0 {
		l.answer.Server = from
	}
	l.settle(now)
}

// asked finds the question that a message may answer.
func (l *Lookup) asked(from netip.AddrPort, id uint16, tcp bool) *ask {
	for i := range l.asks {
		if a := &l.asks[i]; !a.over && a.id == id && a.tcp == tcp && l.serverOf(a) == from {
			return a
		}
	}
	return nil
}

// isAbout says whether a message repeats the question, and only that.
func (l *Lookup) isAbout(a *ask, p *dnsmessage.Parser) bool {
	q, err := p.Question()
	if err != nil || q.Type != a.kind || q.Class != dnsmessage.ClassINET || !strings.EqualFold(q.Name.String(), l.candidates[l.at]+".") {
		return false
	}
	_, err = p.Question()
	return err == dnsmessage.ErrSectionDone
}

// take follows the chain of aliases from the question and keeps the addresses at its
// end. The records may stand in any order.
func (l *Lookup) take(a *ask, p *dnsmessage.Parser) bool {
	type pointer struct {
		to  string
		ttl time.Duration
	}
	aliases := map[string]pointer{}
	addresses := map[string][]Record{}
	services := map[string][]Service{}
	texts := map[string][]string{}
	for range recordsMax {
		h, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			break
		}
		if err != nil {
			return false
		}
		owner, ttl := canonical(h.Name.String()), ttlOf(h.TTL)
		switch {
		case h.Class != dnsmessage.ClassINET:
			err = p.SkipAnswer()
		case h.Type == dnsmessage.TypeCNAME:
			r, wrong := p.CNAMEResource()
			if err = wrong; err == nil && aliases[owner].to == "" {
				aliases[owner] = pointer{canonical(r.CNAME.String()), ttl}
			}
		case h.Type == a.kind && a.kind == dnsmessage.TypeA:
			r, wrong := p.AResource()
			if err = wrong; err == nil {
				addresses[owner] = append(addresses[owner], Record{netip.AddrFrom4(r.A), ttl})
			}
		case h.Type == a.kind && a.kind == dnsmessage.TypeSRV:
			r, wrong := p.SRVResource()
			if target := canonical(r.Target.String()); wrong == nil && target != "" && r.Port != 0 { // "." says that there is no such service
				services[owner] = append(services[owner], Service{target, r.Port, r.Priority, r.Weight, ttl})
			}
			err = wrong
		case h.Type == a.kind && a.kind == dnsmessage.TypeTXT:
			r, wrong := p.TXTResource()
			if err = wrong; err == nil {
				texts[owner] = append(texts[owner], strings.Join(r.TXT, ""))
			}
		case h.Type == a.kind:
			r, wrong := p.AAAAResource()
			if err = wrong; err == nil {
				addresses[owner] = append(addresses[owner], Record{netip.AddrFrom16(r.AAAA), ttl})
			}
		default:
			err = p.SkipAnswer()
		}
		if err != nil {
			return false
		}
	}
	name := canonical(l.candidates[l.at])
	var chain []Alias
	for len(addresses[name])+len(services[name])+len(texts[name]) == 0 && aliases[name].to != "" {
		next := aliases[name]
		if chain = append(chain, Alias{name, next.to, next.ttl}); len(chain) > ChainMax {
			return false // a circle, or as good as one
		}
		name = next.to
	}
	a.records = addresses[name][:min(len(addresses[name]), AddressesMax)]
	a.services, a.texts = services[name], texts[name]
	if len(a.records)+len(a.services)+len(a.texts) > 0 || l.answer.Canonical == "" {
		l.answer.Canonical, l.answer.Aliases = name, chain
	}
	return true
}

// ttlMax is a week: more is a mistake of the zone's author (RFC 8767, 4).
const ttlMax = 7 * 24 * time.Hour

// ttlOf reads a TTL; one with the highest bit set is zero (RFC 2181, 8).
func ttlOf(seconds uint32) time.Duration {
	if seconds > 1<<31-1 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, ttlMax)
}
