package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// VoteAsk requests a vote. With Pre it asks who would vote if the sender stood: then nothing
// durable changes on either side. A sender that stands has its own vote on disk.
//
//catalogue:message kind=128 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type VoteAsk struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // with Pre the term in which it would stand
	Nonce uint64 `msg:"nonce" require:"true"`
	Pre   bool   `msg:"pre"`
	// Handed says that the leader of the earlier term has stepped down and asked the sender to
	// stand: a voter that has just heard that leader votes anyway.
	Handed bool `msg:"handed"`
}

// VoteAnswer answers a VoteAsk; a granted vote is on disk.
//
//catalogue:message kind=129 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type VoteAnswer struct {
	Group   string `msg:"group" require:"true"`
	Nonce   uint64 `msg:"nonce" require:"true"`
	Granted bool   `msg:"granted"`
	Term    uint64 `msg:"term"` // of the voter
}

// LeaderBeat announces the leader of a term.
//
//catalogue:message kind=130 class=control priority=critical full=latest from=gate,manager since=0 subject=Group datagram=yes
type LeaderBeat struct {
	Group   string `msg:"group" require:"true"`
	Term    uint64 `msg:"term" require:"true"`
	Counter uint64 `msg:"counter" require:"true"`
}

// LeaderBeatAck answers a LeaderBeat: the voter follows, or has a higher term.
//
//catalogue:message kind=131 class=control priority=critical full=latest from=gate,manager since=0 subject=Group datagram=yes
type LeaderBeatAck struct {
	Group   string `msg:"group" require:"true"`
	Term    uint64 `msg:"term" require:"true"` // of the voter
	Counter uint64 `msg:"counter" require:"true"`
	Fitness uint32 `msg:"fitness"` // its local health, 0 is best
	Stands  bool   `msg:"stands"`  // it would take over
}

// LeaderHandOver asks a voter to stand at once: its sender no longer leads.
//
//catalogue:message kind=132 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaderHandOver struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // in which the sender led
}

// VoterJoin requests a voter's term: its sender has no disk that remembers its own votes.
//
//catalogue:message kind=133 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type VoterJoin struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
	// Pass is a number on the sender's disk, the same for as long as that disk lasts. It is
	// zero until the group was recovered.
	Pass uint64 `msg:"pass"`
	// Epoch is the sender's epoch of the group: a request of an earlier epoch admits no disk to
	// a later one.
	Epoch uint64 `msg:"epoch"`
}

// VoterJoined answers a VoterJoin.
//
//catalogue:message kind=134 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type VoterJoined struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
	Blank bool   `msg:"blank"` // it does not remember its votes either
	Term  uint64 `msg:"term"`
	// Epoch is not zero if the group was recovered from the answering disk in this epoch, and
	// that disk records that no other disk than the requester's has voted in the requester's
	// name since.
	Epoch uint64 `msg:"epoch"`
}
