package kafka

import (
	"hyperscale/runtime/protocol/kafka/group"
	"hyperscale/runtime/protocol/scram"
)

// Mechanism is how a user proves itself.
type Mechanism uint8

// The mechanisms.
const (
	None Mechanism = iota
	PLAIN
	SCRAMSHA256
	SCRAMSHA512
	OAUTHBEARER // Password is the token, and there is no user
)

// name is what SASL calls it.
func (m Mechanism) name() string {
	return [...]string{"", "PLAIN", scram.SHA256.Mechanism(), scram.SHA512.Mechanism(), "OAUTHBEARER"}[m]
}

func (m Mechanism) hash() scram.Hash {
	if m == SCRAMSHA512 {
		return scram.SHA512
	}
	return scram.SHA256
}

// AnswerMaxDefault bounds a broker's answer unless Config says otherwise.
const AnswerMaxDefault = 16 << 20

const (
	bufferKept = 64 << 10 // bytes of a buffer that outlives an operation
	frameMost  = 1<<31 - 1
	clientID   = "hyperscale"
	// ackMillis is how long a broker waits for its followers, as a Java producer has it. The operation's
	// own timeout ends earlier where it is shorter.
	ackMillis = 30_000
)

// Config is what the connections to a cluster have in common.
type Config struct {
	Mechanism      Mechanism
	User, Password string
	Idempotent     bool         // each connection is a producer, whose records the broker counts
	AnswerMax      int64        // bytes; 0: AnswerMaxDefault
	Keys           *scram.Cache // nil: salted passwords are not shared
	Pool           *Pool        // nil: a compressor of its own
}

// Protocol makes the connections to a cluster.
type Protocol struct {
	config Config
	most   int64
	pool   *Pool
}

// New returns what makes connections.
func New(c Config) *Protocol {
	p := &Protocol{config: c, most: c.AnswerMax, pool: c.Pool}
	if p.most <= 0 {
		p.most = AnswerMaxDefault
	}
	p.most = min(p.most, frameMost)
	if p.config.Keys == nil {
		p.config.Keys = new(scram.Cache)
	}
	if p.pool == nil {
		p.pool = new(Pool)
	}
	return p
}

// api is the number of a request.
type api int16

const (
	apiProduce      api = 0
	apiFetch        api = 1
	apiOffsets      api = 2
	apiMetadata     api = 3
	apiHandshake    api = 17
	apiVersions     api = 18
	apiProducer     api = 22
	apiAuthenticate api = 36
)

func (a api) String() string {
	if _, _, is := group.API(a).Versions(); is {
		return group.API(a).String()
	}
	switch a {
	case apiProduce:
		return "Produce"
	case apiFetch:
		return "Fetch"
	case apiOffsets:
		return "ListOffsets"
	case apiMetadata:
		return "Metadata"
	case apiHandshake:
		return "SaslHandshake"
	case apiVersions:
		return "ApiVersions"
	case apiProducer:
		return "InitProducerId"
	}
	return "SaslAuthenticate"
}

// span is the versions of a request that one side speaks.
type span struct{ low, high int16 }

// ours returns the versions that the codec speaks: those before flexible fields, and those that brokers of
// Kafka 4 still take.
func ours(a api) span {
	if low, high, is := group.API(a).Versions(); is {
		return span{low, high}
	}
	switch a {
	case apiProduce:
		return span{3, 8} // record batches; zstd from 7 on
	case apiFetch:
		return span{4, 11} // the same; zstd from 10 on
	case apiOffsets:
		return span{1, 1}
	case apiProducer:
		return span{0, 1}
	case apiMetadata:
		return span{1, 4} // 4 keeps a broker from making the topic
	}
	return span{}
}

// versions are those that a connection speaks; below 0: none.
type versions struct {
	produce, fetch, offsets, metadata, producer int16

	group [group.APIs]int16 // by number
}

// choose returns the highest version that both sides speak; -1: there is none.
func choose(a api, theirs span) int16 {
	own := ours(a)
	if v := min(own.high, theirs.high); v >= max(own.low, theirs.low) {
		return v
	}
	return -1
}
