package group

import "hyperscale/runtime/protocol/kafka/wire"

// Answer is what a broker answers to a request.
type Answer struct {
	Of        API
	Throttled int32 // milliseconds that it asks to wait
	Code      int16 // of its error; 0: none. Of OffsetCommit and OffsetFetch the first one
	Text      string

	Host string // of FindCoordinator
	Port uint16

	Joined
	Places []Place // of SyncGroup and OffsetFetch
}

// Joined is what JoinGroup answers.
type Joined struct {
	Generation int32
	Assignor   Assignor
	Leader     string // the member that assigns
	Member     string // the one that joined
	Members    []Member
}

// Member is a member of a group, as its leader hears of it.
type Member struct {
	ID     string
	Topics []string
}

// Least bytes of what a list has.
const (
	memberLeast    = 2 + 4
	topicLeast     = 2 + 4
	partitionLeast = 4
	committedLeast = 4 + 2
	rememberLeast  = 4 + 8 + 2 + 2
)

const hostMost = 253 // bytes of a name

// Read reads the body of an answer; false: it does not have what it says.
func Read(of API, body []byte) (a Answer, ok bool) {
	r := &wire.Reader{B: body}
	a = Answer{Of: of, Throttled: r.Int32()}
	switch of {
	case OffsetCommit:
		eachPlace(r, committedLeast, func(p Place) {
			a.fails(r.Int16())
			a.Places = append(a.Places, p)
		})
	case OffsetFetch:
		eachPlace(r, rememberLeast, func(p Place) {
			p.Offset = r.Int64()
			r.Text() // metadata
			a.fails(r.Int16())
			a.Places = append(a.Places, p)
		})
		a.fails(r.Int16())
	default:
		a.Code = r.Int16()
		a.read(r)
	}
	return a, !r.Bad
}

func (a *Answer) fails(code int16) {
	if a.Code == 0 {
		a.Code = code
	}
}

// read reads what stands behind the error.
func (a *Answer) read(r *wire.Reader) {
	switch a.Of {
	case FindCoordinator:
		a.Text = string(r.Text())
		r.Int32() // the broker's number
		host, port := r.Text(), r.Int32()
		if a.Code != 0 {
			return // they say nothing
		}
		if len(host) == 0 || len(host) > hostMost || port <= 0 || port > 1<<16-1 {
			r.Bad = true
			return
		}
		a.Host, a.Port = string(host), uint16(port)
	case JoinGroup:
		a.Generation, a.Assignor = r.Int32(), Assignor(r.Text())
		a.Leader, a.Member = string(r.Text()), string(r.Text())
		for range r.List(memberLeast) {
			m := Member{ID: string(r.Text())}
			subscription := wire.Reader{B: r.Bytes()}
			subscription.Int16() // its version: later ones append
			for range subscription.List(2) {
				m.Topics = append(m.Topics, string(subscription.Text()))
			}
			r.Bad = r.Bad || subscription.Bad
			a.Members = append(a.Members, m)
		}
		if a.Code == 0 && a.Member == "" {
			r.Bad = true
		}
	case SyncGroup:
		assigned := wire.Reader{B: r.Bytes()}
		if r.Bad || len(assigned.B) == 0 {
			return // nothing is assigned
		}
		assigned.Int16() // its version
		eachPlace(&assigned, partitionLeast, func(p Place) { a.Places = append(a.Places, p) })
		r.Bad = assigned.Bad
	}
}

// eachPlace reads partitions by topic, and what stands behind each.
func eachPlace(r *wire.Reader, least int, read func(Place)) {
	for range r.List(topicLeast) {
		topic := string(r.Text())
		for range r.List(least) {
			read(Place{Topic: topic, Partition: r.Int32(), Offset: -1})
		}
	}
}
