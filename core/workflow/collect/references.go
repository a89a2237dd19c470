package collect

import "go.starlark.net/syntax"

// reference is a file that another one names, or a pattern of many.
type reference struct {
	name string
	at   syntax.Expr
	kind referenceKind

	folders []string // of isProto: where what it imports may lie
}

// referenceKind is how a file names another one.
type referenceKind uint8

const (
	isCode referenceKind = iota // in load()
	isBytes
	isGlob
	isCSV
	isJSON
	isProto // in grpc.proto: it names others
	isSet   // in grpc.descriptors
)

// kindOf reports which words name data; false: the function is another one.
func kindOf(fn syntax.Expr) (referenceKind, bool) {
	switch fn := fn.(type) {
	case *syntax.Ident:
		return isBytes, fn.Name == "file"
	case *syntax.DotExpr:
		of, ok := fn.X.(*syntax.Ident)
		switch {
		case !ok:
		case of.Name == "file" && fn.Name.Name == "glob":
			return isGlob, true
		case of.Name == "feed" && fn.Name.Name == "csv":
			return isCSV, true
		case of.Name == "feed" && fn.Name.Name == "json":
			return isJSON, true
		case of.Name == "grpc" && fn.Name.Name == "proto":
			return isProto, true
		case of.Name == "grpc" && fn.Name.Name == "descriptors":
			return isSet, true
		}
	}
	return 0, false
}

// references lists the files that a file names: in load(), and for data as a literal.
func references(parsed *syntax.File) []reference {
	var all []reference
	syntax.Walk(parsed, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			all = append(all, reference{name: n.Module.Value.(string), at: n.Module})
		case *syntax.CallExpr:
			kind, ok := kindOf(n.Fn)
			if !ok || len(n.Args) == 0 || len(n.Args) > 1 && (kind == isBytes || kind == isGlob) {
				break
			}
			arg := n.Args[0]
			if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
				arg = named.Y
			}
			if name, ok := arg.(*syntax.Literal); ok && name.Token == syntax.STRING {
				all = append(all, reference{name: name.Value.(string), at: arg, kind: kind, folders: folders(n.Args[1:])})
			}
		}
		return true
	})
	return all
}

// folders lists the literals of a list, which is the last argument.
func folders(args []syntax.Expr) (all []string) {
	if len(args) != 1 {
		return nil
	}
	arg := args[0]
	if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
		arg = named.Y
	}
	list, ok := arg.(*syntax.ListExpr)
	if !ok {
		return nil
	}
	for _, one := range list.List {
		if text, ok := one.(*syntax.Literal); ok && text.Token == syntax.STRING {
			all = append(all, text.Value.(string))
		}
	}
	return all
}
