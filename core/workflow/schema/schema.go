package schema

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Schema has the services of some files.
type Schema struct {
	methods map[string]*Method // by "package.Service/Method"
	names   []string           // of them, sorted
}

// Method is one of a service.
type Method struct {
	Name                         string // "package.Service/Method"
	ClientStreams, ServerStreams bool

	in, out protoreflect.MessageDescriptor
	types   *dynamicpb.Types // for Any and extensions
}

// setMax bounds a descriptor set, in bytes.
const setMax = 4 << 20

// Descriptors reads a FileDescriptorSet, as protoc --include_imports --descriptor_set_out or
// buf build write it.
func Descriptors(data []byte) (*Schema, error) {
	if len(data) > setMax {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(data), setMax)
	}
	var set descriptorpb.FileDescriptorSet
	if err := (proto.UnmarshalOptions{RecursionLimit: nestingMost}).Unmarshal(data, &set); err != nil || len(set.File) == 0 {
		return nil, fmt.Errorf("it is no descriptor set: make it by protoc --include_imports --descriptor_set_out=FILE")
	}
	return FromFiles(&set)
}

// FromFiles builds a schema of descriptors, in any order.
func FromFiles(set *descriptorpb.FileDescriptorSet) (*Schema, error) {
	known := map[string]bool{}
	for _, f := range set.File {
		known[f.GetName()] = true
	}
	for i := 0; i < len(set.File); i++ { // it grows
		for _, name := range set.File[i].GetDependency() {
			if known[name] {
				continue
			}
			if standard, err := protoregistry.GlobalFiles.FindFileByPath(name); err == nil && strings.HasPrefix(name, "google/protobuf/") {
				known[name] = true
				set.File = append(set.File, protodesc.ToFileDescriptorProto(standard))
			}
		}
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("%s", clean(err))
	}
	return of(files), nil
}

// of lists the methods of files.
func of(files *protoregistry.Files) *Schema {
	s := &Schema{methods: map[string]*Method{}}
	types := dynamicpb.NewTypes(files)
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			service := f.Services().Get(i)
			for k := range service.Methods().Len() {
				m := service.Methods().Get(k)
				name := string(service.FullName()) + "/" + string(m.Name())
				s.methods[name] = &Method{
					Name: name, ClientStreams: m.IsStreamingClient(), ServerStreams: m.IsStreamingServer(),
					in: m.Input(), out: m.Output(), types: types,
				}
				s.names = append(s.names, name)
			}
		}
		return true
	})
	slices.Sort(s.names)
	return s
}

// Method returns the method with a name, "package.Service/Method"; nil: there is none.
func (s *Schema) Method(name string) *Method { return s.methods[strings.TrimPrefix(name, "/")] }

// Names lists the methods.
func (s *Schema) Names() []string { return s.names }

// JSON returns an answer as JSON: fields under their JSON names, those with default values left
// out.
func (m *Method) JSON(answer []byte) ([]byte, error) {
	got := dynamicpb.NewMessage(m.out)
	if err := (proto.UnmarshalOptions{Resolver: m.types, RecursionLimit: nestingMost}).Unmarshal(answer, got); err != nil {
		return nil, fmt.Errorf("it is no %s: %s", m.out.FullName(), clean(err))
	}
	text, err := protojson.MarshalOptions{Resolver: m.types}.Marshal(got)
	if err != nil {
		return nil, fmt.Errorf("it is no %s: %s", m.out.FullName(), clean(err))
	}
	return compact(text), nil
}

// nestingMost bounds how deep a message nests.
const nestingMost = 200

// clean returns an error without the library's name and its blanks, which differ between builds.
func clean(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	for _, prefix := range []string{"proto:", "protojson:"} {
		text = strings.TrimSpace(strings.TrimPrefix(text, prefix))
	}
	return text
}
