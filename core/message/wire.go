package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// Hello is said first on every stream, by both sides. The head of a datagram says
// the same in fewer bytes.
//
//catalogue:message kind=1 class=control priority=critical
type Hello struct {
	Major       uint16 `msg:"major" require:"true"` // protocol version: refused unless equal
	Minor       uint16 `msg:"minor"`
	Cluster     string `msg:"cluster" require:"true"`
	Environment string `msg:"environment" require:"true"`
	Node        string `msg:"node" require:"true"`
	Incarnation uint64 `msg:"incarnation" require:"true"`
	Role        uint8  `msg:"role" require:"true"`
	Addr        string `msg:"addr"`
}

// HelloRefused answers a Hello that does not fit, by the field that differs.
//
//catalogue:message kind=2 class=control priority=critical
type HelloRefused struct {
	Field  string `msg:"field" require:"true"`
	Got    string `msg:"got"`
	Want   string `msg:"want"`
	Remedy string `msg:"remedy"`
}

// Beat keeps a stream between two fellows known to be alive; BeatAck answers it.
//
//catalogue:message kind=6 class=control priority=high
type Beat struct {
	Counter uint64 `msg:"counter"`
}

// BeatAck answers a Beat.
//
//catalogue:message kind=7 class=control priority=high
type BeatAck struct {
	Counter uint64 `msg:"counter"`
}
