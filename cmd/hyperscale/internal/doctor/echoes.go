package doctor

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/operate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/transport"
)

// Sizes and counts of echoes.
const (
	echoSmall = 300 // bytes: any path carries them
	echoTries = 3
	samples   = 5 // echoes of one comparison of clocks: the quickest counts
)

// clockBound is how far the rates of two clocks may be apart, clockDay how far their times of the day.
const (
	clockBound = 0.02 // twice 1 %
	clockDay   = 2 * time.Second
)

// echoes sends datagrams to all peers whose handshake fits.
func (d *doctor) echoes(asker *transport.Asker, peers []*peer) {
	first := map[*peer]transport.Echo{}
	begun := time.Now()
	for _, p := range peers {
		if p.met == nil {
			continue
		}
		small, err := asker.Echo(p.met.At, echoSmall, echoTries, d.machine.patience)
		if err != nil {
			p.found = append(p.found, d.silent(p, err))
			continue
		}
		p.found = append(p.found, ok("udp", string(p.addr), "a datagram came back in %s", small.Came.Sub(small.Sent).Round(10*time.Microsecond)))
		whole, f := d.size(asker, p)
		p.found = append(p.found, f)
		if f.State == isOK {
			small = whole // it has room for the set
		}
		p.found = append(p.found, d.set(p, &small)...)
		p.found = append(p.found, d.leases(p, &small)...)
		p.id, p.sinks = small.ID, small.Sinks
		if best, err := d.sample(asker, p); err == nil {
			first[p] = best
		}
	}
	d.sinks(peers)
	if len(first) == 0 {
		return
	}
	time.Sleep(time.Until(begun.Add(d.machine.span)))
	for _, p := range peers {
		a, measured := first[p]
		if !measured {
			continue
		}
		if b, err := d.sample(asker, p); err == nil {
			p.found = append(p.found, clocks(p.addr, &a, &b))
		}
	}
}

// silent says that no datagram came back.
func (d *doctor) silent(p *peer, err error) Finding {
	if !p.met.Echoes {
		return warn("udp", string(p.addr), "upgrade it to look at UDP", "its version answers no echo")
	}
	_, port, _ := net.SplitHostPort(string(p.addr))
	return fail("udp", string(p.addr), fmt.Sprintf("allow UDP port %s in both directions in the firewalls between", port),
		"%d datagrams, and none came back: %s", echoTries, err)
}

// size looks whether the largest datagrams of nodes pass, and how large those are that do.
func (d *doctor) size(asker *transport.Asker, p *peer) (transport.Echo, Finding) {
	const check = "mtu"
	e, err := asker.Echo(p.met.At, message.DatagramMax, echoTries, d.machine.patience)
	if err == nil {
		return e, ok(check, string(p.addr), "datagrams of %d bytes pass", message.DatagramMax)
	}
	low, high := echoSmall, message.DatagramMax
	for high-low > 8 {
		middle := (low + high) / 2
		if _, err := asker.Echo(p.met.At, middle, echoTries-1, d.machine.patience); err == nil {
			low = middle
		} else {
			high = middle
		}
	}
	return e, fail(check, string(p.addr), fmt.Sprintf("raise the MTU of the path to %d for IPv4 and %d for IPv6, or let fragments and ICMP pass",
		message.DatagramMax+28, message.DatagramMax+48), "datagrams of %d bytes do not come back, those of %d do", message.DatagramMax, low)
}

// set compares the set of a peer with the one that this node has for its role.
func (d *doctor) set(p *peer, e *transport.Echo) []Finding {
	const check = "set"
	key, mine := "", []string(nil)
	switch node.Role(e.Role) {
	case node.RoleGate:
		key, mine = "gates", d.c.Gates
	case node.RoleManager:
		key, mine = "managers", d.c.Managers
	}
	if len(mine) == 0 {
		return nil // this node has none to compare
	}
	mine = slices.Sorted(slices.Values(mine))
	theirs := slices.Sorted(slices.Values(e.Set))
	switch {
	case e.Cut:
		return []Finding{warn(check, string(p.addr), "compare --"+key+" of both by hand", "its set has no room in a datagram")}
	case slices.Equal(mine, theirs), len(theirs) == 0 && slices.Equal(mine, []string{string(p.addr)}): // it is alone, and without --gates
		return []Finding{ok(check, string(p.addr), "the same %d %s", len(mine), key)}
	}
	other := strings.Join(theirs, ",")
	if other == "" {
		other = "none but itself"
	}
	return []Finding{fail(check, string(p.addr), "give both the same --"+key, "%s is configured with %s, this node with %s", e.ID, other, strings.Join(mine, ","))}
}

// leases compares the durations that a group must agree on: --lease of gates and managers, --subjob-lease of managers.
func (d *doctor) leases(p *peer, e *transport.Echo) (all []Finding) {
	const check = "lease"
	for _, l := range []struct {
		key          string
		mine, theirs time.Duration
	}{{"lease", d.c.Lease, e.Lease}, {"subjob-lease", d.c.SubjobLease, e.SubjobLease}} {
		switch {
		case l.mine == 0 || l.theirs == 0: // a role without it, or a version that does not tell it
		case l.mine == l.theirs:
			all = append(all, ok(check, string(p.addr), "the same --%s of %v", l.key, l.mine))
		default:
			all = append(all, fail(check, string(p.addr), "give both the same --"+l.key+", or the same --profile", "%s has --%s %v, this node %v", e.ID, l.key, l.theirs, l.mine))
		}
	}
	return all
}

// sinks compares the sinks of all gates with those of this one; where this node is none, with those of the first gate that
// tells its own.
func (d *doctor) sinks(peers []*peer) {
	const check = "sinks"
	mine, of := operate.SinksOf(&d.c), d.c.ID
	for _, p := range peers {
		switch {
		case p.sinks == "": // no gate, or a version that does not tell it
		case mine == "":
			mine, of = p.sinks, p.id
		case p.sinks == mine:
			p.found = append(p.found, ok(check, string(p.addr), "those of %s, by name, kind and window", of))
		default:
			p.found = append(p.found, warn(check, string(p.addr), "give all gates the same section outputs (`hyperscale config show gate` prints it), and start them again one by one",
				"the sinks of %s are not those of %s by name, kind or window: rows of a job wait at a gate that has not its sinks", p.id, of))
		}
	}
}

// sample is the quickest of several echoes.
func (d *doctor) sample(asker *transport.Asker, p *peer) (best transport.Echo, err error) {
	shortest := time.Duration(math.MaxInt64)
	for range samples {
		e, failed := asker.Echo(p.met.At, echoSmall, 1, d.machine.patience)
		if failed != nil {
			err = failed
			continue
		}
		if took := e.Came.Sub(e.Sent); took < shortest {
			shortest, best = took, e
		}
	}
	if best.Sent.IsZero() {
		return best, err
	}
	return best, nil
}

// clocks compares the clocks of a peer and of this machine by two echoes. Each answer was written between its question
// and its arrival, so that the error of the comparison is known.
func clocks(a node.Addr, first, last *transport.Echo) Finding {
	const check = "clock"
	theirs := time.Duration(last.Awake - first.Awake)
	least, most := last.Sent.Sub(first.Came), last.Came.Sub(first.Sent)
	if theirs <= 0 {
		return warn(check, string(a), "run this again", "the node started again meanwhile")
	}
	fast, slow := float64(theirs)/float64(most)-1, 1-float64(theirs)/float64(max(least, 1))
	if out := max(fast, slow); out > clockBound {
		word := "fast"
		if slow > fast {
			word = "slow"
		}
		return fail(check, string(a), "let NTP slew the clocks of both machines, and see that no hypervisor stops either", "its clock runs at least %.1f %% too %s by this machine's", 100*out, word)
	}
	way := last.Came.Sub(last.Sent)
	apart := time.Duration(last.Wall - last.Sent.Add(way/2).UnixNano())
	if off := apart.Abs() - way/2; off > clockDay {
		return warn(check, string(a), "run NTP on both machines: certificates and the times of results depend on it", "its time of the day is %s apart", apart.Round(time.Second))
	}
	return ok(check, string(a), "%s apart, and no more than %.1f %% in rate", apart.Abs().Round(time.Millisecond), 100*max(float64(most)/float64(theirs)-1, float64(theirs)/float64(max(least, 1))-1, 0.1/100))
}
