package nodetest

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/node"
)

// Run executes one command of a story and returns the lines that it caused, or "ok" if none.
// Commands:
//
//	start                        begin an incarnation
//	crash [disk=lost]            end it without telling; restart does both
//	restart [disk=lost] [lose=<prefix>]         ... the records of these keys
//	stop                         ask for a graceful end
//	peer <id> role=<role> [incarnation=n] [minor=n] [addr=a] [right=operator|submitter|viewer subject=s]
//	accept <peer>                the peer opens a stream to the node
//	opened <peer>                the oldest stream being opened to its address stands
//	refuse <addr> [unfit=...]    ... breaks instead, as its ends do not belong together
//	break <peer> [reason=...]    its newest stream breaks
//	receive <peer> <Message> Field=value ...    more fields one a line below
//	shed <peer> <Message> Field=value ...       it finds its lane full: the machine gets its stub
//	limit <peer> <reason with _> <retry after> <Message> Field=value ...    its entrance refuses it
//	names <name> [to=a,b] [ttl=d] [absent=true] [err=...]    the outcome of a look-up
//	mail [lost=n] [high=n] [load=n]             the state of the mailbox from now on
//	backlog <peer> <bytes>       so much waits to be written on its newest stream
//	datagram <peer> <Message> Field=value ...
//	command <Message> Field=value ...
//	advance <duration>
//	disk held | free | full | well              completions: kept back, released, failing, good again
//	stored [count] [err=text]    let held completions go
//	exec <run> <Message> Field=value ...
//	gone <run> [reason=...] [tail=...]
//	hide <name> ... / reveal <name> ...         lines of these messages and events; put, open, close
//	timers on | off              lines of timers
//	keys                         what is on disk
func (e *Env) Run(t testing.TB, d *datadriven.TestData) string {
	t.Helper()
	s := story{Env: e, t: t, d: d}
	s.obey()
	if out := e.Take(); out != "" {
		return out
	}
	return "ok\n"
}

// peers of a story, by name.
type peers map[string]node.Peer

type story struct {
	*Env
	t testing.TB
	d *datadriven.TestData
}

func (s *story) obey() {
	switch s.d.Cmd {
	case "start":
		s.Start()
	case "crash":
		s.crash()
	case "restart":
		s.crash()
		s.Start()
	case "stop":
		s.Stop()
	case "peer":
		s.peer()
	case "accept":
		s.Accept(s.who())
	case "opened":
		p := s.who()
		s.Opened(s.first(s.OpeningTo(p.Addr)), p)
	case "refuse":
		s.refuse()
	case "break":
		s.breaks()
	case "receive":
		p := s.who()
		s.Receive(s.last(s.StreamsOf(p.ID)), s.message(1))
	case "shed":
		p := s.who()
		s.Shed(s.last(s.StreamsOf(p.ID)), s.message(1).(node.Stubbed), node.Refusal{})
	case "limit":
		p := s.who()
		after, err := time.ParseDuration(s.word(2))
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		s.Shed(s.last(s.StreamsOf(p.ID)), s.message(3).(node.Stubbed), node.Refusal{Reason: strings.ReplaceAll(s.word(1), "_", " "), RetryAfter: after})
	case "backlog":
		p := s.who()
		if s.Waiting == nil {
			s.Waiting = map[node.StreamID]int{}
		}
		s.Waiting[s.last(s.StreamsOf(p.ID))] = int(s.number(s.word(1)))
	case "names":
		s.names()
	case "mail":
		s.Mail = node.Mail{Lost: uint32(s.count("lost")), High: uint8(s.count("high")), Load: uint8(s.count("load"))}
	case "datagram":
		s.ReceiveDatagram(s.who(), s.message(1))
	case "command":
		s.Command(s.message(0))
	case "advance":
		s.Advance(s.duration())
	case "disk":
		s.disc()
	case "stored":
		s.stored()
	case "exec":
		s.ExecSays(s.run(), s.message(1))
	case "gone":
		s.execGone(s.run(), s.option("reason"), s.option("tail"), s.option("lapsed") == "true")
	case "hide", "reveal":
		for i := range s.d.CmdArgs {
			s.Hidden[s.word(i)] = s.d.Cmd == "hide"
		}
	case "timers":
		s.Timers = s.word(0) == "on"
	case "keys":
		for _, k := range s.Disk() {
			s.line("%s", s.text.shorten(k))
		}
	default:
		s.d.Fatalf(s.t, "no such command")
	}
}

func (s *story) word(i int) string {
	if i >= len(s.d.CmdArgs) {
		s.d.Fatalf(s.t, "argument %d is missing", i+1)
	}
	return s.d.CmdArgs[i].Key
}

// option returns the value of key=..., or of a line `key: ...` below.
func (s *story) option(key string) string {
	for _, a := range s.d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	for _, l := range strings.Split(s.d.Input, "\n") {
		if v, ok := strings.CutPrefix(l, key+": "); ok {
			return v
		}
	}
	return ""
}

func (s *story) peer() {
	p := node.Peer{ID: node.ID(s.word(0)), Incarnation: 1, Addr: node.Addr(s.option("addr")), Source: s.option("source")}
	for r := range node.Role(16) {
		if r.Valid() && r.String() == s.option("role") {
			p.Role = r
		}
	}
	p.Grant.Subject = s.option("subject")
	for _, r := range []node.Right{node.RightOperate, node.RightSubmit, node.RightView} {
		if r.String() == s.option("right") {
			p.Grant.Right = r
		}
	}
	if !p.Role.Valid() {
		s.d.Fatalf(s.t, "role=%q is none", s.option("role"))
	}
	if n := s.option("incarnation"); n != "" {
		p.Incarnation = s.number(n)
	}
	if n := s.option("minor"); n != "" {
		p.Minor = uint16(s.number(n))
	}
	if s.peers == nil {
		s.peers = peers{}
	}
	s.peers[string(p.ID)] = p
}

func (s *story) who() node.Peer {
	p, ok := s.peers[s.word(0)]
	if !ok {
		s.d.Fatalf(s.t, "no peer is called %q: tell of it first", s.word(0))
	}
	return p
}

func (s *story) names() {
	n := node.Names{Name: node.Addr(s.word(0)), Absent: s.option("absent") == "true", Err: s.option("err")}
	if ttl := s.option("ttl"); ttl != "" {
		d, err := time.ParseDuration(ttl)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		n.TTL = d
	}
	if to := s.option("to"); to != "" {
		for a := range strings.SplitSeq(to, ",") {
			n.Addrs = append(n.Addrs, node.Addr(a))
		}
	}
	s.Env.Names(n)
}

func (s *story) crash() {
	s.Crash()
	if s.option("disk") == "lost" {
		s.LoseDisk()
	}
	if prefix := s.option("lose"); prefix != "" {
		s.LoseRecords(prefix)
	}
}

func (s *story) refuse() {
	opening := s.first(s.OpeningTo(node.Addr(s.word(0))))
	if why := s.option("unfit"); why != "" {
		s.Unfit(opening, why)
	} else {
		s.Break(opening, "connection refused")
	}
}

func (s *story) breaks() {
	reason := s.option("reason")
	if reason == "" {
		reason = "connection reset"
	}
	s.Break(s.last(s.StreamsOf(s.who().ID)), reason)
}

func (s *story) disc() {
	switch s.word(0) {
	case "held":
		s.Held = true
	case "free":
		s.Held = false
		for s.Pending() > 0 {
			s.Complete(1, s.Failure)
		}
	case "full":
		s.Failure = errors.New("no space left on device")
	case "well":
		s.Failure = nil
	default:
		s.d.Fatalf(s.t, "a disk is held, free, full or well")
	}
}

func (s *story) stored() {
	count := s.Pending()
	if len(s.d.CmdArgs) > 0 && len(s.d.CmdArgs[0].Vals) == 0 {
		count = int(s.number(s.word(0)))
	}
	var err error
	if text := s.option("err"); text != "" {
		err = errors.New(text)
	}
	s.Complete(count, err)
}

func (s *story) message(at int) node.Message {
	var fields []string
	for _, a := range s.d.CmdArgs[min(at+1, len(s.d.CmdArgs)):] {
		fields = append(fields, a.Key+"="+strings.Join(a.Vals, ","))
	}
	for _, l := range strings.Split(s.d.Input, "\n") {
		if l != "" {
			fields = append(fields, l)
		}
	}
	m, err := s.text.Parse(s.word(at), fields)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return m
}

func (s *story) duration() time.Duration {
	d, err := time.ParseDuration(s.word(0))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return d
}

func (s *story) run() node.ExecID { return node.ExecID(s.number(s.word(0))) }

func (s *story) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return n
}

// count returns the number of key=..., and 0 if there is none.
func (s *story) count(key string) uint64 {
	if text := s.option(key); text != "" {
		return s.number(text)
	}
	return 0
}

func (s *story) first(ids []node.StreamID) node.StreamID {
	if len(ids) == 0 {
		s.d.Fatalf(s.t, "there is no such stream")
	}
	return ids[0]
}

func (s *story) last(ids []node.StreamID) node.StreamID {
	s.first(ids)
	return ids[len(ids)-1]
}
