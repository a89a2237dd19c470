package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// VoteAsk asks for a vote, or with Pre, who would vote for its sender were it to
// stand: nothing durable changes for that, on either side. A sender that stands has
// its own vote on its disk.
//
//catalogue:message kind=128 class=control priority=critical
type VoteAsk struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // with Pre the one that it would stand in
	Nonce uint64 `msg:"nonce" require:"true"`
	Pre   bool   `msg:"pre"`
	// Handed says that the leader of the term before has stepped down and asked the
	// sender to stand: who has just heard that leader votes all the same.
	Handed bool `msg:"handed"`
}

// VoteAnswer answers it; a vote is on disk before.
//
//catalogue:message kind=129 class=control priority=critical
type VoteAnswer struct {
	Group   string `msg:"group" require:"true"`
	Nonce   uint64 `msg:"nonce" require:"true"`
	Granted bool   `msg:"granted"`
	Term    uint64 `msg:"term"` // the answerer's own
}

// LeaderBeat says who leads in a term.
//
//catalogue:message kind=130 class=control priority=critical
type LeaderBeat struct {
	Group   string `msg:"group" require:"true"`
	Term    uint64 `msg:"term" require:"true"`
	Counter uint64 `msg:"counter" require:"true"`
}

// LeaderBeatAck answers it: the voter follows, or has a higher term.
//
//catalogue:message kind=131 class=control priority=critical
type LeaderBeatAck struct {
	Group   string `msg:"group" require:"true"`
	Term    uint64 `msg:"term" require:"true"` // the answerer's own
	Counter uint64 `msg:"counter" require:"true"`
	Fitness uint32 `msg:"fitness"` // its local health, 0 is best
	Stands  bool   `msg:"stands"`  // it would take over
}

// LeaderHandOver asks a voter to stand at once: its sender leads no more.
//
//catalogue:message kind=132 class=control priority=critical
type LeaderHandOver struct {
	Group string `msg:"group" require:"true"`
	Term  uint64 `msg:"term" require:"true"` // that the sender led
}

// VoterJoin asks a voter for its term: its sender has no disk to remember its own
// votes by.
//
//catalogue:message kind=133 class=control priority=critical
type VoterJoin struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
	// Pass is a number on the sender's disk: the same one for as long as that disk
	// lasts. None before the group was recovered.
	Pass uint64 `msg:"pass"`
	// Epoch of the group in which the sender asks: a question from before admits nobody
	// to a later one.
	Epoch uint64 `msg:"epoch"`
}

// VoterJoined answers it.
//
//catalogue:message kind=134 class=control priority=critical
type VoterJoined struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
	Blank bool   `msg:"blank"` // it does not remember either
	Term  uint64 `msg:"term"`
	// Epoch is not zero if the answerer's disk is the one that this epoch of the group
	// was recovered from, and has it that nobody but the asker's disk has voted in the
	// asker's name since.
	Epoch uint64 `msg:"epoch"`
}
