package pool

import (
	"net/netip"
	"strings"
	"testing"
)

// A range gives each of its addresses once per round.
func TestSourcesOfARange(t *testing.T) {
	for _, test := range []struct{ ranges, want string }{
		{"10.0.0.0/29", "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.1"},
		{"10.0.0.4/31", "10.0.0.4 10.0.0.5 10.0.0.4"},
		{"10.0.0.9/32 10.1.0.0/30", "10.0.0.9 10.1.0.1 10.1.0.2 10.0.0.9"},
		{"2001:db8::/126", "2001:db8::1 2001:db8::2 2001:db8::3 2001:db8::1"},
	} {
		var ranges []netip.Prefix
		for r := range strings.FieldsSeq(test.ranges) {
			ranges = append(ranges, netip.MustParsePrefix(r))
		}
		s, to := newSources(ranges, 0), netip.MustParseAddr("192.0.2.1")
		if !ranges[0].Addr().Is4() {
			to = netip.IPv6Loopback()
		}
		var got []string
		for range strings.Fields(test.want) {
			a, err := s.take(to)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.ranges, got, test.want)
		}
	}
	if n := usable(netip.MustParsePrefix("::/1")); n != rangeMax {
		t.Errorf("half of all addresses: %d", n)
	}
}
