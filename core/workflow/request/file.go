package request

import (
	"fmt"
	"path"

	"go.starlark.net/starlark"

	"hyperscale/core/message"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// File is a file of the program that requests send and functions do not look into. All virtual
// users share its bytes.
type File struct {
	language.Opaque
	Name   string // relative to the main file's folder
	Size   uint64
	Digest message.FileDigest // of one that does not travel; else zero
	data   []byte             // nil: its process has not mapped it
}

var _ starlark.HasAttrs = (*File)(nil)

// NewFile returns a file whose bytes travel with the program.
func NewFile(name string, data []byte) *File {
	if data == nil {
		data = []byte{}
	}
	return &File{Opaque: language.Opaque{Kind: "file"}, Name: name, Size: uint64(len(data)), data: data}
}

// NewFileElsewhere returns a file that does not travel, until Map has its bytes.
func NewFileElsewhere(f *message.FeedFile) *File {
	return &File{Opaque: language.Opaque{Kind: "file"}, Name: f.Name, Size: f.Bytes, Digest: f.Digest}
}

// Map gives the file its bytes, before any request is compiled.
func (f *File) Map(data []byte) { f.data = data }

// Data returns its bytes; an error: its process has not mapped them.
func (f *File) Data() ([]byte, error) {
	if f.data == nil {
		return nil, fmt.Errorf("file %q is not in memory", f.Name)
	}
	return f.data, nil
}

// String names the file and its size.
func (f *File) String() string {
	return fmt.Sprintf("<file %s of %s>", f.Name, guard.Size(f.Size))
}

// AttrNames implements starlark.HasAttrs.
func (f *File) AttrNames() []string { return []string{"name", "size"} }

// Attr implements starlark.HasAttrs.
func (f *File) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		return starlark.String(f.Name), nil
	case "size":
		return starlark.MakeUint64(f.Size), nil
	}
	return nil, language.Missing("file", name, f.AttrNames())
}

// Base is its name without folders, for a form or a message.
func (f *File) Base() string { return path.Base(f.Name) }

// Attached is a file that stands in a body, in front of Body[At:]. The body holds no copy of it.
type Attached struct {
	At   int
	File *File
}

// rewrite returns the body with each of its texts changed, and its files where they stood.
func (r *Request) rewrite(change func(text string) string) ([]byte, []Attached) {
	if len(r.Files) == 0 {
		return []byte(change(string(r.Body))), nil
	}
	var body []byte
	files, from := make([]Attached, len(r.Files)), 0
	for i, f := range r.Files {
		body = append(body, change(string(r.Body[from:f.At]))...)
		files[i], from = Attached{len(body), f.File}, f.At
	}
	return append(body, change(string(r.Body[from:]))...), files
}
