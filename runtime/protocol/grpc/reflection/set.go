package reflection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of a FileDescriptorProto.
const (
	fileName       = 1
	fileDependency = 3
	fileSource     = 9 // comments, and places in the text
)

// add takes a file, and wants those that it imports.
func (t *Talk) add(b []byte) error {
	name, imports, kept, ok := strip(b)
	switch {
	case !ok || name == "":
		return errors.New("reflection answers with a descriptor that is none")
	case len(name) > NameMost:
		return fmt.Errorf("%w: the name of a file has %d bytes, at most %d are read", ErrLarge, len(name), NameMost)
	case t.known[name] != nil:
		return nil
	}
	if t.bytes += len(kept); t.bytes > BytesMost {
		return fmt.Errorf("%w: its files have more than %d MiB", ErrLarge, BytesMost>>20)
	}
	if t.known[name] = kept; len(t.known) > FilesMost {
		return fmt.Errorf("%w: it has more than %d files", ErrLarge, FilesMost)
	}
	for _, of := range imports {
		if t.known[of] != nil || t.asked[of] || strings.HasPrefix(of, "google/protobuf/") {
			continue
		}
		if len(of) > NameMost || len(t.asked) >= FilesMost {
			return fmt.Errorf("%w: its files import more than %d others, or names of more than %d bytes", ErrLarge, FilesMost, NameMost)
		}
		t.asked[of], t.wanted = true, append(t.wanted, of)
	}
	return nil
}

// Set returns a FileDescriptorSet of the files, and how many they are.
func (t *Talk) Set() (set []byte, files int) {
	for _, name := range slices.Sorted(maps.Keys(t.known)) {
		set = protowire.AppendBytes(protowire.AppendTag(set, 1, protowire.BytesType), t.known[name])
	}
	return set, len(t.known)
}

// strip reads a file's name and imports, and drops what its source's text has beside.
func strip(b []byte) (name string, imports []string, kept []byte, ok bool) {
	kept = make([]byte, 0, len(b))
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeField(b)
		if n < 0 {
			return "", nil, nil, false
		}
		one := b[:n]
		b = b[n:]
		if kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(one[protowire.SizeTag(field):])
			switch field {
			case fileName:
				name = string(v)
			case fileDependency:
				imports = append(imports, string(v))
			case fileSource:
				continue
			}
		}
		kept = append(kept, one...)
	}
	return name, imports, kept, true
}

// fieldsOf returns the bytes of all fields that a path of numbers leads to.
func fieldsOf(b []byte, path ...protowire.Number) (all [][]byte) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return all
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(field, kind, b)
		if size < 0 {
			return all
		}
		if field == path[0] && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			if len(path) == 1 {
				all = append(all, v)
			} else {
				all = append(all, fieldsOf(v, path[1:]...)...)
			}
		}
		b = b[size:]
	}
	return all
}
