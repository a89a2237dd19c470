package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hyperscale/core/message"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/glob"
	"hyperscale/runtime/rows"
)

// Folder is where the files of a program lie, on this machine.
type Folder string

var _ collect.Folder = Folder("")

// Read implements collect.Folder. It follows no link out of the folder.
func (f Folder) Read(name string) ([]byte, error) {
	file, _, err := rows.Open(string(f), name)
	if err != nil {
		return nil, err
	}
	return readSource(file)
}

// named is the folder of a file that a person named. That one may be a link to anywhere.
type named struct {
	Folder
	main string
}

// Read implements collect.Folder.
func (n named) Read(name string) ([]byte, error) {
	if name == n.main {
		return ReadFile(filepath.Join(string(n.Folder), name))
	}
	return n.Folder.Read(name)
}

// List implements collect.Folder.
func (f Folder) List(name string) ([]glob.Entry, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if name == "" {
		name = "."
	}
	found, err := fs.ReadDir(root.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries := make([]glob.Entry, len(found))
	for i, e := range found {
		entries[i] = glob.Entry{Name: e.Name()}
		switch {
		case e.IsDir():
			entries[i].Kind = glob.Folder
		case e.Type().IsRegular(), e.Type() == fs.ModeSymlink:
			info, err := root.Stat(filepath.Join(filepath.FromSlash(name), e.Name())) // it follows no link out of the folder
			switch {
			case err != nil:
				entries[i].Kind = glob.Outside
			case info.Mode().IsRegular():
				entries[i].Kind, entries[i].Bytes = glob.Plain, info.Size()
			}
		}
	}
	return entries, err
}

// ReadFeeds looks at the files that are too large to travel: the process that runs the program
// must find the same.
func ReadFeeds(folder string, large []collect.Large) ([]message.FeedFile, error) {
	var feeds []message.FeedFile
	for _, l := range large {
		name, err := readFeed(folder, l)
		if err != nil {
			return nil, err
		}
		name.Name = l.Name
		feeds = append(feeds, name)
	}
	return feeds, nil
}

func readFeed(folder string, l collect.Large) (message.FeedFile, error) {
	if l.Whole {
		name, err := rows.Describe(folder, l.Name)
		if err != nil {
			return name, fmt.Errorf("file: %w", err)
		}
		return name, nil
	}
	sheet, err := rows.Read(folder, l.Name, l.JSON)
	if err != nil {
		return message.FeedFile{}, fmt.Errorf("feed: %w", err)
	}
	if err := sheet.Close(); err != nil {
		return message.FeedFile{}, fmt.Errorf("feed: %w", err)
	}
	return sheet.Name(l.Name), nil
}
