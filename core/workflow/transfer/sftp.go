package transfer

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/secret"
)

const (
	pathMost = 4096     // bytes: PATH_MAX of Linux
	dataMost = 16 << 20 // bytes of a text that is put: larger ones are files
)

// Arguments are those of a verb.
func Arguments(verb request.SFTPVerb) []string {
	names := []string{"target", "path"}
	switch verb {
	case request.SFTPPut:
		names = append(names, "data")
	case request.SFTPRename:
		names = append(names, "to")
	case request.SFTPChmod:
		names = append(names, "mode")
	}
	return append(names, "timeout", "retry")
}

// SFTP is sftp and vu.sftp.
func SFTP(under string, own []string, use request.Use) *language.Namespace {
	members := starlark.StringDict{}
	for i, word := range request.SFTPVerbs() {
		members[word] = verbFunc(under, word, request.SFTPVerb(i), own, use)
	}
	if under == "sftp" {
		members["client"] = &guard.Func{Word: "client", Call: newClient}
	}
	return language.NewNamespace(under, members)
}

// SCP is scp and vu.scp. Their target is that of sftp.client.
func SCP(under string, own []string, use request.Use) *language.Namespace {
	return language.NewNamespace(under, starlark.StringDict{
		"get": verbFunc(under, "get", request.SFTPGet, own, use),
		"put": verbFunc(under, "put", request.SFTPPut, own, use),
	})
}

// verbFunc is a function that does something with a file.
func verbFunc(under, word string, verb request.SFTPVerb, own []string, use request.Use) *guard.Func {
	fn := under + "." + word
	names := append(Arguments(verb), own...)
	return &guard.Func{Word: word, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		o := operation{fn: fn, names: names, in: make([]starlark.Value, len(names))}
		if err := language.Bind(fn, names, slices.Index(names, "timeout"), args, kwargs, o.in); err != nil {
			return nil, err
		}
		o.draft = request.NewDraft(thread, fn)
		if err := o.read(verb); err != nil {
			return nil, o.draft.Explain(err)
		}
		if strings.HasSuffix(under, "scp") {
			target := *o.to.Target
			target.Scheme = "scp"
			o.to.Target = &target
		}
		r := &request.Request{Method: strings.ToUpper(word), URL: o.to.Target.URL(), Exchange: request.Exchange{SFTP: &o.to}}
		return o.draft.End(r, o.in[slices.Index(names, "timeout"):], use)
	}}
}

// operation reads the arguments of a request.
type operation struct {
	fn    string
	names []string
	in    []starlark.Value
	draft *request.Draft
	to    request.SFTP
}

func (o *operation) of(name string) starlark.Value { return o.in[slices.Index(o.names, name)] }

func (o *operation) read(verb request.SFTPVerb) (err error) {
	c, ok := o.of("target").(*client)
	if !ok {
		return o.untargeted(o.of("target"))
	}
	if o.to = c.of; c.fill(&o.to) != nil {
		return c.fill(&o.to)
	}
	o.to.Verb = verb
	if o.to.Path, err = o.path("path"); err != nil {
		return err
	}
	switch verb {
	case request.SFTPRename:
		o.to.To, err = o.path("to")
	case request.SFTPPut:
		err = o.data()
	case request.SFTPChmod:
		err = o.mode()
	}
	return err
}

// mode reads permissions, as chmod of a shell takes them: a number would be one of ten.
func (o *operation) mode() error {
	v := o.of("mode")
	if v == nil {
		return language.Faultf("%s: the mode is missing", o.fn).Do("write %s(h, \"/data/x\", \"640\")", o.fn)
	}
	text, ok := starlark.AsString(v)
	if !ok {
		return language.WrongType(o.fn, "mode", "a text of octal digits", v).Do("write mode = \"640\"")
	}
	n, err := strconv.ParseUint(text, 8, 12)
	if err != nil || len(text) < 3 || len(text) > 5 {
		return language.Faultf("%s: %s is no mode", o.fn, language.Describe(v)).In("mode").Do("write three or four octal digits, as \"640\" or \"1777\"")
	}
	o.to.Mode = uint32(n)
	return nil
}

// untargeted explains a target that is none: only a client says which server it is.
func (o *operation) untargeted(v starlark.Value) error {
	const remedy = `write h = sftp.client("sftp://app@host", key = secret("id"), host_keys = file("known_hosts")), and give h`
	if v == nil {
		return language.Faultf("%s: the target is missing", o.fn).Do(remedy)
	}
	return language.WrongType(o.fn, "target", "the result of sftp.client", v).Do(remedy)
}

// path reads a path on the server.
func (o *operation) path(name string) (string, error) {
	v := o.of(name)
	if v == nil {
		return "", language.Faultf("%s: the %s is missing", o.fn, name).Do("write %s(h, \"/data/x\", ...)", o.fn)
	}
	text, err := o.draft.Text(name, v)
	if err != nil {
		return "", err
	}
	switch cut := o.draft.Cut(text); {
	case cut == "":
		return "", language.Faultf("%s: %s is empty", o.fn, name).In(name).Do("write a path of the server, as \"/data/x\"")
	case len(cut) > pathMost:
		return "", language.Faultf("%s: %s has %d bytes, and a path has 4096 at most", o.fn, name, len(cut)).In(name).Do("shorten it")
	case strings.Contains(cut, "\x00"):
		return "", language.Faultf("%s: %s has a NUL byte in it", o.fn, name).In(name).Do("take it out: it ends a path")
	case strings.Contains(o.fn, "scp.") && strings.ContainsAny(cut, "\r\n"):
		return "", language.Faultf("%s: %s has a line break in it, and SCP ends a name with one", o.fn, name).In(name).Do("use sftp")
	}
	return text, nil
}

// data reads what is put.
func (o *operation) data() (err error) {
	switch v := o.of("data").(type) {
	case nil:
		return language.Faultf("%s: the data is missing", o.fn).Do("write %s(h, \"/data/x\", file(\"x.bin\"))", o.fn)
	case starlark.String, *secret.Text:
		o.to.Data, err = o.draft.Text("data", v)
	case starlark.Bytes:
		o.to.Data = string(v)
	case *request.File:
		o.to.File = v
	default:
		return language.WrongType(o.fn, "data", "a text, bytes or a file", v)
	}
	if len(o.to.Data) > dataMost {
		return language.Faultf("%s: data has %s, and takes 16 MiB at most", o.fn, guard.Size(uint64(len(o.to.Data)))).In("data").Do("give a file: file.glob(\"x.bin\")[0] is read by all users from one copy")
	}
	return err
}
