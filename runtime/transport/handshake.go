package transport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/certs"
)

// idMax bounds each name in a Hello, remedyMax what a peer says of a remedy.
const (
	idMax     = 128
	remedyMax = 384
)

const fieldPlace = "place" // of RefusedError: the node is full

// fieldAsked is the field of a Hello by which a node rejects one that only asks.
const fieldAsked = "addr"

// echoes is what a node wants of a peer that asks, and says that it answers echoes.
const echoes = "none, and answers echoes"

// askAddr stands where the Hello of Ask has an address. Every version rejects it behind all that two Hellos must have
// equal, as no address is that long: so a version that does not know it opens no stream either, and its log is right.
func askAddr() string {
	const says = "`hyperscale doctor` only asks and wants no stream "
	return says + strings.Repeat(".", 2*idMax+1-len(says))
}

// asked is the rejection of a peer that only asks.
func asked(theirs *message.Hello) *RefusedError {
	if len(theirs.Addr) <= 2*idMax || theirs.Addr != askAddr() {
		return nil
	}
	return &RefusedError{Field: fieldAsked, Got: "a question", Want: echoes, Remedy: "none is needed"}
}

// onlyAsked reports whether a handshake failed because the peer wanted no more.
func onlyAsked(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Field == fieldAsked && refused.Want == echoes
}

// RefusedError says that two nodes do not belong together, by the first field
// that differs.
type RefusedError struct {
	Field  string
	Got    string // the peer's value
	Want   string // what this node is
	Remedy string
	ByPeer bool // the peer refused us; Got is what we said
	cause  error
	reason certs.Reason // of a certificate; empty: it is about none
}

// Unwrap returns what runtime/seal says, if that is the cause.
func (e *RefusedError) Unwrap() error { return e.cause }

func (e *RefusedError) Error() string {
	if e.ByPeer {
		return fmt.Sprintf("the peer refused this node: its %s is %q, the peer wants %s: %s", e.Field, e.Got, e.Want, e.Remedy)
	}
	return fmt.Sprintf("the peer's %s is %q, this node wants %s: %s", e.Field, e.Got, e.Want, e.Remedy)
}

func (e *RefusedError) message() *message.HelloRefused {
	return &message.HelloRefused{Field: e.Field, Got: short(e.Got), Want: short(e.Want), Remedy: e.Remedy, Reason: string(e.reason)}
}

// unfit says that time does not mend it, as it mends a lack of places.
func (e *RefusedError) unfit() bool { return e.Field != fieldPlace }

// byPeer converts a peer's refusal to an error. Its text is untrusted.
func byPeer(m *message.HelloRefused) *RefusedError {
	return &RefusedError{
		Field: short(m.Field), Got: short(m.Got), Want: short(m.Want), Remedy: shortTo(m.Remedy, remedyMax), ByPeer: true, reason: certs.Known(m.Reason),
	}
}

// short makes a stranger's text fit for a log line and a terminal.
func short(s string) string { return shortTo(s, idMax) }

func shortTo(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// helloOf describes this node.
func helloOf(c *Config) *message.Hello {
	return &message.Hello{
		Major: message.Major, Minor: c.Self.Minor, Cluster: c.Cluster, Environment: c.Environment, Node: string(c.Self.ID),
		Incarnation: c.Self.Incarnation, Role: uint8(c.Self.Role), Addr: string(c.Self.Addr),
		Datacenter: c.Datacenter,
	}
}

// fits checks a peer's Hello against ours, cluster and environment first.
func fits(ours, theirs *message.Hello) *RefusedError {
	refuse := func(field, got, want, remedy string) *RefusedError {
		return &RefusedError{Field: field, Got: got, Want: want, Remedy: remedy}
	}
	switch {
	case theirs.Major != ours.Major:
		return refuse("protocol version", strconv.Itoa(int(theirs.Major)), strconv.Itoa(int(ours.Major)),
			"run the same major version of hyperscale on both nodes")
	case theirs.Cluster != ours.Cluster:
		return refuse("cluster", theirs.Cluster, strconv.Quote(ours.Cluster),
			"set --cluster to the same name on all nodes, or correct the address")
	case theirs.Environment != ours.Environment:
		return refuse("environment", theirs.Environment, strconv.Quote(ours.Environment),
			"set --environment to the same name on all nodes, or correct the address")
	case !node.Role(theirs.Role).Valid():
		return refuse("role", strconv.Itoa(int(theirs.Role)), "one that it knows",
			"run the same version of hyperscale on both nodes")
	case theirs.Node == "" || len(theirs.Node) > idMax:
		return refuse("node", theirs.Node, fmt.Sprintf("a name of 1 to %d bytes", idMax), "set --id")
	case theirs.Incarnation == 0:
		return refuse("incarnation", "0", "one from 1 on", "run the same version of hyperscale on both nodes")
	case len(theirs.Datacenter) > idMax:
		return refuse("datacenter", theirs.Datacenter, fmt.Sprintf("at most %d bytes", idMax), "shorten --datacenter")
	case len(theirs.Addr) > 2*idMax && theirs.Addr != askAddr():
		return refuse(fieldAsked, theirs.Addr, fmt.Sprintf("at most %d bytes", 2*idMax), "set --advertise to host:port")
	case theirs.Node == ours.Node && theirs.Incarnation != ours.Incarnation:
		// Its own incarnation is the node itself, which may talk to itself.
		return refuse("node", theirs.Node, "a name other than its own", "give each node an --id of its own")
	}
	return nil
}

// calls checks that the role of the node which opened a stream calls the other one.
func calls(ours *message.Hello, peer node.Peer, dialed bool) *RefusedError {
	self := node.Role(ours.Role)
	callers := message.Callers(self)
	switch {
	case dialed && !message.Callers(peer.Role).Has(self):
		return &RefusedError{Field: "role", Got: peer.Role.String(), Want: "one that a " + self.String() + " calls",
			Remedy: "correct " + addresses(self) + ": the " + peer.Role.String() + " " + string(peer.ID) + " has this address"}
	case !dialed && !callers.Has(peer.Role):
		return &RefusedError{Field: "role", Got: peer.Role.String(), Want: callers.String() + ", as those call a " + self.String(),
			Remedy: "correct the address: " + string(peer.ID) + " called a " + self.String()}
	}
	return nil
}

// addresses names the settings that tell a role whom it calls.
func addresses(caller node.Role) string {
	switch caller {
	case node.RoleGate:
		return "--gates"
	case node.RoleManager:
		return "--gates, --managers or --seed"
	case node.RoleWorker:
		return "--managers or --seed"
	case node.RoleClient:
		return "--gate"
	}
	return "the address"
}

// peerOf returns the peer that a fitting Hello describes.
func peerOf(h *message.Hello) node.Peer {
	return node.Peer{ID: node.ID(h.Node), Incarnation: h.Incarnation, Role: node.Role(h.Role), Addr: node.Addr(h.Addr), Minor: h.Minor}
}

// readHello takes the peer's first frame, which must be a Hello that fits.
func readHello(r *frameReader, ours *message.Hello) (*message.Hello, error) {
	m, err := r.next()
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *message.Hello:
		if refused := fits(ours, m); refused != nil {
			return nil, refused
		}
		return m, nil
	case *message.HelloRefused:
		return nil, byPeer(m)
	}
	return nil, fmt.Errorf("%s came before Hello: %w", message.Name(m.Kind()), message.ErrFrame)
}

// identified returns the peer of a Hello, which must equal the claims of its certificate.
func identified(h *message.Hello, claims *certs.Claims) (node.Peer, error) {
	p := peerOf(h)
	if claims == nil {
		return p, nil
	}
	i := certs.Identity{Role: p.Role, Cluster: h.Cluster, Environment: h.Environment, Datacenter: h.Datacenter, Node: h.Node}
	if no := claims.Fits(&i); no != nil {
		return node.Peer{}, refusedFor(no)
	}
	p.Grant = claims.Grant(&i)
	return p, nil
}

func refusedFor(no *certs.Mismatch) *RefusedError {
	return &RefusedError{Field: no.Field, Got: no.Got, Want: no.Want, Remedy: no.Remedy, reason: no.Reason}
}

// misplaced says why a message is not taken: message.Fits and message.Placed.
func misplaced(from node.Peer, m node.Message) string {
	if !message.Placed(m, from.Grant) {
		return fmt.Sprintf("the peer sent a %s of another datacenter, and its certificate claims %q: correct --datacenter", message.Name(m.Kind()), from.Grant.Datacenter)
	}
	return fmt.Sprintf("the peer sent a %s, and a %s sends none", message.Name(m.Kind()), from.Role)
}
