package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// sources are the source addresses of connections, in turn.
type sources struct {
	v4, v6 family
}

type family struct {
	ranges []netip.Prefix
	size   uint64 // of all ranges
	next   uint64
}

// rangeMax bounds the used addresses of a range.
const rangeMax = 1 << 16

// newSources lets processes begin at different addresses.
func newSources(ranges []netip.Prefix, first uint64) *sources {
	if len(ranges) == 0 {
		return nil
	}
	s := &sources{}
	for _, p := range ranges {
		f := &s.v6
		if p.Addr().Is4() {
			f = &s.v4
		}
		f.ranges = append(f.ranges, p)
		f.size += usable(p)
		f.next = first
	}
	return s
}

// usable returns how many addresses of a range are used. The address of the range itself, and
// IPv4's broadcast, belong to no machine.
func usable(p netip.Prefix) uint64 {
	host := p.Addr().BitLen() - p.Bits()
	n := uint64(1) << min(host, 32)
	if host > 1 {
		n--
		if p.Addr().Is4() {
			n--
		}
	}
	return min(n, rangeMax)
}

// take returns the next source that can reach an address; the zero address leaves the choice to
// the machine.
func (s *sources) take(to netip.Addr) (netip.Addr, error) {
	if s == nil {
		return netip.Addr{}, nil
	}
	f := &s.v6
	if to.Is4() {
		f = &s.v4
	}
	if f.size == 0 {
		return netip.Addr{}, fmt.Errorf("http.client: none of its addresses can reach %s: %w", to, syscall.EADDRNOTAVAIL)
	}
	i := f.next % f.size
	f.next++
	for _, p := range f.ranges {
		if n := usable(p); i >= n {
			i -= n
			continue
		}
		return nth(p, i), nil
	}
	return netip.Addr{}, nil
}

func nth(p netip.Prefix, i uint64) netip.Addr {
	if p.Addr().BitLen()-p.Bits() > 1 {
		i++
	}
	if p.Addr().Is4() {
		b := p.Addr().As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(i))
		return netip.AddrFrom4(b)
	}
	b := p.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+i)
	return netip.AddrFrom16(b)
}

// explainSource adds the address that could not be used.
func explainSource(from netip.Addr, err error) error {
	if from.IsValid() && errors.Is(err, syscall.EADDRNOTAVAIL) {
		return fmt.Errorf("connect from %s: %w: is it an address of this machine?", from, err)
	}
	return err
}
