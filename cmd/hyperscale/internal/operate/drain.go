package operate

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of waiting for a node that drains.
const (
	drainLook  = 250 * time.Millisecond // between two looks
	drainAgain = 2 * time.Second        // the command repeats an order without a visible effect: it may have been lost
	drainMax   = 5 * time.Minute
)

// NewDrainCommand drains a node.
func NewDrainCommand() *cobra.Command {
	var (
		gate    session.Flags
		log     command.LogFlags
		undo    bool
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "drain NODE",
		Short: "order a node to take no new work, and wait until it owns nothing",
		Long: `Order a node to take no new work, and wait until it owns nothing.

A gate hands its jobs to the other gates, a manager its subjobs to the other
managers of its datacenter; what runs goes on. A worker ends what it runs. The node
goes on running and keeps the order over a restart, until --undo. SIGTERM drains a
node as well, then ends it.`,
		Example: "  hyperscale drain gate-2 --gate gate-1:9000\n  hyperscale drain gate-2 --gate gate-1:9000 --undo",
		Args:    command.Exactly("NODE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			s, err := session.Dial(&gate, log.Logger(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			defer s.Close()
			d := &drain{session: s, name: args[0], undo: undo, progress: cmd.ErrOrStderr()}
			err = d.wait(ctx, timeout)
			if err != nil && ctx.Err() != nil {
				return command.Exit(command.ExitInterrupted, fmt.Errorf("the order stands: %s goes on draining; take it back with --undo", args[0]))
			}
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), d.done())
			}
			return err
		}),
	}
	flags := cmd.Flags()
	gate.Add(cmd)
	flags.BoolVar(&undo, "undo", false, "let it take work again")
	command.AddSpan(flags, &timeout, "timeout", drainMax, time.Second, "how long to wait until it owns nothing")
	log.Add(flags, "error")
	return cmd
}

// drain is one order and its observed effect.
type drain struct {
	session  *session.Session
	name     string
	undo     bool
	progress io.Writer
	told     string
}

// load is what a node has left to hand over.
type load struct {
	found    bool
	draining bool
	left     int
	what     [2]string // of what: one, and several
	stuck    string    // why it cannot get less, where it cannot
}

func (l load) rest() string {
	if l.left == 1 {
		return "1 " + l.what[0]
	}
	return fmt.Sprintf("%d %s", l.left, l.what[1])
}

// wait gives the order until it is seen obeyed, then looks until nothing is left.
func (d *drain) wait(ctx context.Context, most time.Duration) error {
	deadline, ordered := time.Now().Add(most), time.Time{}
	for {
		all, err := askStanding(ctx, d.session)
		if err != nil {
			return err
		}
		now := d.look(all)
		if !now.found {
			return d.unknown(all)
		}
		if now.draining == d.undo && time.Since(ordered) >= drainAgain {
			if _, err := d.session.Ask(ctx, &message.DrainRequest{Node: d.name, Undo: d.undo}); err != nil {
				return err
			}
			ordered = time.Now()
		}
		switch {
		case now.draining == d.undo:
			d.tell(fmt.Sprintf("%s has got the order", d.name))
		case d.undo || now.left == 0:
			return nil
		case now.stuck != "":
			return command.Exit(command.ExitFailed, fmt.Errorf("%s takes no new work; what it has stays with it (%s): %s", d.name, now.rest(), now.stuck))
		default:
			d.tell(fmt.Sprintf("%s drains: %s left", d.name, now.rest()))
		}
		if time.Now().After(deadline) {
			return d.late(now, most)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(drainLook):
		}
	}
}

// tell prints a line that differs from the last one.
func (d *drain) tell(line string) {
	if line != d.told {
		d.told = line
		_, _ = fmt.Fprintln(d.progress, line) // progress: a failed write must not end the drain
	}
}

func (d *drain) done() string {
	if d.undo {
		return d.name + " takes work again"
	}
	return d.name + " owns nothing: you can stop it"
}

func (d *drain) late(now load, most time.Duration) error {
	if now.draining == d.undo {
		return command.Exit(command.ExitFailed, fmt.Errorf("%s was not seen to obey within %v: look at its log, and whether it is alive in `%s status --cluster`", d.name, most, command.Called()))
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("%s drains and has %s left after %v: wait longer with --timeout, or cancel the jobs", d.name, now.rest(), most))
}

// look finds the node in a gate's answer.
func (d *drain) look(s standing) load {
	for _, m := range s.cluster.Members {
		if m.Node == d.name {
			return s.ofGate(&m)
		}
	}
	for _, n := range s.nodes.Nodes {
		if n.Node != d.name {
			continue
		}
		l := load{found: n.State != "dead" && n.State != "left" && n.State != "lost", draining: n.Draining}
		if node.Role(n.Role) == node.RoleWorker {
			l.left, l.what = int(n.CoresTotal-min(n.CoresFree, n.CoresTotal)), [2]string{"busy core", "busy cores"}
			return l
		}
		l.left, l.what = int(n.Subjobs), [2]string{"subjob", "subjobs"}
		if s.managers(n.Datacenter) == 1 {
			l.stuck = "no other manager of " + n.Datacenter + " is alive that could own them; they end here"
		}
		return l
	}
	return load{}
}

// ofGate counts the jobs that the registers give to a gate.
func (s standing) ofGate(m *message.MemberInfo) load {
	l := load{found: m.State == "alive" || m.State == "no manager" || m.State == "suspect", draining: m.Draining, what: [2]string{"job", "jobs"}}
	for _, lease := range s.cluster.Leases {
		if lease.Holder == m.Addr {
			l.left++
		}
	}
	others := 0
	for _, o := range s.cluster.Members {
		if o.Addr != m.Addr && (o.State == "alive" || o.State == "no manager") && !o.Draining {
			others++
		}
	}
	if others == 0 {
		l.stuck = "no other gate is alive that takes them; they go on here until they end"
	}
	return l
}

// managers counts those of a datacenter that can own subjobs.
func (s standing) managers(datacenter string) int {
	n := 0
	for _, o := range s.nodes.Nodes {
		if node.Role(o.Role) != node.RoleManager || o.Datacenter != datacenter {
			continue
		}
		switch o.State {
		case "alive", "stalled", "stuck", "full":
			n++
		}
	}
	return n
}

// unknown names those that could be meant.
func (d *drain) unknown(s standing) error {
	var names []string
	for _, m := range s.cluster.Members {
		if m.Node == d.name {
			return command.Exit(command.ExitFailed, fmt.Errorf("gate %s is %s and owns nothing: other gates own its jobs, or will once their leases end", d.name, m.State))
		}
		if m.Node != "" {
			names = append(names, m.Node)
		}
	}
	for _, n := range s.nodes.Nodes {
		if n.Node == d.name {
			return command.Exit(command.ExitFailed, fmt.Errorf("%s %s is %s and owns nothing", node.Role(n.Role), d.name, n.State))
		}
		names = append(names, n.Node)
	}
	return command.Usage("no node of this cluster is called %q%s: it has %s", d.name, command.DidYouMean(d.name, names), strings.Join(names, ", "))
}
