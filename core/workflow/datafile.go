package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/message"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/schema"
	"hyperscale/core/workflow/secret"
)

// fileNamespace is file(path), and file.glob below it.
func fileNamespace() starlark.Value {
	return guard.Callable{
		Namespace: language.NewNamespace("file", starlark.StringDict{"glob": declaring("file.glob", (*loader).glob)}),
		Call:      declaring("file", (*loader).file),
	}
}

// file is file(path): the bytes of a file beside the main one, or a value that stands for a file
// that does not travel. The size decides, and not what the value is for: a load knows the first
// on each node, and the second only once functions run. Files finds the file by its name, which
// therefore must be a literal in the call.
func (l *loader) file(_ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := language.Texts("file", []string{"path"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if err := collect.InsideFolder("file", in[0]); err != nil {
		return nil, err.In("#1").Do("write file(\"folder/name.txt\")")
	}
	if f := l.files.elsewhere(l.program, in[0]); f != nil {
		return f, nil
	}
	data, err := l.data("file", in[0])
	if err != nil {
		return nil, err
	}
	return starlark.Bytes(data), nil
}

// glob is file.glob(pattern): the files of the program with such a name, sorted by it. All of
// them are values of one kind, however large they are: a function draws one of many.
func (l *loader) glob(_ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]string
	if err := language.Texts("file.glob", []string{"pattern"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	pattern, wrong := collect.GlobPattern(in[0])
	if wrong != nil {
		return nil, wrong.In("#1")
	}
	var names []string
	for i := range l.program.Files {
		names = append(names, l.program.Files[i].Name)
	}
	for i := range l.program.Feeds {
		if f := &l.program.Feeds[i]; f.Whole {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !pattern.Match(name) })
	if len(names) == 0 {
		return nil, language.Faultf("file.glob: no file below the folder of %s has a name like %q", l.program.Main, language.Clip(in[0], 80)).In("#1").Do("the pattern must stand in the call as it is: * stands for a part of a name, ** for folders")
	}
	all := make([]starlark.Value, len(names))
	for i, name := range names {
		if all[i] = l.files.elsewhere(l.program, name); all[i] == (*request.File)(nil) {
			data, err := l.data("file.glob", name)
			if err != nil {
				return nil, err
			}
			all[i] = l.files.attach(name, func() *request.File { return request.NewFile(name, data) })
		}
	}
	return starlark.NewList(all), nil
}

// sentFiles are the values of files that requests send, by name.
type sentFiles map[string]*request.File

// elsewhere returns a file that does not travel; nil: there is none of that name.
func (s sentFiles) elsewhere(p *message.Program, name string) *request.File {
	i := slices.IndexFunc(p.Feeds, func(f message.FeedFile) bool { return f.Whole && f.Name == name })
	if i < 0 {
		return nil
	}
	return s.attach(name, func() *request.File { return request.NewFileElsewhere(&p.Feeds[i]) })
}

// elsewhereAll lists the files that do not travel and that the program uses, by name.
func (s sentFiles) elsewhereAll() []*request.File {
	var all []*request.File
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, err := s[name].Data(); err != nil {
			all = append(all, s[name])
		}
	}
	return all
}

// attach returns the program's one value of a file.
func (s sentFiles) attach(name string, build func() *request.File) *request.File {
	f := s[name]
	if f == nil {
		f = build()
		s[name] = f
	}
	return f
}

// data returns a file of the program by its name.
func (l *loader) data(fn, name string) ([]byte, error) {
	i := slices.IndexFunc(l.program.Files, func(f message.File) bool { return f.Name == name })
	if i < 0 {
		known := make([]string, len(l.program.Files))
		for i, f := range l.program.Files {
			known[i] = f.Name
		}
		f := language.Faultf("the program has no file %q", language.Clip(name, 80)).In("#1").Meant(name, known[1:])
		if !strings.HasPrefix(f.Remedy, "did you mean") {
			f.Do("it must lie in the folder of %s, and its name must stand in the call as it is: %s(\"name\")", l.program.Main, fn)
		}
		return nil, f
	}
	return l.program.Files[i].Data, nil
}

// readProto is grpc.proto(path, imports): the services of a .proto file. What it imports travels with the
// program, from the folders that schema.Beside lists.
func readProto(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "grpc.proto"
	var in [2]starlark.Value
	if err := language.Bind(fn, []string{"path", "imports"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, err := schemaName(fn, in[0], "shop.proto")
	if err != nil {
		return nil, err
	}
	folders, err := language.Names(fn, "imports", "folders", in[1])
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if err := collect.InsideFolder(fn, folder); err != nil {
			return nil, err.In("imports").Do("write imports = [\"vendor\"]: a folder below that of %s", l.program.Main)
		}
	}
	main, err := l.data(fn, name)
	if err != nil {
		return nil, err
	}
	s, err := schema.Proto(name, func(imported string) ([]byte, bool) {
		if imported == name {
			return main, true
		}
		for _, at := range schema.Beside(name, folders, imported) {
			if data, err := l.data(fn, at); err == nil {
				return data, true
			}
		}
		return nil, false
	})
	if err != nil {
		return nil, language.Faultf("%s: %v", fn, err).In("#1").Do("imports = [\"folder\"] names folders below that of %s in which imported files lie", l.program.Main)
	}
	return &request.SchemaValue{Opaque: language.Opaque{Kind: fn}, Source: name, Schema: s}, nil
}

// readDescriptors is grpc.descriptors(path): the services of a descriptor set.
func readDescriptors(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "grpc.descriptors"
	var in [1]starlark.Value
	if err := language.Bind(fn, []string{"path"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	name, err := schemaName(fn, in[0], "shop.binpb")
	if err != nil {
		return nil, err
	}
	data, err := l.data(fn, name)
	if err != nil {
		return nil, err
	}
	s, err := schema.Descriptors(data)
	if err != nil {
		return nil, language.Faultf("%s: %s: %v", fn, name, err).In("#1")
	}
	return &request.SchemaValue{Opaque: language.Opaque{Kind: fn}, Source: name, Schema: s}, nil
}

// schemaName reads the name of a file with a schema.
func schemaName(fn string, v starlark.Value, example string) (string, error) {
	name, ok := v.(starlark.String)
	if !ok {
		if v == nil {
			return "", language.Faultf("%s: the file is missing", fn).Do("write %s(%q)", fn, example)
		}
		return "", language.WrongType(fn, "path", "a text", v).Do("write %s(%q)", fn, example)
	}
	if err := collect.InsideFolder(fn, string(name)); err != nil {
		return "", err.In("#1").Do("write %s(%q)", fn, example)
	}
	return string(name), nil
}

// reflects is grpc.reflect(services, metadata, tls, timeout): the server of its client tells its services.
func reflects(l *loader, _ syntax.Position, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return request.NewReflection(told{l.program, l.vault}, args, kwargs)
}

// Unreflected is the error of a program without the descriptors that a server tells. A command asks
// the server, adds them as the file that Name names, and loads the program again.
type Unreflected struct {
	Name  string
	Ask   request.Reflection
	vault *secret.Vault
	cause error // a *Fault, and then the *Error that it became
}

// Error implements error.
func (u *Unreflected) Error() string { return u.cause.Error() }

// Unwrap returns the *Error.
func (u *Unreflected) Unwrap() error { return u.cause }

// Secrets lists those that the file declares before the client, if Ask has any in it: Reveal takes their
// values.
func (u *Unreflected) Secrets() []string {
	if !u.vault.Has(string(u.Ask.TLS.Key)) && !slices.ContainsFunc(u.Ask.Metadata, func(h builtin.Pair) bool { return u.vault.Has(h.Value) }) {
		return nil
	}
	return u.vault.Names()
}

// Reveal puts the values of secrets into Ask.
func (u *Unreflected) Reveal(given []message.Secret) error {
	if len(given) == 0 {
		return nil
	}
	if err := u.vault.Open(given); err != nil {
		return err
	}
	u.Ask.Metadata = slices.Clone(u.Ask.Metadata)
	for i := range u.Ask.Metadata {
		h := &u.Ask.Metadata[i]
		value, err := u.vault.Fill("metadata", h.Value, secret.Field)
		if err != nil {
			return err
		}
		h.Value = value
	}
	key, err := u.vault.Fill("a key", string(u.Ask.TLS.Key), secret.Plain)
	u.Ask.TLS.Key = []byte(key)
	return err
}

// told has the descriptors that servers have told.
type told struct {
	program *message.Program
	vault   *secret.Vault
}

// Reflected implements request.Reflector. The colon keeps the name apart from those of a folder's files.
func (t told) Reflected(r *request.Reflection) (*schema.Schema, error) {
	name := "grpc.reflect:" + r.URL
	if len(r.Services) > 0 {
		sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(r.Services)), " ")))
		name += "?" + hex.EncodeToString(sum[:8])
	}
	i := slices.IndexFunc(t.program.Files, func(f message.File) bool { return f.Name == name })
	if i < 0 {
		return nil, &Unreflected{Name: name, Ask: *r, vault: t.vault, cause: language.Faultf("grpc.client: the program has no descriptors of %s", r.URL).In("schema").Do("run, submit and validate ask the server for them; grpc.descriptors(\"shop.binpb\") takes them of a file")}
	}
	s, err := schema.Descriptors(t.program.Files[i].Data)
	if err != nil {
		return nil, language.Faultf("grpc.client: the descriptors of %s: %v", r.URL, err).In("schema")
	}
	return s, nil
}
