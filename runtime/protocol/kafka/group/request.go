package group

import (
	"encoding/binary"
	"time"

	"hyperscale/runtime/protocol/kafka/wire"
)

// API is the number of a request.
type API int16

// The requests.
const (
	OffsetCommit    API = 8
	OffsetFetch     API = 9
	FindCoordinator API = 10
	JoinGroup       API = 11
	Heartbeat       API = 12
	LeaveGroup      API = 13
	SyncGroup       API = 14
)

// APIs is beyond the largest number of a request.
const APIs = 15

func (a API) String() string {
	return map[API]string{
		OffsetCommit: "OffsetCommit", OffsetFetch: "OffsetFetch", FindCoordinator: "FindCoordinator",
		JoinGroup: "JoinGroup", Heartbeat: "Heartbeat", LeaveGroup: "LeaveGroup", SyncGroup: "SyncGroup",
	}[a]
}

// Versions are those that the package speaks: those before flexible fields whose bodies are alike, and that
// brokers of Kafka 4 still take. False: the request is none of a group.
func (a API) Versions() (low, high int16, ok bool) {
	switch a {
	case OffsetCommit, OffsetFetch:
		return 3, 4, true
	case JoinGroup:
		return 2, 4, true
	case FindCoordinator, Heartbeat, LeaveGroup, SyncGroup:
		return 1, 2, true
	}
	return 0, 0, false
}

// Assignor is how a leader assigns partitions, by Kafka's name of it.
type Assignor string

// The assignors.
const (
	Range      Assignor = "range"
	RoundRobin Assignor = "roundrobin"
)

// What a member asks for. Kafka's own consumer has the same session, and lets five minutes pass between polls.
const (
	Session   = 45 * time.Second // without a heartbeat
	Rebalance = time.Minute      // for which the others wait until a member joins again
)

// Request is a request to a broker.
type Request struct {
	Of   API
	Body []byte
}

// Membership names a member of a group.
type Membership struct {
	Group, Member string // a member that is new has no name
	Generation    int32
}

// Find asks any broker for the coordinator of a group.
func Find(group string) Request {
	return Request{FindCoordinator, append(wire.AppendText(nil, group), 0)} // of a group, not of a transaction
}

// Join asks for a place in a group.
func Join(m Membership, by Assignor, topics []string) Request {
	b := wire.AppendText(nil, m.Group)
	b = binary.BigEndian.AppendUint32(b, uint32(Session/time.Millisecond))
	b = binary.BigEndian.AppendUint32(b, uint32(Rebalance/time.Millisecond))
	b = wire.AppendText(wire.AppendText(b, m.Member), "consumer")
	b = wire.AppendText(append(b, 0, 0, 0, 1), string(by))
	subscription := binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(len(topics))) // version 0
	for _, t := range topics {
		subscription = wire.AppendText(subscription, t)
	}
	subscription = append(subscription, 255, 255, 255, 255) // no data of the user's
	return Request{JoinGroup, appendBytes(b, subscription)}
}

// Sync asks for the member's partitions, and brings those of all if the member leads.
func Sync(m Membership, all []Assignment) Request {
	b := m.append(nil)
	b = binary.BigEndian.AppendUint32(b, uint32(len(all)))
	for _, a := range all {
		assigned := []byte{0, 0} // version 0
		assigned = appendTopics(assigned, a.Places, nil)
		assigned = append(assigned, 255, 255, 255, 255) // no data of the user's
		b = appendBytes(wire.AppendText(b, a.Member), assigned)
	}
	return Request{SyncGroup, b}
}

// Beat says that the member lives.
func Beat(m Membership) Request { return Request{Heartbeat, m.append(nil)} }

// Leave gives the member's place back.
func Leave(m Membership) Request {
	return Request{LeaveGroup, wire.AppendText(wire.AppendText(nil, m.Group), m.Member)}
}

// Commit has the group remember where its next member begins.
func Commit(m Membership, at []Place) Request {
	b := m.append(nil)
	b = binary.BigEndian.AppendUint64(b, 1<<64-1) // for as long as the broker likes
	b = appendTopics(b, at, func(b []byte, p *Place) []byte {
		return append(binary.BigEndian.AppendUint64(b, uint64(p.Offset)), 255, 255) // no metadata
	})
	return Request{OffsetCommit, b}
}

// Fetch asks for what the group remembers of places.
func Fetch(group string, of []Place) Request {
	return Request{OffsetFetch, appendTopics(wire.AppendText(nil, group), of, nil)}
}

func (m Membership) append(b []byte) []byte {
	return wire.AppendText(binary.BigEndian.AppendUint32(wire.AppendText(b, m.Group), uint32(m.Generation)), m.Member)
}

// Place is a partition, and where the group's next member begins in it.
type Place struct {
	Topic     string
	Partition int32
	Offset    int64 // below 0: the group remembers none
}

func appendBytes(b, more []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(more))), more...)
}

// appendTopics appends places, those of a topic side by side, each with what more appends.
func appendTopics(b []byte, all []Place, more func([]byte, *Place) []byte) []byte {
	topics := len(b)
	b = append(b, 0, 0, 0, 0)
	count, partitions := uint32(0), 0
	for i := range all {
		p := &all[i]
		if i == 0 || p.Topic != all[i-1].Topic {
			count++
			b = wire.AppendText(b, p.Topic)
			partitions = len(b)
			b = append(b, 0, 0, 0, 0)
		}
		binary.BigEndian.PutUint32(b[partitions:], binary.BigEndian.Uint32(b[partitions:])+1)
		if b = binary.BigEndian.AppendUint32(b, uint32(p.Partition)); more != nil {
			b = more(b, p)
		}
	}
	binary.BigEndian.PutUint32(b[topics:], count)
	return b
}
