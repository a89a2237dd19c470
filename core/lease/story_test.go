package lease

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// Stories of a group of members. Commands:
//
//	group a b c [lease=10s]      members, not started
//	start a ... | crash a [disk=lost] | recover a
//	acquire a j1 seed            update a j1 record [ticket]
//	release|forget|abandon a j1  read a j1 [ticket]      transfer a j1 b
//	bury a j1 epitaph
//	advance 5s
//	cut a b [oneway] | heal      the network loses messages between them
//	hold a b [what]              it holds messages from a to b that contain what ...
//	free                         ... until now; deliver, deliver twice: those that it holds
//	disk a held|free|full|well|torn
//	members a a b                a is configured with the set a, b
//	replace a b c                a gives the seat of b to c
//	quiet a, loud a              it runs, and the others do not hear it, or do: links may fail one way
//	drift a 10000                its clock's rate, in parts per million
//	counts a                     what it remembers, and what its disk has
//	holds a j1                   whether it does, and what its acceptor sees
//	show messages | hide messages
type story struct {
	*group
	t     *testing.T
	out   strings.Builder
	cuts  map[[2]int]bool
	holds []hold
	wire  bool
}

type hold struct {
	from, to int
	what     string
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		s := &story{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.obey(d)
			if s.out.Len() == 0 {
				return "ok\n"
			}
			return s.out.String()
		})
	})
}

func (s *story) build(d *datadriven.TestData) {
	var names []string
	c := small()
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			names = append(names, a.Key)
		} else if a.Key == "lease" {
			c.Lease, _ = time.ParseDuration(a.Vals[0])
		} else if a.Key == "tombstone" {
			c.TombstoneAge, _ = time.ParseDuration(a.Vals[0])
		}
	}
	s.group = newGroup(names, c, 1)
	s.cuts, s.holds = map[[2]int]bool{}, nil
	s.latency = func(from, to int, m node.Message) []time.Duration {
		if s.cuts[[2]int{from, to}] {
			return nil
		}
		return []time.Duration{time.Millisecond}
	}
	s.held = func(from, to int, m node.Message) bool {
		if s.wire {
			fmt.Fprintf(&s.out, "%s -> %s %s\n", s.members[from].name, s.members[to].name, contents(m))
		}
		return slices.ContainsFunc(s.holds, func(h hold) bool {
			return h.from == from && h.to == to && strings.Contains(contents(m), h.what)
		})
	}
	s.watch = func(h *host, e node.Event) {
		if text := words(e); text != "" {
			fmt.Fprintf(&s.out, "! %s %s %s\n", e.EventName(), h.name, text)
		}
	}
	s.tell = func(h *host, o Outcome) { fmt.Fprintf(&s.out, "%s: %s\n", h.name, told(o)) }
}

func job(id message.JobID) string { return "j" + strconv.Itoa(int(id[0])) }

// contents describes a message's content.
func contents(m node.Message) string {
	f, ok := m.(*message.LeaseFrame)
	if !ok {
		return message.Name(m.Kind())
	}
	var w []string
	for _, m := range f.Prepares {
		w = append(w, fmt.Sprintf("prepare %s %v", job(m.Job), m.Token))
	}
	for _, m := range f.Promises {
		w = append(w, fmt.Sprintf("promise %s %v of %v", job(m.Job), m.Token, m.Accepted.Token))
	}
	for _, m := range f.Refusals {
		w = append(w, fmt.Sprintf("refusal %s %v promised %v held %v", job(m.Job), m.Token, m.Promised, m.Held))
	}
	for _, m := range f.Accepts {
		kind := "accept"
		if m.Renewal {
			kind = "renewal"
		} else if m.Released {
			kind = "release"
		}
		w = append(w, fmt.Sprintf("%s %s %v seq %d rev %d %q", kind, job(m.Job), m.Token, m.Seq, m.Rev, m.Record))
	}
	for _, m := range f.Accepteds {
		w = append(w, fmt.Sprintf("accepted %s %v seq %d", job(m.Job), m.Token, m.Seq))
	}
	for _, m := range f.Queries {
		w = append(w, fmt.Sprintf("query %s", job(m.Job)))
	}
	for _, m := range f.Answers {
		w = append(w, fmt.Sprintf("answer %s %v %q", job(m.Job), m.Accepted.Token, m.Accepted.Record))
	}
	for _, m := range f.Consents {
		w = append(w, fmt.Sprintf("consent %s %v", job(m.Job), m.Token))
	}
	return strings.Join(w, "; ")
}

func words(e node.Event) string {
	switch e := e.(type) {
	case event.LeaseGranted:
		return fmt.Sprintf("%s %v", job(e.Job), e.Token)
	case event.LeaseExtended:
		return fmt.Sprintf("%s %v", job(e.Job), e.Token)
	case event.LeaseEnded:
		return fmt.Sprintf("%s %v %s", job(e.Job), e.Token, e.Reason)
	case event.LeaseCalled:
		return fmt.Sprintf("%s call %d %s %v", job(e.Job), e.Call, e.What, e.Token)
	case event.LeaseReturned:
		return fmt.Sprintf("%s call %d ok=%v %v", job(e.Job), e.Call, e.OK, e.Token)
	case event.AcceptorWrote:
		return fmt.Sprintf("%s promised %v accepted %v seq %d", job(e.Job), e.Promised, e.Token, e.Seq)
	case event.GroupJoined:
		return fmt.Sprintf("generation %d %s", e.Generation, e.How)
	case event.GroupRefused:
		return fmt.Sprintf("%s: %s not %s", e.Peer, e.Theirs, e.Ours)
	case event.GroupMoved:
		return fmt.Sprintf("version %d %s", e.Version, e.Set)
	case event.GroupAlarm:
		if e.Speaks {
			return e.Reason
		}
		return "silent: " + e.Reason
	case event.Reached:
		return e.What
	case event.StoreFailed:
		return e.What + ": " + e.Err
	case event.Shed:
		return e.What + ": " + e.Why
	case event.Ignored:
		return e.Message + " " + e.Why
	}
	return ""
}

func told(o Outcome) string {
	w := []string{o.Kind.String()}
	add := func(ok bool, format string, args ...any) {
		if ok {
			w = append(w, fmt.Sprintf(format, args...))
		}
	}
	add(o.Job != message.JobID{}, "%s", job(o.Job))
	add(!o.Token.Zero(), "%v", o.Token)
	add(o.Record != nil, "%q", o.Record)
	add(o.Fresh, "fresh")
	add(o.Again, "again")
	add(o.Ticket != 0, "ticket %d", o.Ticket)
	add(o.Holder != "", "holder %s", o.Holder)
	add(o.Left != 0, "left %v", o.Left.Round(time.Millisecond))
	add(o.Mine, "mine")
	add(o.Consented, "consented")
	add(o.Found, "found %v rev %d %q", o.State.Token, o.State.Rev, o.State.Record)
	add(o.Reason != "", "%s", o.Reason)
	add(o.Err != nil, "(%v)", o.Err)
	return strings.Join(w, " ")
}

func (s *story) arg(d *datadriven.TestData, i int) string {
	if i >= len(d.CmdArgs) {
		return ""
	}
	return d.CmdArgs[i].Key
}

func (s *story) obey(d *datadriven.TestData) {
	switch d.Cmd {
	case "group":
		s.build(d)
	case "start", "crash", "recover", "drift", "disk", "members", "quiet", "loud":
		s.obeyNode(d)
	case "advance":
		span, err := time.ParseDuration(s.arg(d, 0))
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		s.advance(span)
	case "cut":
		a, b := s.host(s.arg(d, 0)).index, s.host(s.arg(d, 1)).index
		s.cuts[[2]int{a, b}] = true
		s.cuts[[2]int{b, a}] = s.arg(d, 2) != "oneway"
	case "heal":
		clear(s.cuts)
	case "hold":
		s.holds = append(s.holds, hold{s.host(s.arg(d, 0)).index, s.host(s.arg(d, 1)).index, s.arg(d, 2)})
	case "free":
		s.holds = nil
	case "deliver":
		kept := s.kept
		if s.arg(d, 0) == "twice" {
			kept = append(kept, kept...)
		}
		s.kept = nil
		for _, e := range kept {
			s.after(time.Millisecond, func() { s.group.deliver(e) })
		}
		s.advance(10 * time.Millisecond)
	case "replace":
		h := s.host(s.arg(d, 0))
		if err := h.r.Replace(h, node.Addr(s.arg(d, 1)+":1"), node.Addr(s.arg(d, 2)+":1")); err != nil {
			fmt.Fprintf(&s.out, "%v\n", err)
		}
		s.advance(100 * time.Millisecond)
	case "counts":
		h := s.host(s.arg(d, 0))
		kept := 0
		//lint:orderfree a count
		for k := range h.records {
			if strings.Contains(k, "/register/") {
				kept++
			}
		}
		fmt.Fprintf(&s.out, "%d registers, %d on its disk\n", len(h.r.registers)+h.r.tombs.Len(), kept)
	case "show", "hide":
		s.wire = d.Cmd == "show"
	default:
		s.call(d)
	}
}

func (s *story) obeyNode(d *datadriven.TestData) {
	h := s.host(s.arg(d, 0))
	switch d.Cmd {
	case "start":
		for i := range d.CmdArgs {
			s.host(s.arg(d, i)).begin()
		}
		s.advance(50 * time.Millisecond)
	case "recover":
		h.config.Recover = true
		h.begin()
		h.config.Recover = false
	case "crash":
		h.crash(len(d.CmdArgs) > 1)
	case "members":
		h.config.Members = nil
		for i := 1; i < len(d.CmdArgs); i++ {
			h.config.Members = append(h.config.Members, node.Addr(s.arg(d, i)+":1"))
		}
	case "quiet", "loud":
		h.quiet = d.Cmd == "quiet"
	case "drift":
		n, err := strconv.Atoi(s.arg(d, 1))
		if err != nil {
			d.Fatalf(s.t, "%v", err)
		}
		h.ppm = int64(n)
	case "disk":
		switch s.arg(d, 1) {
		case "held":
			h.stuck = true
		case "free":
			h.stuck = false
			for _, f := range h.pending {
				f()
			}
			h.pending = nil
		case "full", "well":
			h.failing = s.arg(d, 1) == "full"
		case "torn":
			//lint:orderfree each record is torn alone
			for k, v := range h.records {
				h.records[k] = v[:len(v)/2]
			}
		}
	}
}

func (s *story) call(d *datadriven.TestData) {
	h := s.host(s.arg(d, 0))
	n, err := strconv.Atoi(strings.TrimPrefix(s.arg(d, 1), "j"))
	if err != nil {
		d.Fatalf(s.t, "no job: %v", err)
	}
	j, third := jobN(n), s.arg(d, 2)
	ticket, _ := strconv.ParseUint(s.arg(d, len(d.CmdArgs)-1), 10, 64)
	switch d.Cmd {
	case "acquire":
		h.r.Acquire(h, j, []byte(third))
	case "update":
		h.r.Update(h, j, []byte(third), ticket)
	case "release":
		h.r.Release(h, j)
	case "forget":
		h.r.Forget(h, j)
	case "bury":
		if !h.r.Bury(h, j, []byte(third)) {
			s.out.WriteString("not buried\n")
		}
	case "abandon":
		h.r.Abandon(h, j)
	case "read":
		h.r.Read(h, j, ticket)
	case "transfer":
		h.r.Transfer(h, j, s.host(third).self.Addr)
	case "holds":
		token, ok := h.r.Holds(h.Now(), j)
		fmt.Fprintf(&s.out, "holds %v %v", ok, token)
		if sight, ok := h.r.Seen(h.Now(), j); ok {
			fmt.Fprintf(&s.out, "; sees %s %v left %v released %v copied %v %q", sight.Holder, sight.Token, sight.Left.Round(time.Millisecond), sight.Released, sight.Copied, sight.Record)
		}
		s.out.WriteString("\n")
	default:
		d.Fatalf(s.t, "no such command")
	}
	h.drain()
	s.advance(0)
}
