package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// SwimProbe asks whether the target is alive. It carries the sender's incarnation and state,
// news for the target, and first of all the sender's suspicion of the target.
//
//catalogue:message kind=112 class=control priority=critical full=keep from=gate,manager,worker since=0 datagram=yes
type SwimProbe struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"`
	Version     uint64       `msg:"v"`
	Known       uint64       `msg:"k"`           // the Version of the target's incarnation that the sender has
	State       []byte       `msg:"a,limit=128"` // for a while after it changed
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimAck answers a SwimProbe, or forwards the answer to one that was sent for the receiver.
//
//catalogue:message kind=113 class=control priority=critical full=keep from=gate,manager,worker since=0 datagram=yes
type SwimAck struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"` // the member that is alive
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	Uptime      uint64       `msg:"u"`                // milliseconds, of the sender by its own clock
	Version     uint64       `msg:"v"`
	State       []byte       `msg:"a,limit=128"` // unless the receiver has this Version
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimAsk requests an indirect probe of a target.
//
//catalogue:message kind=114 class=control priority=critical full=keep from=gate,manager,worker since=0 datagram=yes
type SwimAsk struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	Nack        bool         `msg:"k"`                // answer also if the target is silent
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimNack reports that the target of a SwimAsk is silent, and its sender is not.
//
//catalogue:message kind=115 class=control priority=critical full=keep from=gate,manager,worker since=0 datagram=yes
type SwimNack struct {
	Group       string `msg:"g" require:"true"`
	Sequence    uint64 `msg:"s" require:"true"`
	Target      string `msg:"t" require:"true"`
	Incarnation uint64 `msg:"i" require:"true"` // of the sender
}

// SwimGossip carries news between probes.
//
//catalogue:message kind=116 class=control priority=high full=drop from=gate,manager,worker since=0 datagram=yes
type SwimGossip struct {
	Group       string       `msg:"g" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	News        SwimNewsList `msg:"n" packed:"true"`
	// Members are those that the sender knows as alive. It says so to put off a SwimCompare: it has
	// no bytes left for lists, and the receiver asks one of the members in News.
	Members uint32 `msg:"m,omitempty" since:"1"`
}

// SwimCompare carries a digest of a member's whole list. A member that receives a different
// digest exchanges lists.
//
//catalogue:message kind=117 class=control priority=high full=latest from=gate,manager,worker since=0 subject=Group,Answer datagram=yes
type SwimCompare struct {
	Group       string `msg:"g" require:"true"`
	Incarnation uint64 `msg:"i" require:"true"` // of the sender
	Members     uint32 `msg:"members"`          // alive ones, as the sender sees it
	View        uint64 `msg:"view"`             // a sum over them, equal if the lists are
	Answer      bool   `msg:"answer"`           // to a SwimCompare: the receiver does not answer it again
}

// SwimList is a page of a member's list, on its own stream. The receiver answers the last page
// of the member that opened the stream with its own list.
//
//catalogue:message kind=118 class=control priority=high full=drop from=gate,manager,worker since=0
type SwimList struct {
	Group       string       `msg:"g" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	News        SwimNewsList `msg:"n" packed:"true"`
	Answer      bool         `msg:"answer"`
	More        bool         `msg:"more"`
}
