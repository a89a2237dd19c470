package author

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/runtime/convert"
	"hyperscale/runtime/convert/curl"
	"hyperscale/runtime/convert/har"
	"hyperscale/runtime/convert/openapi"
	"hyperscale/runtime/convert/postman"
	"hyperscale/runtime/rows"
	"hyperscale/runtime/ui/units"
)

// sourceFlags say what a new file is made of.
type sourceFlags struct {
	curl, har, openapi, postman string
	all                         bool
}

func (f *sourceFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.curl, "from-curl", "", "write what this curl `LINE` asks for (- reads it from stdin)")
	flags.StringVar(&f.har, "from-har", "", "write what a browser recorded in this HAR `FILE` (- is stdin)")
	flags.StringVar(&f.openapi, "from-openapi", "", "write the operations of this OpenAPI or Swagger `FILE`, JSON or YAML (- is stdin)")
	flags.StringVar(&f.postman, "from-postman", "", "write the requests of this Postman collection `FILE` (- is stdin)")
	flags.BoolVar(&f.all, "all", false, "keep what is left out otherwise: static files and other hosts of a recording, operations that change something")
}

// sourceFlagNames exclude each other.
var sourceFlagNames = []string{"from-curl", "from-har", "from-openapi", "from-postman"}

// convert makes the file that was asked for; nil if none was.
func (f *sourceFlags) convert(cmd *cobra.Command, file string) (*convert.File, error) {
	var given []string
	for _, name := range sourceFlagNames {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return nil, command.Usage("%s: a file is made of one of them: leave the others out", strings.Join(given, " and "))
	case len(given) == 0 && f.all:
		return nil, command.Usage("--all goes with --from-har or --from-openapi")
	case len(given) == 0:
		return nil, nil
	case f.all && given[0] != "--from-har" && given[0] != "--from-openapi":
		return nil, command.Usage("--all says nothing to %s: nothing is left out there", given[0])
	}
	name, _ := cmd.Flags().GetString(strings.TrimPrefix(given[0], "--"))
	options := convert.Options{File: filepath.ToSlash(file), From: filepath.ToSlash(name), All: f.all, Has: beside(filepath.Dir(file))}
	made, err := f.read(cmd, given[0], name, options)
	if err != nil {
		return nil, command.AsUsage(fmt.Errorf("%s: %w", given[0], err))
	}
	return made, f.check(cmd, file, made)
}

// read calls the reader of what was given.
func (f *sourceFlags) read(cmd *cobra.Command, flag, name string, o convert.Options) (*convert.File, error) {
	if flag == "--from-curl" && name != "-" {
		return curl.Convert(name, o)
	}
	data, err := readBounded(cmd.InOrStdin(), name)
	if err != nil {
		return nil, err
	}
	var made *convert.File
	switch flag {
	case "--from-curl":
		made, err = curl.Convert(string(data), o)
	case "--from-har":
		made, err = har.Convert(data, o)
	case "--from-openapi":
		made, err = openapi.Convert(data, o)
	default:
		made, err = postman.Convert(data, o)
	}
	if err != nil && name != "-" {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return made, err
}

// readBounded reads a file, or stdin, up to what a source may have.
func readBounded(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist: check the name", name)
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: give a file", name)
		}
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, convert.SourceMax+1))
	if err == nil && len(data) > convert.SourceMax {
		err = fmt.Errorf("%s has more than 64 MiB: cut it to what is under test", name)
	}
	return data, err
}

// beside says whether the language can read a file of the workflow's folder.
func beside(folder string) func(string) bool {
	return func(name string) bool {
		f, _, err := rows.Open(folder, name)
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return err == nil
	}
}

// check loads what was made before new writes it: new writes no file that does not load.
func (f *sourceFlags) check(cmd *cobra.Command, file string, made *convert.File) error {
	folder, main := filepath.Dir(file), filepath.Base(file)
	files, large, err := collect.Files(main, overlay{source.Folder(folder), func(name string) ([]byte, bool) { return []byte(made.Text), name == main }})
	var feeds []message.FeedFile
	if err == nil {
		feeds, err = source.ReadFeeds(folder, large)
	}
	if err == nil {
		_, err = workflow.Load(message.Program{Main: main, Files: files, Feeds: feeds, Seed: 1})
	}
	switch {
	case err == nil:
		return nil
	case len(files) > 1:
		return fmt.Errorf("what was made does not load with the files beside it: %w", err)
	default:
		return fmt.Errorf("what was made does not load, which is a mistake of hyperscale: %w", err)
	}
}

// tellNotes says what was not kept.
func tellNotes(w io.Writer, made *convert.File) {
	for _, note := range made.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", units.Clean(note)) // the file is written; notes only help
	}
}
