package recall

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/runtime/history"
)

// flags are those of all commands here.
type flags struct {
	file   string
	of     string
	asJSON bool
}

// NewCommand lists the history, and holds the commands that ask it more.
func NewCommand() *cobra.Command {
	cmd := newList("history")
	cmd.Short = "list the runs that were kept, and what changed from one to the next"
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && filepath.Ext(args[0]) == "" && !command.IsURL(args[0]) {
			return command.RefuseCommand(cmd, args)
		}
		return command.AtMost("FILE")(cmd, args)
	}
	cmd.AddCommand(newList("list"), newTrend(), newCompare(), newTag(), newImport(), newExport(), newPrune())
	return cmd
}

// add gives a command the file of the history.
func (f *flags) add(set *pflag.FlagSet) {
	set.StringVar(&f.file, "history", os.Getenv("HYPERSCALE_HISTORY"), "`FILE` of the history, or postgres://USER@HOST/DATABASE[,password_file=FILE]; ~/.local/share/hyperscale/history.db if not given; HYPERSCALE_HISTORY sets it too")
}

// addJSON gives it --json.
func (f *flags) addJSON(set *pflag.FlagSet) {
	set.BoolVar(&f.asJSON, "json", false, "print JSON")
}

// addOf gives it the name whose runs it means.
func (f *flags) addOf(set *pflag.FlagSet) {
	set.StringVar(&f.of, "of", "", "workflow `FILE` or address whose runs are meant; that of the newest run if not given")
}

// run finds the run that arguments name; the newest one if there are none.
func (f *flags) run(s *history.Store, args []string) (*history.Run, error) {
	number, name := 0, ""
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return nil, command.Usage("RUN %q is no number of a run: `%s history` lists them", args[0], command.Called())
		}
		number = n
	}
	if f.of != "" {
		name = nameOf(f.of)
	}
	return s.Find(name, number)
}

// path is where the history is.
func (f *flags) path() (string, error) {
	switch f.file {
	case follow.HistoryOff:
		return "", command.Usage("--history off keeps no runs: name a file, or unset HYPERSCALE_HISTORY")
	case "":
		file, err := history.DefaultFile()
		return file, command.AsUsage(err)
	}
	return f.file, nil
}

// reads opens a history that exists, for a command.
func (f *flags) reads(do func(s *history.Store, w io.Writer, args []string) error) func(*cobra.Command, []string) error {
	return f.opens(func(s *history.Store, w io.Writer, args []string) error { return do(s, w, args) }, true)
}

func (f *flags) opens(do func(s *history.Store, w io.Writer, args []string) error, exists bool) func(*cobra.Command, []string) error {
	return command.Runs(func(cmd *cobra.Command, args []string) error {
		file, err := f.path()
		if err != nil {
			return err
		}
		if _, err := os.Stat(file); exists && !history.IsDatabase(file) && errors.Is(err, fs.ErrNotExist) {
			return command.Usage("history %s does not exist: `%s run FILE` keeps its first run there", file, command.Called())
		}
		s, err := history.Open(file)
		if err != nil {
			return command.AsUsage(err)
		}
		err = do(s, cmd.OutOrStdout(), args)
		if errors.Is(err, history.ErrNone) {
			err = command.AsUsage(fmt.Errorf("%w: `%s history` lists what there is", err, command.Called()))
		}
		return errors.Join(err, s.Close())
	})
}

// nameOf is the name that runs of a file have.
func nameOf(file string) string {
	if command.IsURL(file) {
		return file
	}
	return filepath.Base(file)
}
