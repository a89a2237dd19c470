package author

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/inspect"
	"hyperscale/runtime/edit/language"
	"hyperscale/runtime/rows"
)

// NewLspCommand serves an editor.
func NewLspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "serve an editor: errors as you type, completion, help, formatting",
		Long: `Speaks the Language Server Protocol over standard input and output; an editor starts it
for workflow files. docs/editors/README.md says how, for VS Code, Neovim, Helix and Emacs.`,
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			feeds := feedCache{}
			server := &language.Server{Load: feeds.load, Manual: languageManual(), Version: command.Version()}
			return server.Serve(cmd.InOrStdin(), cmd.OutOrStdout())
		}),
	}
}

// feedCache keeps what was found in large files of rows, which are not read again after
// each key that is typed.
type feedCache map[feedKey]message.FeedFile

type feedKey struct {
	path     string
	file     collect.Large
	size     int64
	modified time.Time
}

// load reads a program as validate does, but for files that are open in the editor.
func (c feedCache) load(path string, open func(string) ([]byte, error)) (*workflow.Program, []inspect.Finding, error) {
	folder, main := filepath.Dir(path), filepath.Base(path)
	files, large, err := collect.Files(main, overlay{source.Folder(folder), func(name string) ([]byte, bool) {
		data, err := open(filepath.Join(folder, filepath.FromSlash(name)))
		return data, err == nil
	}})
	if err != nil {
		return nil, nil, err
	}
	program := message.Program{Main: main, Files: files, Seed: 1}
	for _, l := range large {
		file, info, err := rows.Open(folder, l.Name)
		if err != nil {
			return nil, nil, fmt.Errorf("feed: %w", err)
		}
		_ = file.Close() // nothing was written
		if l.Whole {     // no mistake shows in its bytes
			program.Feeds = append(program.Feeds, message.FeedFile{Name: l.Name, Bytes: uint64(info.Size()), Whole: true})
			continue
		}
		key := feedKey{filepath.Join(folder, filepath.FromSlash(l.Name)), l, info.Size(), info.ModTime()}
		found, ok := c[key]
		if !ok {
			read, err := source.ReadFeeds(folder, []collect.Large{l})
			if err != nil {
				return nil, nil, err
			}
			found = read[0]
			c[key] = found
		}
		program.Feeds = append(program.Feeds, found)
	}
	return workflow.Inspect(program)
}

// overlay is a folder some of whose files have other contents than on the disk.
type overlay struct {
	source.Folder
	over func(name string) ([]byte, bool)
}

// Read implements collect.Folder.
func (o overlay) Read(name string) ([]byte, error) {
	if data, ok := o.over(name); ok {
		return data, nil
	}
	return o.Folder.Read(name)
}
