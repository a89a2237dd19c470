package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// Hello is the first message on every stream, from both sides. The head of a datagram says the
// same in fewer bytes.
//
//catalogue:message kind=1 class=control priority=critical full=keep from=client,gate,manager,worker since=0
type Hello struct {
	Major       uint16 `msg:"major" require:"true"` // protocol version: rejected unless equal
	Minor       uint16 `msg:"minor"`
	Cluster     string `msg:"cluster" require:"true"`
	Environment string `msg:"environment" require:"true"`
	Node        string `msg:"node" require:"true"`
	Incarnation uint64 `msg:"incarnation" require:"true"`
	Role        uint8  `msg:"role" require:"true"`
	Addr        string `msg:"addr"`
	Datacenter  string `msg:"datacenter"` // of a manager or a worker; the certificate must claim it
}

// HelloRefused rejects a Hello, by the field that differs.
//
//catalogue:message kind=2 class=control priority=critical full=keep from=client,gate,manager,worker since=0
type HelloRefused struct {
	Field  string `msg:"field" require:"true"`
	Got    string `msg:"got"`
	Want   string `msg:"want"`
	Remedy string `msg:"remedy"`
	Reason string `msg:"reason"` // why a certificate was rejected, as metrics name it
}

// Beat checks a stream between two peers for life; BeatAck answers it.
//
//catalogue:message kind=6 class=control priority=high full=latest from=gate,manager since=0
type Beat struct {
	Counter uint64 `msg:"counter"`
}

// BeatAck answers a Beat.
//
//catalogue:message kind=7 class=control priority=high full=latest from=gate,manager since=0
type BeatAck struct {
	Counter uint64 `msg:"counter"`
}
