package outlets

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/follow"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
	"hyperscale/runtime/outputs/named"
)

// NewCommand lists the kinds of outputs, and holds the commands that ask more.
func NewCommand() *cobra.Command {
	cmd := newList("outputs")
	cmd.Short = "list what --out writes to, and look at such a place"
	cmd.Args = command.RefuseCommand
	cmd.AddCommand(newList("list"), newSchema(), newCheck(), newVerify(), newReplay())
	return cmd
}

// kindJSON is a kind of output as --json prints it.
type kindJSON struct {
	Kind     string       `json:"kind"`
	Takes    string       `json:"takes"` // result: once, at the end; rows: while the run lasts, by --out or by a sink with a name
	Place    string       `json:"place"`
	About    string       `json:"about"`
	Delivery string       `json:"delivery,omitempty"`
	Tested   string       `json:"tested_against,omitempty"`
	Example  string       `json:"example,omitempty"`
	Options  []optionJSON `json:"options,omitempty"`
}

type optionJSON struct {
	Option  string   `json:"option"`
	Help    string   `json:"help"`
	Default string   `json:"default,omitempty"`
	Choices []string `json:"choices,omitempty"`
}

func all() (list []kindJSON) {
	for _, k := range follow.ResultKinds() {
		list = append(list, kindJSON{Kind: k.Name, Takes: "result", Place: k.Place, About: k.About})
	}
	for _, k := range kinds.All() {
		j := kindJSON{Kind: k.Name, Takes: "rows", Place: k.Place, About: k.About, Delivery: k.Delivery.String(), Tested: k.Tested, Example: k.Name + "=" + k.Example}
		if !follow.TakesRows(k.Name) { // --out means the kind of its name that takes the result
			j.Takes = "rows, as a sink with a name"
		}
		for _, o := range append(k.Options, outputs.CommonOptions()...) {
			name := o.Name
			if o.Type == outputs.OptionSecret {
				name = o.Name + "_file, " + o.Name + "_env"
			}
			j.Options = append(j.Options, optionJSON{name, o.Help, o.Default, o.Choices})
		}
		list = append(list, j)
	}
	return list
}

func newList(name string) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     name,
		Short:   "list the kinds of outputs",
		Example: "  hyperscale outputs list\n  hyperscale outputs list --json",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return command.PrintJSON(cmd.OutOrStdout(), all())
			}
			return printKinds(cmd.OutOrStdout())
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the options of each kind")
	return cmd
}

func printKinds(w io.Writer) error {
	rows := [][]string{{"KIND=PLACE", "takes", "delivery", "tested against", ""}}
	for _, k := range all() {
		rows = append(rows, []string{k.Kind + "=" + k.Place, k.Takes, k.Delivery, k.Tested, k.About})
	}
	return command.PrintRows(w, rows)
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema KIND",
		Short:   "print the tables or the format that a kind of output writes",
		Example: "  hyperscale outputs schema jsonl",
		Args:    command.Exactly("KIND"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			k, err := find(args[0])
			if err != nil {
				return err
			}
			if k.Schema == "" {
				return command.Usage("kind %s has no schema: `%s outputs list` says what it is", k.Name, command.Called())
			}
			_, err = io.WriteString(cmd.OutOrStdout(), k.Schema)
			return err
		}),
	}
}

// find is the kind of a name.
func find(name string) (outputs.Kind, error) {
	k, ok := kinds.Find(name)
	if !ok {
		var names []string
		for _, k := range kinds.All() {
			names = append(names, k.Name)
		}
		return k, command.Usage("%q is no kind of output that takes rows%s: use %s", name, command.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return k, nil
}

// place reads KIND=PLACE[,option=value...].
func place(arg string) (*outputs.Settings, error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok {
		return nil, command.Usage("%q: write KIND=PLACE, as in jsonl=rows.jsonl", arg)
	}
	k, err := find(name)
	if err != nil {
		return nil, err
	}
	s, err := outputs.Parse(&k, text)
	if err != nil {
		return nil, command.Usage("%s: %v", name, err)
	}
	return s, nil
}

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check KIND=PLACE",
		Short: "find out whether a place takes rows, as a run does before it begins",
		Long: `Find out whether a place takes rows, as a run does before it begins: address, credentials, schema.

Exit codes: 0 it takes rows; 1 it does not; 2 bad usage.`,
		Example: "  hyperscale outputs check jsonl=rows.jsonl",
		Args:    command.Exactly("KIND=PLACE"),
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			s, err := place(args[0])
			if err != nil {
				return err
			}
			shell, err := ready(s)
			if err != nil {
				return err
			}
			defer shell.Close()
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s takes rows\n", named.Shown(s))
			return err
		}),
	}
}

// ready opens a place that takes rows. The caller closes the shell.
func ready(s *outputs.Settings) (*outputs.Shell, error) {
	sink, err := s.Kind.Open(s)
	if err != nil {
		return nil, command.Usage("%s: %v", named.Shown(s), err)
	}
	pace := outputs.DefaultPace()
	pace.Max = pace.Last // a person waits
	shell := outputs.NewShell(s.Kind.Name, s, sink, pace)
	if err := shell.Check(); err != nil {
		shell.Close()
		return nil, command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", named.Shown(s), err))
	}
	return shell, nil
}
