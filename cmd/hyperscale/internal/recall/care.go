package recall

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/runtime/history"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

func newTag() *cobra.Command {
	var f flags
	remove := false
	cmd := &cobra.Command{
		Use:   "tag RUN [NAME]",
		Short: "name a run, so that no bound removes it and a comparison finds it",
		Long: `Name a run. A run with a tag stays when the history is full, and --baseline tag:NAME finds it.
One run of a name has a tag: a second one takes it over. --remove takes a run's tag away.`,
		Example: "  hyperscale history tag 17 v1\n  hyperscale history tag 17 --remove --of checkout.star",
		Args: func(cmd *cobra.Command, args []string) error {
			if remove {
				return command.Exactly("RUN")(cmd, args)
			}
			return command.Exactly("RUN", "NAME")(cmd, args)
		},
		RunE: f.reads(func(s *history.Store, w io.Writer, args []string) error {
			run, err := f.run(s, args)
			if err != nil {
				return err
			}
			tag := ""
			if !remove {
				tag = args[1]
			}
			if err := s.Tag(run, tag); err != nil {
				return command.AsUsage(err)
			}
			text := run.Title() + " has no tag"
			if tag != "" {
				text = run.Title() + " has the tag " + tag
			}
			_, err = fmt.Fprintln(w, units.Clean(text))
			return err
		}),
	}
	f.add(cmd.Flags())
	f.addOf(cmd.Flags())
	cmd.Flags().BoolVar(&remove, "remove", false, "take the run's tag away")
	return cmd
}

func newImport() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "import FILE.json...",
		Short:   "keep results that --out json=FILE wrote",
		Example: "  hyperscale history import results/*.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Exactly("FILE.json")(cmd, args)
			}
			return nil
		},
		RunE: f.opens(func(s *history.Store, w io.Writer, args []string) error {
			for _, file := range args {
				r, err := report.Read(file)
				if err != nil {
					return command.AsUsage(err)
				}
				run, err := s.Keep(r)
				text := "kept as "
				if errors.Is(err, history.ErrKept) {
					text, err = "was kept already as ", nil
				}
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintln(w, units.Clean(file+": "+text+run.Title())); err != nil {
					return err
				}
			}
			return nil
		}, false),
	}
	f.add(cmd.Flags())
	return cmd
}

func newExport() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "export RUN [FILE.json]",
		Short: "write a run's result file",
		Long: `Write the result file of a run, to stdout if you name no file. report, compare and import read it.
Digests stand in place of the values that --set gave.`,
		Example: "  hyperscale history export 17 run17.json\n  hyperscale history export 17 --of checkout.star | hyperscale report -",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Exactly("RUN")(cmd, args)
			}
			return command.AtMost("RUN", "FILE.json")(cmd, args)
		},
		RunE: f.reads(func(s *history.Store, w io.Writer, args []string) error {
			run, err := f.run(s, args)
			if err != nil {
				return err
			}
			r, err := s.Result(run.Job)
			if err != nil {
				return err
			}
			b, err := r.Encode()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				_, err = w.Write(b)
				return err
			}
			if err := follow.Writable(args[1]); err != nil {
				return command.Usage("%s: %w", args[1], err)
			}
			return report.WriteFile(args[1], b)
		}),
	}
	f.add(cmd.Flags())
	f.addOf(cmd.Flags())
	return cmd
}

func newPrune() *cobra.Command {
	var f flags
	var keep uint64
	var older time.Duration
	try := false
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove old runs that have no tag",
		Long: `Remove runs that have no tag: those beyond the newest N of each name, and those that began longer
ago than a time. With both, a run goes if both say so.`,
		Example: "  hyperscale history prune --keep 100\n  hyperscale history prune --older-than 2160h --of checkout.star --dry-run",
		Args:    command.Exactly(),
		RunE: f.reads(func(s *history.Store, w io.Writer, _ []string) error {
			if keep == 0 && older == 0 {
				return command.Usage("prune removes nothing without --keep or --older-than: give one of them")
			}
			p := history.Pruning{Keep: int(keep), DryRun: try}
			if f.of != "" {
				p.Name = nameOf(f.of)
			}
			if older > 0 {
				p.Before = time.Now().Add(-older)
			}
			gone, err := s.Prune(p)
			if err != nil {
				return err
			}
			what := "removed "
			if try {
				what = "would remove "
			}
			for i := range gone {
				if _, err := fmt.Fprintln(w, units.Clean(what+gone[i].Title()+" of "+gone[i].Started.Format(whenLayout))); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(w, what+units.Counted(uint64(len(gone)), "run"))
			return err
		}),
	}
	set := cmd.Flags()
	f.add(set)
	f.addOf(set)
	command.AddCount(set, &keep, "keep", 0, 1, 1_000_000, "keep so many of each name, the newest ones")
	command.AddSpan(set, &older, "older-than", 0, time.Second, "remove runs that began longer ago, like 2160h for 90 days")
	set.BoolVar(&try, "dry-run", false, "name the runs, and remove none")
	return cmd
}
