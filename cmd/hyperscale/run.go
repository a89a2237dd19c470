package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/author"
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/trace"
)

// runFlags are all flags of run.
type runFlags struct {
	load  source.Flags
	url   urlFlags
	out   follow.Flags
	cores uint64
	exec  exec.Config // memory_max and surroundings alone
	debug bool

	metrics string
	trace   string // which iterations to sample, and where to
	custom  bool   // programs of the file's folder may run
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
			f.allow(args[0])
			if f.debug {
				for _, name := range []string{"vus", "duration", "rate", "iterations", "stage", "cores", "ui", "out", "out-wait", "config", "live", "metrics", "trace"} {
					if cmd.Flags().Changed(name) {
						return command.Usage("--%s says nothing to --debug, which runs one virtual user once: leave one of them out", name)
					}
				}
				return debugRun(cmd, program, filepath.Dir(args[0]), &f.exec.Surroundings)
			}
			if err := f.checkExecutors(); err != nil {
				return err
			}
			f.out.Report(plan)
			follower, err := follow.New(&f.out)
			if err != nil {
				return err
			}
			defer follower.Release()
			if err := follower.ServeMetrics(f.metrics); err != nil {
				return err
			}
			follower.File, follower.Run = args[0], follow.Origin(&program, plan)
			if command.IsURL(args[0]) {
				if follower.Run.Files[0].Text, err = f.url.shown(args[0]); err != nil {
					return err
				}
			}
			samples, err := f.samples()
			if err != nil {
				return err
			}
			result, err := runLocally(cmd.Context(), follower, jobSpec{name: titleOf(args[0], &program), program: program, plan: plan, cores: int(f.cores), memory: f.exec.MemoryMax, trace: samples, around: f.exec.Surroundings, feeds: filepath.Dir(args[0])})
			told := f.sampled(cmd, samples)
			if err != nil {
				return err
			}
			if told != nil {
				return told
			}
			return follower.Finish(cmd, result)
		}),
	}
	flags := cmd.Flags()
	f.load.Add(flags)
	f.load.AddSecrets(flags)
	command.AddCount(flags, &f.cores, "cores", 0, 1, 1024, "cores to run on; all physical cores but one if not given")
	f.addExecutors(flags)
	f.out.AddDelivering(flags)
	flags.StringVar(&f.metrics, "metrics", "", "serve the run's metrics to Prometheus while it lasts, at `ADDR`/metrics")
	flags.StringVar(&f.trace, "trace", "", "write samples of requests, those of one iteration in N, as lines of JSON: `1/N[=FILE]`, to "+trace.DefaultName+" if no file is named")
	flags.BoolVar(&f.debug, "debug", false, "one virtual user, one iteration, every request and response shown")
	f.url.add(flags)
	return cmd
}

// allow lets custom programs run that lie below the file's folder, if the user says so.
func (f *runFlags) allow(file string) {
	f.exec.CustomRemedy = author.CustomRemedy
	if f.custom && !command.IsURL(file) {
		f.exec.Custom = filepath.Dir(file)
	}
}

// addExecutors adds the flags that say what executors get of this machine.
func (f *runFlags) addExecutors(flags *pflag.FlagSet) {
	f.exec = exec.Default()
	flags.BoolVar(&f.custom, "allow-custom", false, author.AllowCustom)
	command.AddSetting(flags, f.exec.Settings()[0], "executor-memory", "memory of one executor: throttled from 85 % on, and ended above it")
	flags.StringSliceVar(&f.exec.Pass, "executor-env", nil, "`A,B`: variables of the environment that executors get beside TZ, SSL_CERT_FILE and a few more")
	// The file is the user's own, and a filter costs each system call.
	command.AddChoice(flags, (*string)(&f.exec.Sandbox), "executor-sandbox", string(exec.SandboxOff), "executors give up system calls that they never need, if the kernel lets them: auto, require, off",
		string(exec.SandboxAuto), string(exec.SandboxRequire), string(exec.SandboxOff))
}

// checkExecutors reports what this machine cannot give executors.
func (f *runFlags) checkExecutors() error {
	if most := len(exec.Usable()); f.cores > uint64(most) {
		return command.Usage("--cores = %d is more than this machine has: give at most %d, or leave it out", f.cores, most)
	}
	if err := f.exec.Validate(); err != nil {
		return command.AsUsage(err)
	}
	return nil
}

// samples begins the file of samples; nil: none are asked for.
func (f *runFlags) samples() (*trace.File, error) {
	if f.trace == "" {
		return nil, nil
	}
	every, name, err := trace.Parse(f.trace)
	if err != nil {
		return nil, command.AsUsage(err)
	}
	file, err := trace.Create(name, every)
	if err != nil {
		return nil, command.Usage("--trace = %q: %v: name a file that can be written", f.trace, err)
	}
	return file, nil
}

// sampled ends the file of samples, and says what is in it.
func (f *runFlags) sampled(cmd *cobra.Command, file *trace.File) error {
	if file == nil {
		return nil
	}
	s, err := file.Close()
	if err != nil {
		return fmt.Errorf("write samples of requests: %w", err)
	}
	text := fmt.Sprintf("trace: %d sampled requests, %d left out", s.Written, s.LeftOut)
	if s.Unfinished > 0 {
		text += fmt.Sprintf("; %d executors did not say how many they left out", s.Unfinished)
	}
	_, err = fmt.Fprintln(cmd.ErrOrStderr(), text)
	return err
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
