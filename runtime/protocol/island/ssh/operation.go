package ssh

import (
	"encoding/json"
	"os"
	"path"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
)

// Verb is what an operation does.
type Verb uint8

// The verbs. Those of SCP need a connection of SCP.
const (
	VerbGet Verb = iota
	VerbPut
	VerbList
	VerbStat
	VerbRemove
	VerbRename
	VerbMkdir
	VerbRmdir
	VerbChmod
	VerbFetch // scp.get
	VerbSend  // scp.put
)

// String is the verb as --debug shows it.
func (v Verb) String() string {
	return [...]string{"get", "put", "list", "stat", "remove", "rename", "mkdir", "rmdir", "chmod", "scp get", "scp put"}[v]
}

// Part is a piece of a text: its own, or the user's value of an index.
type Part struct {
	Text  string
	Value int // below 0: it is Text
}

// Text is a text in which values stand.
type Text []Part

func (t Text) fill(values [][]byte) string {
	if len(t) == 1 && t[0].Value < 0 {
		return t[0].Text
	}
	var b strings.Builder
	for _, p := range t {
		if p.Value >= 0 {
			b.Write(values[p.Value])
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Operation is what a step does, compiled before the clock. One serves any number at once.
type Operation struct {
	Verb     Verb
	Path, To Text   // To: of rename
	Data     Text   // of put, if it has values
	Bytes    []byte // of put, else
	Mode     uint32 // of chmod
}

// Order is one operation under way.
type Order struct {
	Values [][]byte
	Keeps  bool // the answer is read
}

// task is an operation with its values filled in.
type task struct {
	verb     Verb
	path, to string
	data     []byte
	mode     uint32
	keeps    bool
}

// PathMost bounds a path, in bytes: PATH_MAX of Linux.
const PathMost = 4096

func (o *Operation) fill(order Order) (task, error) {
	t := task{verb: o.Verb, path: o.Path.fill(order.Values), data: o.Bytes, mode: o.Mode, keeps: order.Keeps}
	if o.Data != nil {
		t.data = []byte(o.Data.fill(order.Values))
	}
	if err := checkPath(t.path, o.Verb); err != nil || o.To == nil {
		return t, err
	}
	t.to = o.To.fill(order.Values)
	return t, checkPath(t.to, o.Verb)
}

func checkPath(p string, v Verb) error {
	value := func(what string) error { return &http1.Error{Kind: http1.KindValue, Detail: "path: it " + what} }
	switch {
	case len(p) > PathMost:
		return value("has more than 4096 bytes")
	case strings.Contains(p, "\x00"):
		return value("has a NUL byte in it")
	case v >= VerbFetch && strings.ContainsAny(p, "\r\n"):
		return value("has a line break in it, and SCP ends a name with one")
	case v >= VerbFetch && (path.Base(p) == "/" || path.Base(p) == "." || path.Base(p) == ".."):
		return value("names no file")
	}
	return nil
}

// Show is the operation as --debug shows it.
func (o *Operation) Show(values [][]byte) string {
	text := o.Verb.String() + " " + o.Path.fill(values)
	if o.To != nil {
		text += " " + o.To.fill(values)
	}
	if o.Verb == VerbChmod {
		text += " " + strconv.FormatUint(uint64(o.Mode), 8)
	}
	return text
}

// Outcome is what became of an operation.
type Outcome struct {
	Err   *http1.Error // that the server told; nil: none
	Body  []byte       // the file if it is kept, or JSON of a listing
	Size  int64        // of the file or listing
	Moved int64        // bytes of a file
	Took  int64        // nanoseconds of its transfer
}

// entry is a file as a listing has it.
type entry struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Mode     string `json:"mode"`
	Dir      bool   `json:"dir"`
	Modified int64  `json:"modified"` // seconds since 1970
}

func entryOf(f os.FileInfo) entry {
	return entry{f.Name(), f.Size(), f.Mode().String(), f.IsDir(), f.ModTime().Unix()}
}

func listed(all []os.FileInfo) []byte {
	out := make([]entry, len(all))
	for i, f := range all {
		out[i] = entryOf(f)
	}
	text, _ := json.Marshal(out) // texts and numbers have a form
	return text
}
