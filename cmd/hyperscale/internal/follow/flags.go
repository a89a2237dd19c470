package follow

import (
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/runtime/ui"
)

// Flags are those of commands that follow a job to its end.
type Flags struct {
	UI    string
	Outs  []string
	told  bool // outs are the file's own
	Texts bool // results have the workflow's source
	Quiet bool
	live  string // address of the live page; empty: none
	log   command.LogFlags

	use    sinkUse
	config string        // file that configures sinks; empty: none
	wait   time.Duration // for outputs that take rows, at the end

	history *string // file that keeps the end, or off; empty: the usual one; nil: the command keeps none
}

// outWait is how long the end waits for outputs if no flag says so: a server restarts within it.
const outWait = 30 * time.Second

// Add gives a command the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	command.AddChoice(flags, &f.UI, "ui", string(ui.Auto), "progress: a live screen, a line every few seconds, or nothing", ui.Kinds()...)
	flags.StringArrayVar(&f.Outs, "out", nil, "write the result to a file: `KIND=FILE`, "+OutputNames()+"; or rows to another place, see outputs list (repeatable)")
	command.AddSpan(flags, &f.wait, "out-wait", outWait, 0, "how long the end waits for outputs that take rows")
	flags.StringVar(&f.live, "live", "", "show the job as a page in a browser while it lasts, at http://`ADDR`/")
	flags.BoolVar(&f.Texts, "with-source", false, "keep the workflow's source in results: its default values may be secret")
	flags.BoolVar(&f.Quiet, "quiet", false, "nothing on stderr but errors")
	f.log.Add(flags, "warn")
}

// AddDelivering gives a command that keeps the ends of its runs, and delivers to configured sinks, all flags.
func (f *Flags) AddDelivering(flags *pflag.FlagSet) {
	f.AddKeeping(flags)
	f.AddConfig(flags)
}

// AddNaming gives a command whose jobs name sinks of the cluster, and that keeps the ends of its runs, all flags.
func (f *Flags) AddNaming(flags *pflag.FlagSet) {
	f.AddKeeping(flags)
	f.use = sinksNamed
}

// HistoryOff keeps nothing.
const HistoryOff = "off"

// AddKeeping gives a command that keeps the ends of its runs all flags.
func (f *Flags) AddKeeping(flags *pflag.FlagSet) {
	f.Add(flags)
	f.history = flags.String("history", os.Getenv("HYPERSCALE_HISTORY"), "keep the run's end in `FILE`, in postgres://USER@HOST/DATABASE[,password_file=FILE], or off; ~/.local/share/hyperscale/history.db if not given; HYPERSCALE_HISTORY sets it too")
}

// Report adds the outputs that the file asks for, unless a flag gives others.
func (f *Flags) Report(plan *message.Plan) {
	if len(f.Outs) > 0 {
		return
	}
	f.told = true
	for i := range plan.Workflows {
		for _, out := range plan.Workflows[i].Report {
			if !slices.Contains(f.Outs, out) {
				f.Outs = append(f.Outs, out)
			}
		}
	}
}
