package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// SwimNews says how a member of a group is, at an incarnation of its own.
type SwimNews struct {
	Node        string        `msg:"n" require:"true"`
	Addr        string        `msg:"a"`
	Role        uint8         `msg:"r"`
	Incarnation uint64        `msg:"i" require:"true"` // the node's << 32, raised by each refutation
	State       uint8         `msg:"s"`                // 0 alive, 1 suspect, 2 dead, 3 left
	By          string        `msg:"b"`                // who accuses, empty for the member itself
	Age         time.Duration `msg:"g"`                // of a death or leave: how long ago it was learnt first
}

// Bytes is the exact encoded size of n within a list.
func (n *SwimNews) Bytes() int { return n.size() }

// SwimProbe asks whether the target lives. Everything rides on it: the sender's
// incarnation and state, news for the target, and first of all what the sender
// holds against it.
//
//catalogue:message kind=112 class=control priority=critical
type SwimProbe struct {
	Group       string     `msg:"group" require:"true"`
	Sequence    uint64     `msg:"seq" require:"true"`
	Target      string     `msg:"target" require:"true"`
	Incarnation uint64     `msg:"i" require:"true"`
	Version     uint64     `msg:"v"`
	State       []byte     `msg:"state,limit=128"`
	News        []SwimNews `msg:"news"`
}

// SwimAck answers a SwimProbe, or passes on the answer to one that was made for
// the receiver.
//
//catalogue:message kind=113 class=control priority=critical
type SwimAck struct {
	Group       string        `msg:"group" require:"true"`
	Sequence    uint64        `msg:"seq" require:"true"`
	Target      string        `msg:"target" require:"true"` // who lives
	Incarnation uint64        `msg:"i" require:"true"`      // of the sender
	Uptime      time.Duration `msg:"up"`                    // of the sender, by its own clock
	Version     uint64        `msg:"v"`
	State       []byte        `msg:"state,limit=128"`
	News        []SwimNews    `msg:"news"`
}

// SwimAsk asks for an indirect probe of a target.
//
//catalogue:message kind=114 class=control priority=critical
type SwimAsk struct {
	Group       string     `msg:"group" require:"true"`
	Sequence    uint64     `msg:"seq" require:"true"`
	Target      string     `msg:"target" require:"true"`
	Incarnation uint64     `msg:"i" require:"true"` // of the sender
	Nack        bool       `msg:"nack"`             // tell, too, when the target is silent
	News        []SwimNews `msg:"news"`
}

// SwimNack says that the target of a SwimAsk is silent, and its sender is not.
//
//catalogue:message kind=115 class=control priority=critical
type SwimNack struct {
	Group       string `msg:"group" require:"true"`
	Sequence    uint64 `msg:"seq" require:"true"`
	Target      string `msg:"target" require:"true"`
	Incarnation uint64 `msg:"i" require:"true"` // of the sender
}

// SwimGossip carries news between probes.
//
//catalogue:message kind=116 class=control priority=critical
type SwimGossip struct {
	Group       string     `msg:"group" require:"true"`
	Incarnation uint64     `msg:"i" require:"true"` // of the sender
	News        []SwimNews `msg:"news"`
}

// SwimCompare says what a member's whole list comes to. Whoever asks and hears
// something else exchanges lists.
//
//catalogue:message kind=117 class=control priority=high
type SwimCompare struct {
	Group       string `msg:"group" require:"true"`
	Incarnation uint64 `msg:"i" require:"true"` // of the sender
	Members     uint32 `msg:"members"`          // that live, as the sender sees it
	View        uint64 `msg:"view"`             // a sum over them, equal where the lists are
	Answer      bool   `msg:"answer"`           // to a SwimCompare: it is not answered again
}

// SwimList is a page of a member's list, on a stream of its own. The last page of
// whoever opened the stream is answered with the other's list.
//
//catalogue:message kind=118 class=control priority=high
type SwimList struct {
	Group       string     `msg:"group" require:"true"`
	Incarnation uint64     `msg:"i" require:"true"` // of the sender
	News        []SwimNews `msg:"news"`
	Answer      bool       `msg:"answer"`
	More        bool       `msg:"more"`
}
