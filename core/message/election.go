package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// PreVoteAsk asks who would vote for its sender, were it to stand. Nothing durable
// changes for it on either side.
//
//catalogue:message kind=128 class=control priority=critical
type PreVoteAsk struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // the sender's own + 1
}

// PreVoteAnswer answers it.
//
//catalogue:message kind=129 class=control priority=critical
type PreVoteAnswer struct {
	Group   string `msg:"group" require:"true"`
	Asked   uint64 `msg:"asked" require:"true"` // Term of the PreVoteAsk
	Granted bool   `msg:"granted"`
	Term    uint64 `msg:"term"`   // the answerer's own
	Leader  string `msg:"leader"` // address of the leader it heard, the reason of a denial
}

// VoteAsk asks for a vote. The sender's own is on its disk.
//
//catalogue:message kind=130 class=control priority=critical
type VoteAsk struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"`
	// Handed says that the leader has asked the sender to stand: voters that still
	// hear that leader vote all the same.
	Handed bool `msg:"handed"`
}

// VoteAnswer answers it, once the vote is on disk.
//
//catalogue:message kind=131 class=control priority=critical
type VoteAnswer struct {
	Group   string `msg:"group" require:"true"`
	Asked   uint64 `msg:"asked" require:"true"` // Term of the VoteAsk
	Granted bool   `msg:"granted"`
	Term    uint64 `msg:"term"` // the answerer's own
}

// LeaderBeat says who leads. Term is the leader's.
//
//catalogue:message kind=132 class=control priority=critical
type LeaderBeat struct {
	Group   string `msg:"group" require:"true"`
	Term    uint64 `msg:"term" require:"true"`
	Counter uint64 `msg:"counter" require:"true"`
}

// LeaderBeatAck answers it: the voter follows, or has a higher term.
//
//catalogue:message kind=133 class=control priority=critical
type LeaderBeatAck struct {
	Group   string        `msg:"group" require:"true"`
	Term    uint64        `msg:"term" require:"true"` // the answerer's own
	Counter uint64        `msg:"counter" require:"true"`
	Fitness uint32        `msg:"fitness"` // local health multiplier, 0 is best
	Calm    time.Duration `msg:"calm"`    // for which it does not stand
}

// LeaderHandOver asks a voter to stand at once, without a pre-vote: its sender
// leads no more.
//
//catalogue:message kind=134 class=control priority=critical
type LeaderHandOver struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // that the sender led
}
