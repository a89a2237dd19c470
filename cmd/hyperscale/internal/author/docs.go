package author

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/workflow"
	"hyperscale/docs"
	"hyperscale/runtime/edit/manual"
)

// NewDocsCommand explains the words of workflow files.
func NewDocsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [NAME]",
		Short: "explain a word of workflow files, or list all of them",
		Long: `Explains a word of workflow files, one of its arguments, a protocol, or a topic. Without a
name it lists all words.`,
		Example: "  hyperscale docs step\n  hyperscale docs http.get\n  hyperscale docs thresholds",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return languageManual().Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			m := languageManual()
			if len(args) == 0 {
				return listWords(cmd.OutOrStdout(), m)
			}
			name := strings.TrimSuffix(strings.Join(args, " "), "()")
			page, ok := explain(m, name)
			if !ok {
				return command.Usage("no word or topic %q%s: `%s docs` lists all of them", name, command.DidYouMean(name, m.Names()), command.Called())
			}
			_, err := io.WriteString(cmd.OutOrStdout(), manual.Text(page, pageWidth(cmd.OutOrStdout())))
			return err
		}),
	}
}

// topics are what the manual says about protocols, by the names of their words and those that ping takes.
func topics() map[string]string {
	of := map[string]string{
		"http": "requests", "http1": "requests", "http/1.1": "requests", "http2": "http/2", "http3": "http/3", "quic": "http/3",
		"sse": "server-sent events", "ws": "websocket", "amqp": "rabbitmq", "sftp": "sftp and scp", "scp": "sftp and scp", "ssh": "sftp and scp",
		"postgres": "sql", "postgresql": "sql", "mysql": "mysql and mariadb", "mariadb": "mysql and mariadb", "mongo": "mongodb",
		"custom": "a program of your own",
	}
	for _, same := range []string{"graphql", "websocket", "redis", "mqtt", "nats", "kafka", "smtp", "mongodb", "sql", "grpc", "tcp", "udp", "ftp"} {
		of[same] = same
	}
	return of
}

// explain returns the page of a name: of a protocol its words, and then what the manual says about it.
func explain(m *manual.Manual, name string) (string, bool) {
	topic, ok := topics()[strings.ToLower(name)]
	if !ok {
		return m.Find(name)
	}
	about, ok := m.Topic(topic)
	if words := m.Below(strings.ToLower(name)); len(words) > 0 {
		page, _ := m.Find(strings.ToLower(name))
		about = page + "\n" + about
	}
	return about, ok
}

func languageManual() *manual.Manual { return manual.New(docs.Workflows, workflow.Words()) }

// pageWidth is how wide to write: as wide as the terminal, up to 100, else 80.
func pageWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return max(min(width, 100), 40)
		}
	}
	return 80
}

// listWords groups words by what they stand in.
func listWords(w io.Writer, m *manual.Manual) error {
	var single []string
	type group struct {
		name  string
		words []string
	}
	var groups []group
	for _, name := range m.Below("") {
		if below := m.Below(name); len(below) > 0 {
			groups = append(groups, group{name + ".", below})
		} else {
			single = append(single, name)
		}
	}
	all := append([]group{{"words", single}}, groups...)
	all = append(all, group{"topics", m.Topics()})
	var b strings.Builder
	fmt.Fprintf(&b, "`%[1]s docs NAME` explains one of these: `%[1]s docs http.get`, say.\n\n", command.Called())
	for _, g := range all {
		manual.Fill(&b, fmt.Sprintf("%-10s", g.name), strings.Join(g.words, " "), pageWidth(w))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
