package main

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/session"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

func newSubmitCommand() *cobra.Command {
	var (
		load source.Flags
		out  follow.Flags
		gate session.Flags
		job  submission
		wait bool
	)
	cmd := &cobra.Command{
		Use:   "submit FILE",
		Short: "run a load test on a cluster; prints the job's id",
		Example: "  job=$(hyperscale submit test.star --gate gate-1:9000)\n" +
			"  hyperscale submit test.star --gate gate-1:9000 --datacenters east,west --wait",
		Args: command.Exactly("FILE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"ui", "out", "out-wait", "live", "history"} {
				if cmd.Flags().Changed(name) && !wait && (name != "out" || out.Others()) {
					if name == "history" {
						return command.Usage("--history goes with --wait, which knows how the job ended: add it, or write calls and answers to a file with --journal")
					}
					return command.Usage("--%s goes with --wait: add it, or follow the job with `%s watch`", name, command.Called())
				}
			}
			load.Key = job.key
			program, plan, err := source.Read(args[0], &load, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if wait {
				out.Report(plan)
			}
			follower, err := follow.New(&out)
			if err != nil {
				return err
			}
			defer follower.Release()
			follower.File, follower.Run, gate.Note = args[0], follow.Origin(&program, plan), follower.Note
			job.sinks, _ = out.Sinks() // New has checked them
			gate.Near = len(program.Secrets) > 0
			s, err := session.Dial(&gate, follower.Logger)
			if err != nil {
				return err
			}
			defer s.Close()
			id, err := follower.Submit(cmd.Context(), s, job.message(&program, plan))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), id); err != nil {
				return err
			}
			if !wait {
				return follower.Leave(id)
			}
			result, err := follower.Follow(cmd.Context(), s, id, ui.NewModel(program.Main, plan))
			if err != nil {
				return err
			}
			return follower.Finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	out.AddNaming(flags) // before --history of the gates' flags
	gate.AddBoth(cmd)
	load.Add(flags)
	load.AddSecrets(flags)
	job.add(flags)
	flags.BoolVar(&wait, "wait", false, "follow the job to its end: summary and exit code as of run; ctrl-c cancels it")
	return cmd
}

// submission is what flags say of a job beside its file.
type submission struct {
	key         string
	datacenters []string
	count       uint32
	prefer      []string
	importance  string
	deadline    time.Duration
	least       uint32
	after       time.Duration
	sinks       []string // of the cluster
}

func (f *submission) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.datacenters, "datacenters", nil, "`names` of where to run, by comma; one that the gate chooses if not given")
	flags.Uint32Var(&f.count, "count", 0, "run on the best `n` datacenters, which the gate chooses once (default 1)")
	flags.StringSliceVar(&f.prefer, "prefer", nil, "`names` of datacenters to choose first, by comma; after a minute of waiting, others that have cores")
	flags.StringVar(&f.key, "key", "", "submitting the same twice with one key is one job; without --seed, the seed follows from it")
	ranks := message.Ranks()
	slices.SortFunc(ranks, func(a, b string) int { return rankOf(a).Class() - rankOf(b).Class() })
	command.AddChoice(flags, &f.importance, "importance", message.RankMedium.String(), "place in the gate's queue, which a long wait raises", ranks...)
	flags.Var(command.NewSpan(&f.deadline, time.Second), "deadline", "give the job up if it has not begun within this time, as in 10m")
	flags.Uint32Var(&f.least, "best-effort", 0, "end with the datacenters that have completed, at least `n`, once --best-effort-after is over; the others count nowhere")
	flags.Var(command.NewSpan(&f.after, time.Second), "best-effort-after", "how long after its dispatch the job waits for all datacenters, with --best-effort: 5m if not given")
}

// bestEffortAfter is how long a job waits for its last datacenters if no flag says so.
const bestEffortAfter = 5 * time.Minute

func (f *submission) bestEffort() message.BestEffort {
	if f.least > 0 {
		return message.BestEffort{Least: f.least, After: cmp.Or(f.after, bestEffortAfter)}
	}
	return message.BestEffort{After: f.after} // a gate rejects a time alone
}

func rankOf(name string) message.Rank { return message.Rank(slices.Index(message.Ranks(), name)) }

// message returns the request for a program. Without a key of its own, no other job is the same.
func (f *submission) message(program *message.Program, plan *message.Plan) *message.JobSubmit {
	return &message.JobSubmit{
		Key: cmp.Or(f.key, rand.Text()), Name: program.Main, Program: *program, Plan: *plan,
		Datacenters: f.datacenters, Rank: rankOf(f.importance), Deadline: f.deadline, Count: f.count, Preferred: f.prefer, BestEffort: f.bestEffort(),
		Outputs: message.SinkNames{List: f.sinks}, Sent: uint64(time.Now().UnixMilli()),
	}
}
