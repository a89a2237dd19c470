package schema

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ValueError says which value cannot stand at its place, and why.
type ValueError struct{ Name, Why string }

func (e *ValueError) Error() string { return "${" + e.Name + "} " + e.Why }

// Append appends the message with its values. An error is a *ValueError.
func (t *Template) Append(dst []byte, values [][]byte) ([]byte, error) {
	return appendParts(dst, t.parts, values)
}

func appendParts(dst []byte, parts []part, values [][]byte) (out []byte, err error) {
	for i := range parts {
		p := &parts[i]
		dst = append(dst, p.literal...)
		switch {
		case p.sized != nil:
			from := len(dst)
			if dst, err = appendParts(dst, p.sized, values); err != nil {
				return dst, err
			}
			n := len(dst) - from
			more := protowire.SizeVarint(uint64(n))
			dst = append(dst, "0123456789"[:more]...) // room for the length
			copy(dst[from+more:], dst[from:from+n])
			protowire.AppendVarint(dst[:from], uint64(n))
		case p.value == noValue:
		case p.kind == 0:
			v := values[p.value]
			if p.utf8 && !utf8.Valid(v) {
				return dst, &ValueError{p.name, "is not UTF-8, which a string must be"}
			}
			dst = append(dst, v...)
		default:
			if dst, err = p.number(dst, string(values[p.value])); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// wireType is how a scalar that is neither text nor bytes goes out.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

// number appends a scalar that is neither text nor bytes.
func (p *part) number(dst []byte, text string) ([]byte, error) {
	wrong := func(what string) ([]byte, error) {
		return dst, &ValueError{p.name, fmt.Sprintf("is %.20q, which is no %s", text, what)}
	}
	switch p.kind {
	case protoreflect.BoolKind, protoreflect.EnumKind, protoreflect.FloatKind, protoreflect.DoubleKind:
		return p.named(dst, text, wrong)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		n, err := strconv.ParseUint(text, 10, 32)
		switch {
		case err != nil:
			return wrong(p.kind.String())
		case p.kind == protoreflect.Fixed32Kind:
			return protowire.AppendFixed32(dst, uint32(n)), nil
		}
		return protowire.AppendVarint(dst, n), nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err != nil:
			return wrong(p.kind.String())
		case p.kind == protoreflect.Fixed64Kind:
			return protowire.AppendFixed64(dst, n), nil
		}
		return protowire.AppendVarint(dst, n), nil
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil:
			return wrong(p.kind.String())
		case p.kind == protoreflect.Sint32Kind:
			return protowire.AppendVarint(dst, protowire.EncodeZigZag(n)), nil
		case p.kind == protoreflect.Sfixed32Kind:
			return protowire.AppendFixed32(dst, uint32(n)), nil
		}
		return protowire.AppendVarint(dst, uint64(n)), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return wrong(p.kind.String())
	case p.kind == protoreflect.Sint64Kind:
		return protowire.AppendVarint(dst, protowire.EncodeZigZag(n)), nil
	case p.kind == protoreflect.Sfixed64Kind:
		return protowire.AppendFixed64(dst, uint64(n)), nil
	}
	return protowire.AppendVarint(dst, uint64(n)), nil
}

// named appends a boolean, an enum, a float or a double.
func (p *part) named(dst []byte, text string, wrong func(what string) ([]byte, error)) ([]byte, error) {
	switch p.kind {
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return wrong("bool")
		}
		return protowire.AppendVarint(dst, protowire.EncodeBool(text == "true")), nil
	case protoreflect.EnumKind:
		if v := p.enum.Values().ByName(protoreflect.Name(text)); v != nil {
			return protowire.AppendVarint(dst, uint64(v.Number())), nil
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return wrong(string(p.enum.FullName()))
		}
		return protowire.AppendVarint(dst, uint64(n)), nil
	case protoreflect.FloatKind:
		f, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return wrong("float")
		}
		return protowire.AppendFixed32(dst, math.Float32bits(float32(f))), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return wrong("double")
	}
	return protowire.AppendFixed64(dst, math.Float64bits(f)), nil
}
