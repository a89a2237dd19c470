package schema

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/options"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// The files that every .proto file may import.
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// Proto reads a .proto file and what it imports. Read returns a file's text by its path, and where
// it found it for messages.
func Proto(main string, read func(name string) (text []byte, ok bool)) (*Schema, error) {
	c := compiler{symbols: &linker.Symbols{}, done: map[string]linker.File{}}
	if _, err := c.file(main, read); err != nil {
		return nil, err
	}
	return FromFiles(&c.set)
}

// compiler reads files that import each other.
type compiler struct {
	symbols *linker.Symbols
	done    map[string]linker.File
	opened  []string // from the main file to the one that is read
	set     descriptorpb.FileDescriptorSet
}

// importsMost bounds how deep files import files.
const importsMost = 64

func (c *compiler) file(name string, read func(string) ([]byte, bool)) (linker.File, error) {
	if f := c.done[name]; f != nil {
		return f, nil
	}
	if slices.Contains(c.opened, name) {
		return nil, fmt.Errorf("%s imports itself, directly or by others", name)
	}
	if len(c.opened) == importsMost {
		return nil, fmt.Errorf("files import files more than %d deep", importsMost)
	}
	text, ok := read(name)
	if !ok {
		return c.standard(name)
	}
	c.opened = append(c.opened, name)
	handler := reporter.NewHandler(nil) // it stops at the first error
	tree, err := parser.Parse(name, strings.NewReader(string(text)), handler)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ResultFromAST(tree, true, handler)
	if err != nil {
		return nil, err
	}
	var imports linker.Files
	for _, of := range parsed.FileDescriptorProto().GetDependency() {
		f, err := c.file(of, read)
		if err != nil {
			return nil, err
		}
		imports = append(imports, f)
	}
	linked, err := linker.Link(parsed, imports, c.symbols, handler)
	if err != nil {
		return nil, err
	}
	if _, err := options.InterpretOptions(linked, handler); err != nil {
		return nil, err
	}
	c.opened = c.opened[:len(c.opened)-1]
	c.done[name] = linked
	c.set.File = append(c.set.File, protodesc.ToFileDescriptorProto(linked))
	return linked, nil
}

// standard returns a file that comes with every compiler.
func (c *compiler) standard(name string) (linker.File, error) {
	known, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil || !strings.HasPrefix(name, "google/protobuf/") {
		by := ""
		if len(c.opened) > 0 {
			by = ", which " + c.opened[len(c.opened)-1] + " imports"
		}
		return nil, fmt.Errorf("there is no file %s%s", name, by)
	}
	f, err := linker.NewFileRecursive(protoreflect.FileDescriptor(known))
	if err != nil {
		return nil, err
	}
	c.done[name] = f
	return f, nil
}

// Imports lists the paths that the text of a .proto file imports.
func Imports(text []byte) []string {
	handler := reporter.NewHandler(reporter.NewReporter(func(reporter.ErrorWithPos) error { return nil }, nil))
	tree, err := parser.Parse("", strings.NewReader(string(text)), handler)
	if tree == nil {
		return nil
	}
	_ = err // the compiler reports what is wrong with the file
	parsed, _ := parser.ResultFromAST(tree, false, handler)
	if parsed == nil {
		return nil
	}
	return parsed.FileDescriptorProto().GetDependency()
}

// Beside lists the places where a file that a .proto file imports may lie: below the folder of the
// main file, below the program's, and below others that were named.
func Beside(main string, folders []string, imported string) []string {
	var all []string
	for _, folder := range append([]string{path.Dir(main), "."}, folders...) {
		if at := path.Join(folder, imported); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}
