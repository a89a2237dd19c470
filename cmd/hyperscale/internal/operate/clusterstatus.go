package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/election"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/ui/units"
	"hyperscale/runtime/view"
)

func clusterStatus(ctx context.Context, s *session.Session, w io.Writer, asJSON bool) error {
	all, err := askStanding(ctx, s)
	if err != nil {
		return err
	}
	if asJSON {
		return command.PrintJSON(w, view.ClusterOf(all.cluster, all.nodes))
	}
	return all.print(w)
}

// termText distinguishes terms of a recovered group from those before the recovery.
func termText(term uint64) string {
	if epoch, of := election.EpochOf(term); epoch > 0 {
		return fmt.Sprintf("%d of epoch %d", of, epoch)
	}
	return fmt.Sprint(term)
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

// jobsShown bounds the jobs of the table; --json lists more.
const jobsShown = 30

// print fits 80 columns as long as names are short; long values come last.
func (s standing) print(w io.Writer) error {
	if err := s.printHead(w); err != nil {
		return err
	}
	rows := [][]string{{"GATE", "ADDRESS", "VERSION", "INCARNATION", "STATE", "WHY"}}
	for _, m := range s.cluster.Members {
		rows = append(rows, []string{cmp.Or(m.Node, "-"), m.Addr, cmp.Or(m.Version, "-"), command.Number(m.Incarnation), shownState(m.State, m.Draining), units.Shorten(s.why(&m), 44)})
	}
	if err := command.PrintRows(w, rows); err != nil {
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
	case m.State == "no manager":
		return "another gate runs its jobs, if one hears a manager"
	case m.State == "alive" && m.Addr == s.cluster.Leader:
		return "leads"
	case m.State == "alive":
		return ""
	}
	why := units.Duration(m.Since) + " ago"
	if m.By != "" {
		why += " by " + m.By
	}
	if m.Reason != "" {
		why += ": " + m.Reason
	}
	return why
}

// printHead prints the state of the gate that answers, and its alarms.
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
		lines[i] = units.Clean(line)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n\n")
	return err
}

func (s standing) printNodes(w io.Writer) error {
	if len(s.nodes.Nodes) == 0 {
		return nil
	}
	rows := [][]string{{"NODE", "ROLE", "DATACENTER", "VERSION", "INCARNATION", "STATE", "HEARD", "CORES", "FREE", "SUBJOBS"}}
	for _, n := range s.nodes.Nodes {
		state, subjobs := shownState(n.State, n.Draining), "-"
		if n.By != "" && n.State != "alive" {
			state += " by " + n.By
		}
		if n.Leader {
			state += ", leads"
		}
		if node.Role(n.Role) == node.RoleManager {
			subjobs = command.Number(n.Subjobs)
		}
		rows = append(rows, []string{
			n.Node, node.Role(n.Role).String(), n.Datacenter, cmp.Or(n.Version, "-"), command.Number(n.Incarnation), state, units.Duration(n.Silent) + " ago", command.Number(n.CoresTotal), command.Number(n.CoresFree), subjobs,
		})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return command.PrintRows(w, rows)
}

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
		state, left := l.State.String(), units.Duration(l.Left)
		if l.State == 0 {
			state = "-"
		}
		if n := position[l.Job]; n > 0 {
			state += " (" + command.Number(n) + ")"
		}
		holder := s.nameOf(l.Holder)
		switch {
		case l.Released:
			holder, left = "-", "released"
		case l.Unheard:
			holder, left = "not known", "-"
		case l.Holder == "": // a gate of an older version does not say that it does not know
			holder, left = "-", "ran out"
		}
		rows = append(rows, []string{l.Job.String(), units.Shorten(l.Name, 14), state, holder, l.Token.String(), left})
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := command.PrintRows(w, rows); err != nil {
		return err
	}
	if more := int(s.cluster.LeaseSum) - jobsShown; more > 0 {
		_, err := fmt.Fprintf(w, "and %d more: --json lists up to %d\n", more, message.ClusterListed)
		return err
	}
	return nil
}
