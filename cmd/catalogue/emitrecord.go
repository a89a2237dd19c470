package main

import (
	"bytes"
	"fmt"
)

// recordEmitter writes the codec of records: fields that are not zero, then those that
// are not known.
type recordEmitter struct {
	bytes.Buffer
	r *records
}

func (e *recordEmitter) p(format string, args ...any) { fmt.Fprintf(e, format+"\n", args...) }

// set is the condition under which a field is written.
func (e *recordEmitter) set(f recordField) string {
	v := "z." + f.name
	if f.list {
		return "len(" + v + ") > 0"
	}
	switch base := e.r.base(f.typ); base {
	case "string":
		return v + ` != ""`
	case "bool":
		return v
	case "int64", "uint8", "uint16", "uint32", "uint64":
		return v + " != 0"
	case "fence", "file":
		return fmt.Sprintf("%s != (%s{})", v, f.typ)
	}
	return v + ".fields() > 0"
}

func (e *recordEmitter) count(s *recordType) {
	e.p("// fields counts what a %s is written with.\nfunc (z *%s) fields() int {\nn := z.Unknown.fields()", s.name, s.name)
	for _, f := range s.fields {
		e.p("if %s {\nn++\n}", e.set(f))
	}
	e.p("return n\n}\n")
}

func (e *recordEmitter) append(s *recordType) {
	e.p("func (z *%s) append(b []byte) []byte {\nb = msgp.AppendMapHeader(b, uint32(z.fields()))", s.name)
	for _, f := range s.fields {
		e.p("if %s {\nb = msgp.AppendString(b, %q)", e.set(f), f.key)
		v := "z." + f.name
		if f.list {
			e.p("b = msgp.AppendArrayHeader(b, listed(%q, len(%s), %d))\nfor i := range %s {", s.name+"."+f.name, v, f.most, v)
			v += "[i]"
		}
		e.value(f, v)
		if f.list {
			e.p("}")
		}
		e.p("}")
	}
	e.p("return append(b, z.Unknown...)\n}\n")
}

func (e *recordEmitter) value(f recordField, v string) {
	switch base := e.r.base(f.typ); base {
	case "string":
		e.p("b = msgp.AppendString(b, string(%s))", v)
	case "bool":
		e.p("b = msgp.AppendBool(b, %s)", v)
	case "int64":
		e.p("b = msgp.AppendInt64(b, int64(%s))", v)
	case "uint8", "uint16", "uint32", "uint64":
		e.p("b = msgp.AppendUint64(b, uint64(%s))", v)
	case "fence":
		e.p("b = appendFence(b, %s)", v)
	case "file":
		e.p("b = msgp.AppendBytes(b, %s[:])", v)
	default:
		e.p("b = %s.append(b)", v)
	}
}

func (e *recordEmitter) read(s *recordType) {
	e.p("func (z *%s) read(r *reader) {", s.name)
	if len(s.fields) > 0 {
		e.p("var seen uint64")
	}
	e.p("for n := r.fields(); n > 0 && r.err == nil; n-- {\nswitch name := r.name(); string(name) {")
	for i, f := range s.fields {
		e.p("case %q:\nr.once(&seen, %d)", f.key, i)
		v := "z." + f.name
		if f.list {
			e.p("%s = make([]%s, r.list(%d))\nfor i := range %s {", v, f.typ, f.most, v)
			v += "[i]"
		}
		e.field(f, v)
		if f.list {
			e.p("}")
		}
	}
	e.p("default:\nr.unknown(&z.Unknown, name)\n}\n}")
	for _, f := range s.fields {
		if f.required {
			e.p("r.require(%s, %q)", e.set(f), s.name+"."+f.key)
		}
	}
	e.p("}\n")
}

func (e *recordEmitter) field(f recordField, v string) {
	switch base := e.r.base(f.typ); base {
	case "string":
		e.p("%s = %s(r.text())", v, f.typ)
	case "bool":
		e.p("%s = r.bool()", v)
	case "int64":
		e.p("%s = %s(r.int())", v, f.typ)
	case "uint8", "uint16", "uint32", "uint64":
		e.p("%s = %s(r.uint(%s))", v, f.typ, base[len("uint"):])
	case "fence":
		e.p("%s = r.fence()", v)
	case "file":
		e.p("%s = r.file()", v)
	default:
		e.p("%s.read(r)", v)
	}
}
