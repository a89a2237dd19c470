package consumer

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/kafka/group"
)

// Group names what the members of one loop have in common.
type Group struct {
	Name     string
	Assignor group.Assignor
	Topics   []string // in order
	Start    int64    // where a partition begins of which the group remembers nothing
}

// Member is a loop's place in a group. Users that ask get its records in turn.
type Member struct {
	group    Group
	as       group.Membership
	at       stage
	resumes  stage        // behind stageFind
	joined   group.Joined // what the leader assigns from
	consumer Consumer
	bases    []int64 // by place: behind what the group remembers; below 0: it is not known
	commits  []group.Place
	beaten   int64
	desk     *desk // of the coordinator
	fault    int16 // what the coordinator said beside the operations; 0: nothing
	stale    bool  // the others join anew
	beats    bool  // a heartbeat has no answer
	asked    bool  // users ask: it stays

	goodbye
}

// goodbye is what a member said last.
type goodbye struct {
	parting string // the name whose goodbye has no answer; empty: none
	owed    int64  // offsets that it was to commit, and that no answer has confirmed
	refused string // what the coordinator said to that
}

// stage is what a member asks next.
type stage uint8

const (
	stageFind    stage = iota // the coordinator
	stageJoin                 // a place
	stageSync                 // partitions, which it assigns if it leads
	stageOffsets              // where they begin
	stageReads                // records
)

// beatEvery is how often a member says that it lives, as Kafka's own does.
const beatEvery = int64(3 * time.Second)

// Errors of groups.
const (
	codeIllegal   = 22
	codeUnknown   = 25
	codeRebalance = 27
	codeNoID      = 79
	codeFenced    = 82
)

// NewMember returns a member that has joined nothing.
func NewMember(g Group) *Member {
	m := &Member{group: g, as: group.Membership{Group: g.Name, Generation: -1}, consumer: Consumer{start: g.Start}}
	m.desk = &desk{member: m}
	return m
}

// Need is what a member asks next: of any broker (Find), of the coordinator, or records of leaders.
type Need struct {
	Request *group.Request // nil: none
	Find    bool           // it goes to any broker
	Topic   string         // whose layout is not known; empty: none
	Err     *http1.Error   // why nothing can be asked; nil: none
}

// Next returns what the member asks next; the zero Need: records. Partitions says how many a topic has; below
// 0: that is not known. Ends says that the operation has its records: what it read is committed.
func (m *Member) Next(now int64, partitions func(topic string) int, ends bool) (n Need) {
	if m.fault != 0 {
		n.Err = kafka.Told(m.fault)
		m.loses(m.fault)
		m.fault = 0
		return n
	}
	ask := func(r group.Request) Need { return Need{Request: &r} }
	if m.at == stageReads && (m.stale || ends) {
		if m.commits = m.uncommitted(); len(m.commits) > 0 {
			return ask(group.Commit(m.as, m.commits))
		}
	}
	if m.stale && m.at > stageJoin {
		m.at = stageJoin
	}
	switch m.at {
	case stageFind:
		r := group.Find(m.group.Name)
		return Need{Request: &r, Find: true}
	case stageJoin:
		m.stale = false
		return ask(group.Join(m.as, m.group.Assignor, m.group.Topics))
	case stageSync:
		return m.sync(partitions)
	case stageOffsets:
		return ask(group.Fetch(m.group.Name, m.places()))
	}
	if m.desk.links == 0 || len(m.consumer.places) == 0 || now-m.beaten >= beatEvery && !m.beats {
		return ask(group.Beat(m.as))
	}
	return n
}

// sync assigns the partitions of all members, if this one leads.
func (m *Member) sync(partitions func(topic string) int) Need {
	var all []group.Assignment
	if m.joined.Leader == m.as.Member {
		for _, topic := range group.Topics(m.joined.Members) {
			if partitions(topic) < 0 {
				return Need{Topic: topic}
			}
		}
		all = group.Assign(m.joined.Assignor, m.joined.Members, partitions)
	}
	r := group.Sync(m.as, all)
	return Need{Request: &r}
}

// Heard takes an answer, and reports whether the operation goes on. Its error is the operation's.
func (m *Member) Heard(now int64, a *group.Answer, err *http1.Error, partitions func(topic string) int) (goesOn bool, wrong *http1.Error) {
	if a.Of == group.Heartbeat || a.Of == group.SyncGroup {
		m.beaten = now // commits do not tell of a rebalance
	}
	switch {
	case a.Of == group.JoinGroup && a.Code == codeNoID && a.Member != "" && m.as.Member == "":
		m.as.Member = a.Member // a coordinator since 2.2 names the member first
		return true, nil
	case a.Of == group.JoinGroup && a.Code == codeUnknown && m.parting != "":
		m.as.Member, m.parting = "", "" // it has said goodbye itself
		return true, nil
	case a.Code == codeRebalance && (a.Of == group.Heartbeat || a.Of == group.SyncGroup):
		m.stale = true // another member has come, or gone: that is no error
		return true, nil
	case err != nil:
		m.loses(a.Code)
		return false, err
	}
	switch a.Of {
	case group.FindCoordinator:
		m.at = max(stageJoin, m.resumes) // its place is the same at another coordinator
	case group.JoinGroup:
		m.at, m.resumes, m.parting, m.joined = stageSync, stageJoin, "", a.Joined
		m.as.Member, m.as.Generation = a.Member, a.Generation
	case group.SyncGroup:
		return true, m.assigned(a.Places, partitions)
	case group.OffsetFetch:
		return true, m.begins(a.Places)
	case group.OffsetCommit:
		if !names(a.Places, m.commits) {
			return false, errCommit
		}
		m.committed()
	}
	return true, nil
}

// loses takes what an error means for the member.
func (m *Member) loses(code int16) {
	switch code {
	case codeIllegal, codeRebalance:
		m.at, m.as.Generation = stageJoin, -1
	case codeUnknown, codeFenced:
		m.at, m.as.Generation, m.as.Member = stageJoin, -1, ""
	case 14, 15, 16: // the coordinator is not there, or is another one
		m.Lost()
	}
	if m.as.Generation < 0 {
		m.consumer.places, m.bases = nil, nil
	}
}

// Lost says that the coordinator could not be reached, or is another broker.
func (m *Member) Lost() {
	m.resumes = max(m.at, m.resumes)
	if m.as.Generation < 0 {
		m.resumes = stageJoin
	}
	m.at, m.beats = stageFind, false
}

// assigned takes the member's partitions.
func (m *Member) assigned(all []group.Place, partitions func(topic string) int) *http1.Error {
	group.Sort(all)
	m.consumer.places, m.bases = nil, nil
	for i, p := range all {
		n := partitions(p.Topic)
		switch {
		case !slices.Contains(m.group.Topics, p.Topic), n >= 0 && int(p.Partition) >= n, p.Partition < 0, i > 0 && p == all[i-1]:
			m.at, m.as.Generation, m.consumer.places, m.bases = stageJoin, -1, nil, nil
			return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the group %s assigns partition %d of %.60q, which is not there, not subscribed, or there twice", m.group.Name, p.Partition, p.Topic)}
		}
		m.consumer.places = append(m.consumer.places, kafka.Position{Topic: p.Topic, Partition: p.Partition, Offset: m.group.Start})
		m.bases = append(m.bases, -1)
	}
	if m.at = stageOffsets; len(all) == 0 {
		m.at = stageReads
	}
	return nil
}

func (m *Member) places() (all []group.Place) {
	for _, p := range m.consumer.places {
		all = append(all, group.Place{Topic: p.Topic, Partition: p.Partition})
	}
	return all
}

// begins takes what the group remembers of the member's partitions.
func (m *Member) begins(all []group.Place) *http1.Error {
	if len(all) != len(m.consumer.places) {
		return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the group's coordinator tells of %d partitions, and was asked for %d", len(all), len(m.consumer.places))}
	}
	group.Sort(all)
	for i, p := range all {
		own := &m.consumer.places[i]
		if p.Topic != own.Topic || p.Partition != own.Partition {
			return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the group's coordinator tells of partition %d of %.60q, and was not asked for it", p.Partition, p.Topic)}
		}
		if p.Offset >= 0 {
			own.Offset, m.bases[i] = p.Offset, p.Offset
		}
	}
	m.at = stageReads
	return nil
}

// errCommit is of an answer to a commit that says nothing of some of its partitions.
var errCommit = &http1.Error{Kind: http1.KindProtocol, Detail: "the group's coordinator confirms a commit of other partitions than it was asked for"}

// names says that an answer has each partition that was asked for, and no other one.
func names(said, asked []group.Place) bool {
	has := func(p group.Place) bool {
		return slices.ContainsFunc(said, func(o group.Place) bool { return o.Topic == p.Topic && o.Partition == p.Partition })
	}
	return len(said) == len(asked) && !slices.ContainsFunc(asked, func(p group.Place) bool { return !has(p) })
}

// uncommitted returns where the member has read on.
func (m *Member) uncommitted() (all []group.Place) {
	for i, p := range m.consumer.places {
		if m.bases[i] >= 0 && p.Offset > m.bases[i] {
			all = append(all, group.Place{Topic: p.Topic, Partition: p.Partition, Offset: p.Offset})
		}
	}
	return all
}

func (m *Member) committed() {
	for _, c := range m.commits {
		for i, p := range m.consumer.places {
			if p.Topic == c.Topic && p.Partition == c.Partition {
				m.bases[i] = c.Offset
			}
		}
	}
	m.commits = nil
}

// Reads returns the consumer of the member's partitions, once Next asks for records.
func (m *Member) Reads() *Consumer { return &m.consumer }

// Name is the group's.
func (m *Member) Name() string { return m.group.Name }

// Finds reports that the coordinator is not known.
func (m *Member) Finds() bool { return m.at == stageFind }

// Empty reports that the member has joined, and the group has no partition for it.
func (m *Member) Empty() bool { return m.at == stageReads && len(m.consumer.places) == 0 }

// Dirty reports that something is read and not committed.
func (m *Member) Dirty() bool { return m.at == stageReads && len(m.uncommitted()) > 0 }

// Moved says that the consumer has moved: a place that has just found its start has nothing to commit.
func (m *Member) Moved() {
	for i, p := range m.consumer.places {
		if p.Offset < 0 {
			m.bases[i] = -1
		} else if m.bases[i] < 0 {
			m.bases[i] = p.Offset
		}
	}
}

// Asked says whether users ask for records: then the member stays, whatever becomes of its connections.
func (m *Member) Asked(is bool) { m.asked = is }

// departs is the goodbye of a connection to the coordinator: the last one commits what was read, and gives the place
// back.
func (m *Member) departs() (last []group.Request) {
	m.beats = false
	if m.desk.links > 0 || m.asked || m.parting != "" || m.as.Member == "" {
		return nil
	}
	m.owed += m.unremembered()
	if all := m.uncommitted(); m.at == stageReads && len(all) > 0 {
		last, m.commits = append(last, group.Commit(m.as, all)), all
	}
	last = append(last, group.Leave(m.as))
	m.as.Generation, m.stale, m.fault, m.parting, m.resumes = -1, false, 0, m.as.Member, stageJoin
	m.consumer.places, m.bases = nil, nil
	m.at = min(m.at, stageJoin)
	return last
}

// unremembered counts the offsets that are read and not committed.
func (m *Member) unremembered() (n int64) {
	for i, p := range m.consumer.places {
		if m.bases[i] >= 0 {
			n += max(0, p.Offset-m.bases[i])
		}
	}
	return n
}

// Owes says what the member has read and its group does not remember, once its connections are closed; empty:
// nothing.
func (m *Member) Owes() string {
	n := m.owed + m.unremembered()
	if n == 0 {
		return ""
	}
	why := m.refused
	if why == "" {
		why = "the coordinator has not confirmed the last commit"
	}
	return fmt.Sprintf("group %s: %d offsets are read and not committed, and its next member reads them again: %s", m.group.Name, n, why)
}
