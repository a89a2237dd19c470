package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// SwimProbe asks whether the target lives. Everything rides on it: the sender's
// incarnation and state, news for the target, and first of all what the sender
// holds against it.
//
//catalogue:message kind=112 class=control priority=critical
type SwimProbe struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"`
	Version     uint64       `msg:"v"`
	Known       uint64       `msg:"k"`           // the Version of the target that the sender has of this run of it
	State       []byte       `msg:"a,limit=128"` // for a while after it changed
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimAck answers a SwimProbe, or passes on the answer to one that was made for
// the receiver.
//
//catalogue:message kind=113 class=control priority=critical
type SwimAck struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"` // who lives
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	Uptime      uint64       `msg:"u"`                // milliseconds: of the sender, by its own clock
	Version     uint64       `msg:"v"`
	State       []byte       `msg:"a,limit=128"` // unless the receiver has this Version
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimAsk asks for an indirect probe of a target.
//
//catalogue:message kind=114 class=control priority=critical
type SwimAsk struct {
	Group       string       `msg:"g" require:"true"`
	Sequence    uint64       `msg:"s" require:"true"`
	Target      string       `msg:"t" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	Nack        bool         `msg:"k"`                // tell, too, when the target is silent
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimNack says that the target of a SwimAsk is silent, and its sender is not.
//
//catalogue:message kind=115 class=control priority=critical
type SwimNack struct {
	Group       string `msg:"g" require:"true"`
	Sequence    uint64 `msg:"s" require:"true"`
	Target      string `msg:"t" require:"true"`
	Incarnation uint64 `msg:"i" require:"true"` // of the sender
}

// SwimGossip carries news between probes.
//
//catalogue:message kind=116 class=control priority=critical
type SwimGossip struct {
	Group       string       `msg:"g" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	News        SwimNewsList `msg:"n" packed:"true"`
}

// SwimCompare says what a member's whole list comes to. Whoever asks and hears
// something else exchanges lists.
//
//catalogue:message kind=117 class=control priority=high
type SwimCompare struct {
	Group       string `msg:"g" require:"true"`
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
	Group       string       `msg:"g" require:"true"`
	Incarnation uint64       `msg:"i" require:"true"` // of the sender
	News        SwimNewsList `msg:"n" packed:"true"`
	Answer      bool         `msg:"answer"`
	More        bool         `msg:"more"`
}
