package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/ui/units"
	"hyperscale/scenarios"
)

// scenarioJSON is what --json prints of one. Fields may be added, never renamed.
type scenarioJSON struct {
	Name      string `json:"name"`
	VirtualMS int64  `json:"virtual_ms"`
	Doc       string `json:"doc"`
	Shows     string `json:"shows"`  // the invariant that this world breaks on purpose
	Beyond    bool   `json:"beyond"` // its clocks drift beyond the bound
}

func newSimListCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	var file string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the scenarios",
		Args:  command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if asJSON && asMarkdown {
				return command.Usage("--json and --markdown are two forms of one list: choose one")
			}
			if file == "" {
				return listScenarios(cmd.OutOrStdout(), asJSON, asMarkdown)
			}
			f, err := os.Create(file)
			if err != nil {
				return command.Usage("--out: %w: choose a file in a folder that exists and is writable", err)
			}
			if err := listScenarios(f, asJSON, asMarkdown); err != nil {
				return err
			}
			return f.Close()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print docs/scenarios.md: what happens in each, and what must hold")
	cmd.Flags().StringVar(&file, "out", "", "write to a `file` instead of stdout")
	return cmd
}

func listScenarios(out io.Writer, asJSON, asMarkdown bool) error {
	switch {
	case asMarkdown:
		_, err := io.WriteString(out, scenarios.Markdown())
		return err
	case asJSON:
		all := []scenarioJSON{}
		for _, s := range scenarios.All() {
			all = append(all, scenarioJSON{s.Name, s.Virtual.Milliseconds(), s.Doc, s.ExpectedLoss, s.Beyond})
		}
		return json.NewEncoder(out).Encode(all)
	}
	for _, s := range scenarios.All() {
		if _, err := fmt.Fprintf(out, "%s (%s)\n%s\n", s.Name, units.Duration(s.Virtual.Truncate(time.Millisecond)), wrap(s.Doc, 4, 78)); err != nil {
			return err
		}
	}
	return nil
}
