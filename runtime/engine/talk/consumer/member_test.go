package consumer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/runtime/engine/talk/consumer"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/kafka/group"
)

// Answers of a coordinator.
var (
	found  = group.Answer{Of: group.FindCoordinator, Host: "a", Port: 1}
	joined = group.Answer{Of: group.JoinGroup, Joined: group.Joined{Generation: 1, Assignor: group.Range, Leader: "m", Member: "m", Members: []group.Member{{ID: "m", Topics: []string{"t"}}}}}
	synced = group.Answer{Of: group.SyncGroup, Places: []group.Place{{Topic: "t", Partition: 1, Offset: -1}, {Topic: "t", Partition: 0, Offset: -1}}}
	begins = group.Answer{Of: group.OffsetFetch, Places: []group.Place{{Topic: "t", Partition: 0, Offset: 5}, {Topic: "t", Partition: 1, Offset: 7}}}
)

// fails returns what a coordinator answers that has an error.
func fails(of group.API, code int16) group.Answer { return group.Answer{Of: of, Code: code} }

// assigns returns an answer with other partitions.
func assigns(of group.API, all ...group.Place) group.Answer { return group.Answer{Of: of, Places: all} }

// both returns an answer of both partitions.
func both(of group.API) group.Answer {
	return assigns(of, group.Place{Topic: "t", Partition: 1}, group.Place{Topic: "t"})
}

// asks names what a member asks next.
func asks(n consumer.Need) string {
	switch {
	case n.Err != nil:
		return string(n.Err.Kind)
	case n.Topic != "":
		return "learn " + n.Topic
	case n.Request != nil:
		return n.Request.Of.String()
	}
	return "read"
}

// A member of two partitions goes from stage to stage, and behind each answer asks what is due.
func TestMembersAskWhatIsDue(t *testing.T) {
	ready := []group.Answer{found, joined, synced, begins, {Of: group.Heartbeat}}
	with := func(more ...group.Answer) []group.Answer { return append(ready[:4:4], more...) }
	const path = "FindCoordinator JoinGroup SyncGroup OffsetFetch "
	for name, tt := range map[string]struct {
		answers []group.Answer
		read    bool   // it reads three records of each partition first
		ends    bool   // its operations have their records
		want    string // what it asks, and errors
	}{
		"it reads":                          {ready[:4], false, false, path + "read"},
		"it commits":                        {with(both(group.OffsetCommit)), true, true, path + "OffsetCommit read"},
		"a coordinator names it first":      {[]group.Answer{found, {Of: group.JoinGroup, Code: 79, Joined: group.Joined{Member: "m"}}, joined, synced}, false, false, "FindCoordinator JoinGroup JoinGroup SyncGroup OffsetFetch"},
		"no name is no answer":              {[]group.Answer{found, fails(group.JoinGroup, 79)}, false, false, "FindCoordinator JoinGroup !server MEMBER_ID_REQUIRED JoinGroup"},
		"a commit of nothing":               {with(assigns(group.OffsetCommit)), true, true, path + "OffsetCommit !protocol OffsetCommit"},
		"a commit of another partition":     {with(assigns(group.OffsetCommit, group.Place{Topic: "t"}, group.Place{Topic: "t", Partition: 3})), true, true, path + "OffsetCommit !protocol OffsetCommit"},
		"a rebalance commits first":         {with(fails(group.Heartbeat, 27), both(group.OffsetCommit)), true, false, path + "read OffsetCommit JoinGroup"},
		"a rebalance of nothing read":       {with(fails(group.Heartbeat, 27)), false, false, path + "read JoinGroup"},
		"a rebalance while it syncs":        {[]group.Answer{found, joined, fails(group.SyncGroup, 27)}, false, false, "FindCoordinator JoinGroup SyncGroup JoinGroup"},
		"a wrong generation joins":          {with(fails(group.OffsetCommit, 22)), true, true, path + "OffsetCommit !server ILLEGAL_GENERATION JoinGroup"},
		"an unknown member joins":           {with(fails(group.OffsetCommit, 25)), true, true, path + "OffsetCommit !server UNKNOWN_MEMBER_ID JoinGroup"},
		"a coordinator that moves":          {with(fails(group.OffsetCommit, 16), found, both(group.OffsetCommit)), true, true, path + "OffsetCommit !server NOT_COORDINATOR FindCoordinator OffsetCommit read"},
		"a partition that is not there":     {[]group.Answer{found, joined, assigns(group.SyncGroup, group.Place{Topic: "t", Partition: 2})}, false, false, "FindCoordinator JoinGroup SyncGroup !protocol JoinGroup"},
		"a partition below 0":               {[]group.Answer{found, joined, assigns(group.SyncGroup, group.Place{Topic: "t", Partition: -1})}, false, false, "FindCoordinator JoinGroup SyncGroup !protocol JoinGroup"},
		"a topic that it does not read":     {[]group.Answer{found, joined, assigns(group.SyncGroup, group.Place{Topic: "u"})}, false, false, "FindCoordinator JoinGroup SyncGroup !protocol JoinGroup"},
		"a partition twice":                 {[]group.Answer{found, joined, assigns(group.SyncGroup, group.Place{Topic: "t"}, group.Place{Topic: "t"})}, false, false, "FindCoordinator JoinGroup SyncGroup !protocol JoinGroup"},
		"no partition":                      {[]group.Answer{found, joined, assigns(group.SyncGroup)}, false, false, "FindCoordinator JoinGroup SyncGroup Heartbeat"},
		"offsets of other partitions":       {[]group.Answer{found, joined, synced, assigns(group.OffsetFetch, group.Place{Topic: "t"}, group.Place{Topic: "t", Partition: 3})}, false, false, path + "!protocol OffsetFetch"},
		"offsets of too few partitions":     {[]group.Answer{found, joined, synced, assigns(group.OffsetFetch, group.Place{Topic: "t"})}, false, false, path + "!protocol OffsetFetch"},
		"an error of a group is passed on":  {[]group.Answer{found, fails(group.JoinGroup, 30)}, false, false, "FindCoordinator JoinGroup !server GROUP_AUTHORIZATION_FAILED JoinGroup"},
		"a coordinator that is not there":   {[]group.Answer{fails(group.FindCoordinator, 15)}, false, false, "FindCoordinator !server COORDINATOR_NOT_AVAILABLE FindCoordinator"},
		"a heartbeat of another generation": {with(fails(group.Heartbeat, 22)), false, false, path + "read !server ILLEGAL_GENERATION JoinGroup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
			m.Attends("").Arrives()
			m.Asked(true)
			var got []string
			next := func() { got = append(got, asks(m.Next(0, two, tt.ends))) }
			for _, a := range tt.answers {
				next()
				var err *http1.Error
				if a.Code != 0 {
					err = kafka.Told(a.Code)
				}
				if _, err = m.Heard(0, &a, err, two); err != nil {
					got = append(got, "!"+string(err.Kind))
				}
				if tt.read && a.Of == group.OffsetFetch && a.Code == 0 {
					readsThree(m)
				}
			}
			next()
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("got  %s\nwant %s", all, tt.want)
			}
		})
	}
}

// two says that each topic has two partitions.
func two(string) int { return 2 }

// readsThree reads three records of each partition, and returns from where.
func readsThree(m *consumer.Member) []kafka.Position {
	m.Moved()
	_, from := m.Reads().Next(func(string, int32) any { return 0 }, nil)
	all := make([]kafka.Found, len(from))
	for i, p := range from {
		all[i] = kafka.Found{At: i, Next: p.Offset + 3}
	}
	m.Reads().Moves(from, all)
	m.Moved()
	return from
}

// A member that users leave says goodbye on its last connection, commits then what was read, and owes what no
// answer confirms.
func TestMembersSayGoodbye(t *testing.T) {
	for _, tt := range []struct {
		asked bool // users ask it still
		links int
		code  int16 // of the commit's answer; below 0: none comes
		want  string
	}{
		{false, 1, 0, "[OffsetCommit LeaveGroup] "},
		{false, 1, -1, "[OffsetCommit LeaveGroup] group g: 6 offsets are read and not committed, and its next member reads them again: the coordinator has not confirmed the last commit"},
		{false, 1, 28, "[OffsetCommit LeaveGroup] group g: 6 offsets are read and not committed, and its next member reads them again: the broker answered INVALID_COMMIT_OFFSET_SIZE (28)"},
		{false, 2, 0, "[] [OffsetCommit LeaveGroup] "},
		{true, 1, -1, "[] group g: 6 offsets are read and not committed, and its next member reads them again: the coordinator has not confirmed the last commit"},
	} {
		m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
		for _, a := range []group.Answer{found, joined, synced, begins} {
			m.Next(0, two, false)
			m.Heard(0, &a, nil, two)
		}
		readsThree(m)
		m.Asked(tt.asked)
		for range tt.links {
			m.Attends("").Arrives()
		}
		got, last := "", false
		for range tt.links {
			var said []group.API
			for _, r := range m.Attends("").Departs() {
				said = append(said, r.Of)
				last = true
			}
			got += fmt.Sprint(said) + " "
		}
		if last && tt.code >= 0 {
			m.Attends("").Answered(group.Answer{Of: group.OffsetCommit, Code: tt.code, Places: both(group.OffsetCommit).Places})
			m.Attends("").Answered(group.Answer{Of: group.LeaveGroup})
		}
		if got += m.Owes(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A member says that it lives every three seconds, once for each answer, and has what the answer says.
func TestMembersLive(t *testing.T) {
	m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
	m.Attends("").Arrives()
	for _, a := range []group.Answer{found, joined, synced, begins} {
		if m.Attends("").Tick(int64(time.Hour)) != nil {
			t.Errorf("before %v it has nothing to keep", a.Of)
		}
		m.Next(0, two, false)
		m.Heard(0, &a, nil, two)
	}
	for i, tt := range []struct {
		at     time.Duration
		beats  bool
		answer bool
		code   int16
		next   string
	}{
		{2 * time.Second, false, false, 0, "read"},
		{3 * time.Second, true, false, 0, "read"},
		{9 * time.Second, false, true, 0, "Heartbeat"},
		{10 * time.Second, true, true, 27, "JoinGroup"},
	} {
		if r := m.Attends("").Tick(int64(tt.at)); (r != nil) != tt.beats {
			t.Errorf("%d: it beats: %v", i, r != nil)
		}
		if tt.answer {
			m.Attends("").Answered(group.Answer{Of: group.Heartbeat, Code: tt.code})
		}
		if got := asks(m.Next(int64(tt.at), two, false)); got != tt.next {
			t.Errorf("%d: it asks %s, want %s", i, got, tt.next)
		}
	}
}

// Connections to former coordinators keep silent, however many there are and however often it moves: the heartbeat
// and the goodbye go to the one that knows the member.
func TestMembersSpeakToTheirCoordinator(t *testing.T) {
	m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
	m.CoordinatedBy("a")
	for _, a := range []group.Answer{found, joined, synced, begins} {
		m.Next(0, two, false)
		m.Heard(0, &a, nil, two)
	}
	readsThree(m)
	a := m.Attends("a")
	a.Arrives()
	a.Arrives()
	if a.Tick(int64(3*time.Second)) == nil {
		t.Error("no heartbeat to the coordinator")
	}
	m.CoordinatedBy("b")
	if got := asks(m.Next(int64(4*time.Second), two, false)); got != "Heartbeat" {
		t.Errorf("it asks %s, and has no connection to its coordinator", got)
	}
	b := m.Attends("b")
	b.Arrives()
	a.Answered(fails(group.Heartbeat, 16))
	if got := asks(m.Next(int64(4*time.Second), two, false)); got != "read" {
		t.Errorf("it asks %s behind what a former coordinator says", got)
	}
	if a.Tick(int64(9*time.Second)) != nil || b.Tick(int64(9*time.Second)) == nil {
		t.Error("the heartbeat goes to a former coordinator")
	}
	b.Arrives()
	m.CoordinatedBy("c")
	if said := b.Departs(); len(said) > 0 {
		t.Errorf("it says goodbye to a former coordinator: %v", said)
	}
	m.CoordinatedBy("a")
	if m.Attends("a") != a || m.Attends("b") != b {
		t.Error("it does not know its connections any more")
	}
	if said := a.Departs(); len(said) > 0 {
		t.Errorf("it says goodbye, and a connection is left: %v", said)
	}
	if said := a.Departs(); len(said) != 2 || said[0].Of != group.OffsetCommit || said[1].Of != group.LeaveGroup {
		t.Errorf("its goodbye is %v", said)
	}
}

// A coordinator that changes there and back while a connection to it is dialled has that connection.
func TestAConnectionFindsItsMember(t *testing.T) {
	m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
	early := m.Attends("b") // a broker that is no coordinator yet
	m.CoordinatedBy("a")
	for _, a := range []group.Answer{found, joined, synced, begins} {
		m.Next(0, two, false)
		m.Heard(0, &a, nil, two)
	}
	readsThree(m)
	dialled := m.Attends("a")
	m.CoordinatedBy("b")
	m.CoordinatedBy("c")
	dialled.Arrives()
	m.CoordinatedBy("a")
	if got := asks(m.Next(0, two, false)); got != "read" {
		t.Errorf("it asks %s, and has a connection to its coordinator", got)
	}
	if said := dialled.Departs(); len(said) != 2 {
		t.Errorf("its goodbye is %v", said)
	}
	if m.Attends("a") != dialled || m.Attends("b") != early {
		t.Error("it does not know its connections any more")
	}
}

// Whatever a coordinator answers, a member commits nothing that it has not read, reads no partition that its topic
// has not, and asks on.
func TestMembersMeetAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := consumer.NewMember(consumer.Group{Name: "g", Assignor: group.Range, Topics: []string{"t"}, Start: kafka.Earliest})
		m.Attends("").Arrives()
		m.Asked(true)
		places := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) group.Place {
			return group.Place{
				Topic:     rapid.SampledFrom([]string{"t", "t", "t", "u"}).Draw(t, "topic"),
				Partition: rapid.Int32Range(-1, 2).Draw(t, "partition"), Offset: rapid.Int64Range(-2, 9).Draw(t, "offset"),
			}
		}), 0, 3)
		var assigned []group.Place
		for range rapid.IntRange(1, 80).Draw(t, "answers") {
			now := rapid.Int64Range(0, int64(time.Minute)).Draw(t, "now")
			if rapid.Bool().Draw(t, "beats") {
				if r := m.Attends("").Tick(now); r != nil && rapid.Bool().Draw(t, "is answered") {
					m.Attends("").Answered(group.Answer{Of: r.Of, Code: rapid.SampledFrom([]int16{0, 16, 22, 25, 27}).Draw(t, "code beside")})
				}
			}
			n := m.Next(now, two, rapid.Bool().Draw(t, "ends"))
			if n.Err == nil && n.Request == nil {
				for _, p := range readsThree(m) {
					if p.Topic != "t" || p.Partition < 0 || p.Partition > 1 {
						t.Fatalf("it reads %v", p)
					}
				}
				continue
			}
			if n.Request == nil {
				continue
			}
			if n.Find != (n.Request.Of == group.FindCoordinator) {
				t.Fatalf("%v goes to the wrong broker", n.Request.Of)
			}
			if n.Request.Of == group.OffsetCommit && !m.Dirty() {
				t.Fatal("it commits what it has not read")
			}
			a := group.Answer{Of: n.Request.Of, Code: rapid.SampledFrom([]int16{0, 0, 0, 0, 14, 15, 16, 22, 25, 27, 79, 82, 999, -1}).Draw(t, "code"), Host: "a", Port: 1}
			if a.Of == group.JoinGroup {
				a.Joined = group.Joined{Generation: rapid.Int32().Draw(t, "generation"), Leader: "m", Member: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "member"), Members: []group.Member{{ID: "m", Topics: []string{"t"}}, {ID: "n", Topics: []string{"t", "u"}}}}
			}
			if a.Places = places.Draw(t, "places"); a.Of == group.SyncGroup {
				assigned = a.Places
			} else if rapid.IntRange(0, 9).Draw(t, "tells of others") > 0 {
				a.Places = assigned
			}
			var err *http1.Error
			if a.Code != 0 {
				err = kafka.Told(a.Code)
			}
			m.Heard(now, &a, err, two)
		}
		m.Asked(false)
		m.Attends("").Departs()
		m.Owes()
	})
}
