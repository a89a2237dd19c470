package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"hyperscale/core/election"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/ui"
)

// What `status --cluster --json` prints. Fields may be added, never renamed.
type clusterJSON struct {
	Gate     string        `json:"gate"`     // who answered, as it sees all that follows
	Standing string        `json:"standing"` // founding, joining, member
	Draining bool          `json:"draining"`
	Leader   string        `json:"leader"` // address, empty when none is known
	Term     uint64        `json:"term"`
	Gates    []string      `json:"gates"` // the configured set
	Members  []memberJSON  `json:"members"`
	Nodes    []nodeJSON    `json:"nodes"` // of datacenters
	Jobs     []jobLineJSON `json:"jobs"`  // the newest that this gate owns
	Leases   []leaseJSON   `json:"leases"`
	LeaseSum uint32        `json:"lease_sum"` // with those that are not listed
	Alarms   uint32        `json:"alarms"`    // since this gate started
	Alarm    string        `json:"alarm"`     // the newest that was not seen to end
	Warnings []string      `json:"warnings"`
}

type memberJSON struct {
	Node        string `json:"node"` // empty when it was never heard
	Address     string `json:"address"`
	Incarnation uint64 `json:"incarnation"`
	State       string `json:"state"` // unknown, alive, suspect, dead, left
	By          string `json:"by"`    // who raised the suspicion, or the death
	Reason      string `json:"reason"`
	SinceNS     int64  `json:"since_ns"`
	Draining    bool   `json:"draining"`
	Leader      bool   `json:"leader"`
}

type nodeJSON struct {
	Node        string `json:"node"`
	Role        string `json:"role"`
	Datacenter  string `json:"datacenter"`
	Incarnation uint64 `json:"incarnation"`
	State       string `json:"state"` // alive, suspect, dead, left, lost
	By          string `json:"by"`
	Draining    bool   `json:"draining"`
	SilentNS    int64  `json:"silent_ns"` // since it was last heard
	CoresTotal  uint32 `json:"cores_total"`
	CoresFree   uint32 `json:"cores_free"`
	Subjobs     uint32 `json:"subjobs"` // of jobs, that a manager owns
	Leader      bool   `json:"leader"`  // of its datacenter's managers
}

type jobLineJSON struct {
	Job      string `json:"job"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Position uint32 `json:"position"`
	AgeNS    int64  `json:"age_ns"`
}

type leaseJSON struct {
	Job      string `json:"job"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Holder   string `json:"holder"` // address, empty for none
	Fence    string `json:"fence"`  // epoch/ordinal of the holder's token
	LeftNS   int64  `json:"left_ns"`
	Released bool   `json:"released"`
}

// standing is all that one gate tells of its cluster.
type standing struct {
	cluster *message.ClusterStatus
	nodes   *message.StatusList
}

func askStanding(ctx context.Context, s *session) (standing, error) {
	var all standing
	answer, err := s.ask(ctx, &message.ClusterQuery{})
	if err != nil {
		return all, err
	}
	var ok bool
	if all.cluster, ok = answer.(*message.ClusterStatus); !ok {
		return all, unexpected(answer)
	}
	if answer, err = s.ask(ctx, &message.StatusQuery{}); err != nil {
		return all, err
	}
	if all.nodes, ok = answer.(*message.StatusList); !ok {
		return all, unexpected(answer)
	}
	return all, nil
}

func clusterStatus(ctx context.Context, s *session, w io.Writer, asJSON bool) error {
	all, err := askStanding(ctx, s)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, all.view())
	}
	return all.print(w)
}

func (s standing) view() clusterJSON {
	c := s.cluster
	out := clusterJSON{
		Gate: c.Gate, Standing: c.Standing, Draining: c.Draining, Leader: c.Leader, Term: c.Term, LeaseSum: c.LeaseSum, Alarms: c.Alarms, Alarm: c.Alarm,
		Gates: append([]string{}, c.Gates...), Warnings: append([]string{}, c.Warnings...),
		Members: []memberJSON{}, Nodes: []nodeJSON{}, Jobs: []jobLineJSON{}, Leases: []leaseJSON{},
	}
	for _, m := range c.Members {
		out.Members = append(out.Members, memberJSON{m.Node, m.Addr, m.Incarnation, m.State, m.By, m.Reason, int64(m.Since), m.Draining, m.Addr == c.Leader})
	}
	for _, n := range s.nodes.Nodes {
		out.Nodes = append(out.Nodes, nodeJSON{
			n.Node, node.Role(n.Role).String(), n.Datacenter, n.Incarnation, n.State, n.By, n.Draining, int64(n.Silent), n.CoresTotal, n.CoresFree, n.Subjobs, n.Leader,
		})
	}
	for _, j := range s.nodes.Jobs {
		out.Jobs = append(out.Jobs, jobLineJSON{j.Job.String(), j.Name, j.State.String(), j.Position, int64(j.Age)})
	}
	for _, l := range c.Leases {
		out.Leases = append(out.Leases, leaseJSON{l.Job.String(), l.Name, l.State.String(), l.Holder, l.Token.String(), int64(l.Left), l.Released})
	}
	return out
}

// nameOf is the gate at an address, which is all that is known of one never heard.
func (s standing) nameOf(address string) string {
	for _, m := range s.cluster.Members {
		if m.Addr == address && m.Node != "" {
			return m.Node
		}
	}
	return address
}

// print fits 80 columns as long as names are short; what is long comes last.
func (s standing) print(w io.Writer) error {
	if err := s.printHead(w); err != nil {
		return err
	}
	rows := [][]string{{"GATE", "ADDRESS", "INCARNATION", "STATE", "WHY"}}
	for _, m := range s.cluster.Members {
		rows = append(rows, []string{cmp.Or(m.Node, "-"), m.Addr, number(m.Incarnation), shownState(m.State, m.Draining), shorten(s.why(&m), 44)})
	}
	if err := printRows(w, rows); err != nil {
		return err
	}
	if err := s.printNodes(w); err != nil {
		return err
	}
	return s.printJobs(w)
}

// why a gate is as it is, in the eyes of the one that answers.
func (s standing) why(m *message.MemberInfo) string {
	switch {
	case m.State == "unknown":
		return "never heard: start it, or check its address"
	case m.State == "alive" && m.Addr == s.cluster.Leader:
		return "leads"
	case m.State == "alive":
		return ""
	}
	why := ui.Duration(m.Since) + " ago"
	if m.By != "" {
		why += " by " + m.By
	}
	if m.Reason != "" {
		why += ": " + m.Reason
	}
	return why
}

// termText tells a term of a group that was recovered apart from those before.
func termText(term uint64) string {
	if epoch, of := election.EpochOf(term); epoch > 0 {
		return fmt.Sprintf("%d of epoch %d", of, epoch)
	}
	return fmt.Sprint(term)
}

// printHead tells how the gate that answers stands, and what an operator should see.
func (s standing) printHead(w io.Writer) error {
	c := s.cluster
	leader := "no leader is known"
	if c.Leader != "" {
		leader = fmt.Sprintf("leader %s, term %s", s.nameOf(c.Leader), termText(c.Term))
	}
	lines := []string{fmt.Sprintf("as %s sees it: it is %s; %s", c.Gate, standingText(c), leader)}
	for _, text := range c.Warnings {
		lines = append(lines, "warning: "+text)
	}
	if c.Alarm != "" {
		lines = append(lines, fmt.Sprintf("alarm, of %d since it started: %s", c.Alarms, c.Alarm))
	}
	for i, line := range lines {
		lines[i] = ui.Clean(line)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n\n")
	return err
}

func standingText(c *message.ClusterStatus) string {
	text := fmt.Sprintf("a member of %d gates", len(c.Gates))
	switch {
	case len(c.Gates) == 1:
		text = "the only gate"
	case c.Standing == "founding":
		text = fmt.Sprintf("waiting for all of %d gates, to found their group", len(c.Gates))
	case c.Standing != "member":
		text = fmt.Sprintf("joining %d gates and answers for no job yet", len(c.Gates))
	}
	if c.Draining {
		text += ", draining"
	}
	return text
}

func shownState(state string, draining bool) string {
	if draining {
		return state + ", draining"
	}
	return state
}

func (s standing) printNodes(w io.Writer) error {
	if len(s.nodes.Nodes) == 0 {
		return nil
	}
	rows := [][]string{{"NODE", "ROLE", "DATACENTER", "INCARNATION", "STATE", "HEARD", "CORES", "FREE", "SUBJOBS"}}
	for _, n := range s.nodes.Nodes {
		state, subjobs := shownState(n.State, n.Draining), "-"
		if n.By != "" && n.State != "alive" {
			state += " by " + n.By
		}
		if n.Leader {
			state += ", leads"
		}
		if node.Role(n.Role) == node.RoleManager {
			subjobs = number(n.Subjobs)
		}
		rows = append(rows, []string{
			n.Node, node.Role(n.Role).String(), n.Datacenter, number(n.Incarnation), state, ui.Duration(n.Silent) + " ago", number(n.CoresTotal), number(n.CoresFree), subjobs,
		})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return printRows(w, rows)
}

// jobsShown bounds the jobs of the table; --json lists more.
const jobsShown = 30

func (s standing) printJobs(w io.Writer) error {
	if len(s.cluster.Leases) == 0 {
		return nil
	}
	position := map[message.JobID]uint32{}
	for _, j := range s.nodes.Jobs {
		position[j.Job] = j.Position
	}
	rows := [][]string{{"JOB", "NAME", "STATE", "HOLDER", "FENCE", "LEFT"}}
	for _, l := range s.cluster.Leases[:min(len(s.cluster.Leases), jobsShown)] {
		state, left := l.State.String(), ui.Duration(l.Left)
		if l.State == 0 {
			state = "-"
		}
		if n := position[l.Job]; n > 0 {
			state += " (" + number(n) + ")"
		}
		holder := s.nameOf(l.Holder)
		switch {
		case l.Released:
			holder, left = "-", "released"
		case l.Holder == "":
			holder, left = "-", "ran out"
		}
		rows = append(rows, []string{l.Job.String(), shorten(l.Name, 14), state, holder, l.Token.String(), left})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := printRows(w, rows); err != nil {
		return err
	}
	if more := int(s.cluster.LeaseSum) - jobsShown; more > 0 {
		_, err := fmt.Fprintf(w, "and %d more: --json lists up to %d\n", more, message.ClusterListed)
		return err
	}
	return nil
}

// shorten cuts a text that would break a table.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
