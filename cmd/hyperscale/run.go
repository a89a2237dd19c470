package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/runtime/exec"
)

// runFlags are all flags of run.
type runFlags struct {
	load  source.Flags
	url   urlFlags
	out   follow.Flags
	cores uint64
	exec  exec.Config // memory_max alone
	debug bool

	metrics string
}

func newRunCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|URL",
		Short: "run a load test on this machine",
		Long: `Run a load test on this machine. The command starts a whole cluster for it on
loopback (gate, manager, worker, one executor a core), and leaves nothing behind.`,
		Example: "  hyperscale run test.star --vus 200 --duration 1m --set target=http://localhost:3000\n" +
			"  hyperscale run http://localhost:3000/ --vus 64 --duration 10s --save test.star\n" +
			"  hyperscale run test.star --ui ci --out json=result.json",
		Args: command.Exactly("FILE or URL"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			program, plan, err := f.program(cmd, args[0])
			if err != nil {
				return err
			}
			if f.debug {
				for _, name := range []string{"vus", "duration", "rate", "iterations", "stage", "cores", "ui", "out", "metrics"} {
					if cmd.Flags().Changed(name) {
						return command.Usage("--%s says nothing to --debug, which runs one virtual user once: leave one of them out", name)
					}
				}
				return debugRun(cmd, program, filepath.Dir(args[0]))
			}
			if most := len(exec.Usable()); f.cores > uint64(most) {
				return command.Usage("--cores = %d is more than this machine has: give at most %d, or leave it out", f.cores, most)
			}
			f.out.Report(plan)
			follower, err := follow.New(&f.out)
			if err != nil {
				return err
			}
			defer follower.Close()
			if err := follower.ServeMetrics(f.metrics); err != nil {
				return err
			}
			follower.File, follower.Run = args[0], follow.Origin(&program, plan)
			if command.IsURL(args[0]) {
				if follower.Run.Files[0].Text, err = f.url.shown(args[0]); err != nil {
					return err
				}
			}
			result, err := runLocally(cmd.Context(), follower, jobSpec{name: titleOf(args[0], &program), program: program, plan: plan, cores: int(f.cores), memory: f.exec.MemoryMax, feeds: filepath.Dir(args[0])})
			if err != nil {
				return err
			}
			return follower.Finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	f.load.Add(flags)
	f.load.AddSecrets(flags)
	command.AddCount(flags, &f.cores, "cores", 0, 1, 1024, "cores to run on; all physical cores but one if not given")
	f.exec = exec.Default()
	command.AddSetting(flags, f.exec.Settings()[0], "executor-memory", "resident memory of one executor, which is ended above it")
	f.out.Add(flags)
	flags.StringVar(&f.metrics, "metrics", "", "serve the run's metrics to Prometheus while it lasts, at `ADDR`/metrics")
	flags.BoolVar(&f.debug, "debug", false, "one virtual user, one iteration, every request and response shown")
	f.url.add(flags)
	return cmd
}

func (f *runFlags) program(cmd *cobra.Command, arg string) (message.Program, *message.Plan, error) {
	if command.IsURL(arg) {
		return f.url.program(arg, &f.load)
	}
	for _, name := range urlFlagNames {
		if cmd.Flags().Changed(name) {
			return message.Program{}, nil, command.Usage("--%s goes with a URL, and %s is a file: change the file instead", name, arg)
		}
	}
	if err := refuseAddress(arg); err != nil {
		return message.Program{}, nil, err
	}
	return source.Read(arg, &f.load, cmd.ErrOrStderr())
}
