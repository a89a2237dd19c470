package kafka

import (
	"net"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/http1"
)

// Numbers of the requests of a group's member.
const (
	apiCommit   = 8
	apiRemember = 9
	apiFind     = 10
	apiJoin     = 11
	apiBeat     = 12
	apiLeave    = 13
	apiSync     = 14
)

// Group is that of the client's consumers, and member is what the coordinator calls each of them.
const (
	Group  = "load"
	member = "m1"
)

// found is an answer to FindCoordinator of version 1 or 2.
func found(code int, host string, port int) string {
	return i32(0) + i16(code) + i16(-1) + i32(1) + text(host) + i32(port)
}

// joined is an answer to JoinGroup of version 4: the client leads a group of its own.
func joined(code int, name string) string {
	subscribes := i16(0) + i32(1) + text(Topic) + i32(-1)
	return i32(0) + i16(code) + i32(1) + text("range") + text(name) + text(name) + i32(1) + text(name) + i32(len(subscribes)) + subscribes
}

// synced is an answer to SyncGroup of version 2.
func synced(code int, assigned string) string {
	return i32(0) + i16(code) + i32(len(assigned)) + assigned
}

// assigned is an assignment of one partition.
func assigned(topic string, partition int) string {
	return i16(0) + i32(1) + text(topic) + i32(1) + i32(partition) + i32(-1)
}

// remembered is an answer to OffsetFetch of version 4.
func remembered(partition, code int) string {
	return i32(0) + i32(1) + text(Topic) + i32(1) + i32(partition) + i64(firstOffset) + i16(-1) + i16(code) + i16(0)
}

// committed is an answer to OffsetCommit of version 4.
func committed(code int) string { return i32(0) + i32(1) + text(Topic) + i32(1) + i32(0) + i16(code) }

// groups are what meets a member of a group.
func groups() []Entry {
	meets := func(name string, at Place, act Act, kind http1.Kind) Entry {
		return Entry{Name: "group: " + name, At: at, Reads: true, Group: true, Act: act, Want: Want{Kind: kind, Reuse: ReuseEither}}
	}
	return []Entry{
		meets("silence in place of its coordinator", AtFind, hold, http1.KindTimeout),
		meets("it may not join", AtFind, says(found(30, "", 0), nil), "server GROUP_AUTHORIZATION_FAILED"),
		meets("a coordinator at port 0", AtFind, says(found(0, "h", 0), hold), http1.KindProtocol),
		meets("a coordinator that has moved to another address", AtJoin, moves, "server NOT_COORDINATOR"),
		meets("a member that is not known", AtJoin, says(joined(25, ""), nil), "server UNKNOWN_MEMBER_ID"),
		meets("a member without a name", AtJoin, says(joined(0, ""), hold), http1.KindProtocol),
		meets("2^31-1 members", AtJoin, says(joined(0, member)[:28]+i32(1<<31-1), hold), http1.KindProtocol),
		meets("a rebalance without end", AtSync, rebalances, http1.KindTimeout),
		meets("half an assignment", AtSync, says(synced(0, assigned(Topic, 0)[:11]), hold), http1.KindProtocol),
		meets("an assignment of a topic that no member subscribes to", AtSync, says(synced(0, assigned("other", 0)), nil), http1.KindProtocol),
		meets("an assignment of partition -7", AtSync, says(synced(0, assigned(Topic, -7)), nil), http1.KindProtocol),
		meets("an old generation as it joins", AtSync, says(synced(22, ""), nil), "server ILLEGAL_GENERATION"),
		meets("offsets of another partition", AtRemember, says(remembered(3, 0), nil), http1.KindProtocol),
		meets("an old generation as it commits", AtCommit, says(committed(22), nil), "server ILLEGAL_GENERATION"),
		meets("a commit of nothing", AtCommit, says(i32(0)+i32(0), nil), http1.KindProtocol),
		meets("a commit without an answer", AtCommit, hold, http1.KindTimeout),
		meets("the end in place of a commit's answer", AtCommit, half, http1.KindClosed),
	}
}

// moves says that the coordinator is elsewhere: from now on at another name.
func moves(s *Session) bool {
	s.server.mu.Lock()
	s.server.left = s.id
	s.server.mu.Unlock()
	s.Say(joined(16, ""))
	return true
}

// rebalances lets the member join and never gives it partitions.
func rebalances(s *Session) bool {
	for s.Say(synced(27, "")); ; {
		key, _, ok := s.request()
		switch {
		case !ok:
			return false
		case key == apiJoin:
			s.Say(joined(0, member))
		case key == apiSync:
			s.Say(synced(27, ""))
		default:
			return false
		}
	}
}

// coordinates returns the place of a member's request, and the good answer; false: it is none.
func (s *Server) coordinates(n *Session, key int) (at Place, good string, is bool) {
	s.mu.Lock()
	left := s.left
	s.mu.Unlock()
	if left != 0 && left == n.id && slices.Contains([]int{apiJoin, apiSync, apiCommit}, key) {
		s.blame("the client asks %d where the coordinator was", key)
	}
	switch key {
	case apiFind:
		host, port, _ := net.SplitHostPort(s.port.Address())
		number, _ := strconv.Atoi(port)
		if left != 0 {
			host = "localhost"
		}
		return AtFind, found(0, host, number), true
	case apiJoin:
		return AtJoin, joined(0, member), true
	case apiSync:
		return AtSync, synced(0, assigned(Topic, 0)), true
	case apiRemember:
		return AtRemember, remembered(0, 0), true
	case apiCommit:
		return AtCommit, committed(0), true
	case apiBeat, apiLeave:
		return AtBeat, i32(0) + i16(0), true
	}
	return 0, "", false
}
