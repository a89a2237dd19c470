package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"hyperscale/core/archive"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node/nodetest"
)

// Stories of a ledger. Each command shows the ledger's requests and what it hands out:
//
//	open|claim|close j1             grant j1       of a claimed one
//	propose j1 tag record file...   await j1 tag   retry   resend j1   idle j1
//	write                           the role writes "v<n>" of each job that changed
//	large on|off                    its records are files
//	keep|fetch|borrow j1 file       read j1
//	update j1 [n]                   a majority takes the first n updates; refuse on|off
//	lose j1                         the register is lost
//	kept|refused file               fetched|away|missing file         answer j1
//	advance 5s
type story struct {
	*world
	large   bool
	version map[message.JobID]int
}

func TestStories(t *testing.T) {
	nodetest.Stories(t, func(t *testing.T, path string) {
		s := &story{world: newWorld(t.Errorf), version: map[message.JobID]int{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out = nil
			var args []string
			for _, a := range d.CmdArgs {
				args = append(args, a.Key)
			}
			s.obey(t, d.Cmd, args)
			for len(s.rejected) > 0 {
				o := s.rejected[0]
				s.rejected = s.rejected[1:]
				s.l.OnLease(&o)
			}
			for o, ok := s.l.Next(); ok; o, ok = s.l.Next() {
				s.tell(&o)
			}
			if len(s.out) == 0 {
				return "ok\n"
			}
			return strings.Join(s.out, "\n") + "\n"
		})
	})
}

func (s *story) tell(o *Outcome[string]) {
	text := fmt.Sprintf("%v %s", o.Kind, o.Tag)
	if o.Kind == Late {
		text = fmt.Sprintf("late %s", name(o.Job))
		var all []message.FileDigest
		//lint:orderfree sorted below
		for d := range s.kept {
			if !strings.HasPrefix(string(s.here[d]), "v") {
				all = append(all, d)
			}
		}
		slices.SortFunc(all, func(x, y message.FileDigest) int { return bytes.Compare(x[:], y[:]) })
		defer s.l.KeepAgain(s, o.Job, all)
	}
	if o.Err != nil {
		text += ": " + o.Err.Error()
	}
	s.say("! %s", text)
}

func (s *story) obey(t *testing.T, cmd string, args []string) {
	var job message.JobID
	if len(args) > 0 && strings.HasPrefix(args[0], "j") {
		job[0] = args[0][1] - '0'
		args = args[1:]
	}
	switch cmd {
	case "open":
		s.l.Open(job)
	case "claim":
		s.l.Claim(job)
	case "close":
		s.l.Close(job)
	case "propose":
		s.version[job]++
		var files [][]byte
		for _, f := range args[1:] {
			files = append(files, []byte(f))
		}
		record := strings.Join(append([]string{fmt.Sprint("v", s.version[job])}, args[1:]...), " ")
		s.l.Propose(s, job, []byte(record), files, args[0])
	case "await":
		s.version[job]++
		s.l.Await(job, args[0])
	case "write":
		for _, job := range s.l.Changed() {
			record := []byte(fmt.Sprint("v", s.version[job]))
			if s.large {
				d := archive.DigestOf(record)
				s.l.Write(s, job, append([]byte("="), d[:]...), record)
			} else {
				s.l.Write(s, job, record)
			}
		}
	case "idle":
		s.say("idle: %v, gathering: %v", s.l.Idle(job), s.l.Gathering(job))
	case "large":
		s.large = args[0] == "on"
	case "keep":
		s.l.Keep(s, job, []byte(args[0]), args[0])
	default:
		s.world.obey(t, cmd, job, args)
	}
}

// obey plays the registers and the archive.
func (w *world) obey(t *testing.T, cmd string, job message.JobID, args []string) {
	find := func(list []asked) int {
		for i, q := range list {
			if string(w.here[q.file]) == args[0] {
				return i
			}
		}
		t.Fatalf("the ledger does not ask for %s", args[0])
		return 0
	}
	switch cmd {
	case "fetch", "borrow":
		d := archive.DigestOf([]byte(args[0]))
		w.here[d] = []byte(args[0])
		if cmd == "fetch" {
			w.l.Fetch(w, job, d, args[0])
		} else {
			w.l.Borrow(w, job, d, args[0])
		}
	case "read":
		w.l.Read(w, job, "read")
	case "answer":
		w.l.OnLease(&lease.Outcome{Kind: lease.Read, Job: job, Ticket: w.reads[0].ticket})
		w.reads = w.reads[1:]
	case "grant":
		w.accept(job, 1)
	case "update":
		n := len(w.at(job).updates)
		if len(args) > 0 {
			_, _ = fmt.Sscan(args[0], &n)
		}
		w.accept(job, n)
	case "refuse":
		w.refuse = args[0] == "on"
	case "lose":
		w.lose(job)
	case "kept":
		w.keep(find(w.keeps), nil)
	case "refused":
		w.keep(find(w.keeps), archive.ErrFull)
	case "fetched":
		w.fetch(find(w.fetches), nil)
	case "away":
		w.fetch(find(w.fetches), archive.ErrUnreachable)
	case "missing":
		w.fetch(find(w.fetches), archive.ErrMissing)
	case "retry":
		w.l.Retry(w)
	case "resend":
		w.l.Resend(w, job)
	case "advance":
		d, err := time.ParseDuration(args[0])
		if err != nil {
			t.Fatal(err)
		}
		w.Advance(d)
	default:
		t.Fatalf("unknown command %s", cmd)
	}
}
