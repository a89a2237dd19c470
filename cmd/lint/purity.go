package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pureRooms must give the same outputs for the same inputs on every machine.
var pureRooms = []string{"core", "sim", "netsim"}

// impureImports bans each path and the paths below it, unless pureImports names them.
var impureImports = []struct{ path, remedy string }{
	{"sync", "a machine runs on one goroutine: use plain fields"},
	{"os", "ask node.Env (Store, Executor), or take the bytes as an argument"},
	{"net", "addresses are net/netip values, traffic goes through node.Env"},
	{"syscall", "ask node.Env, or take the value as an argument"},
	{"math/rand", "draw from node.Rand, each purpose from its own stream"},
	{"crypto/rand", "draw from node.Rand, each purpose from its own stream"},
	{"hash/maphash", "its seed differs in each process: use xxhash or hash/fnv"},
	{"unsafe", "addresses differ from run to run: use plain values"},
	{"log", "emit an event, the runtime logs it"},
	{"runtime", "its answers differ from process to process: ask node.Env, or take the value as an argument"},
}

// pureImports are below a banned path and yet only compute on values.
var pureImports = []string{"net/netip", "net/url"}

// randHome is the only package that may name math/rand/v2: node.Rand hides it.
const randHome = "core/node"

// messageHome holds what crosses a wire, kernelHome the clock's type.
const (
	messageHome = "core/message"
	kernelHome  = "core/node"
)

// timeFuncs are the functions of package time that read or wait for the clock.
var timeFuncs = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

const (
	remedyClock = "the time of an input is env.Now(), waiting is a keyed timer of node.Env"
	remedyGo    = "return, and go on in a timer or a completion event"
	remedyChan  = "send a message or set a field: a machine runs on one goroutine"
)

func isPure(pkg string) bool {
	floor, _, _ := strings.Cut(pkg, "/")
	return slices.Contains(pureRooms, floor)
}

// checkPureImports lets tests and harnesses read files and compare.
func checkPureImports(f *file) []complaint {
	if !isPure(f.pkg) || f.test || isHarness(f.pkg) {
		return nil
	}
	var found []complaint
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if slices.Contains(pureImports, imported) || imported == "math/rand/v2" && f.pkg == randHome {
			continue
		}
		for _, banned := range impureImports {
			if imported == banned.path || strings.HasPrefix(imported, banned.path+"/") {
				found = append(found, f.at(spec.Pos(), fmt.Sprintf("%s is pure and imports %s", f.pkg, imported), banned.remedy))
			}
		}
	}
	return found
}

// checkPureCode complains of go statements and clocks in tests too: a golden
// that waits or races is no golden.
func checkPureCode(f *file) []complaint {
	if !isPure(f.pkg) {
		return nil
	}
	var found []complaint
	add := func(n ast.Node, wrong, remedy string) { found = append(found, f.at(n.Pos(), wrong, remedy)) }
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			add(statement, "go statement in pure code", remedyGo)
		}
		if name, ok := timeFunc(f.info, n); ok {
			add(n, "time."+name+" in pure code", remedyClock)
		}
		if f.test {
			return true
		}
		if what := channelUse(n); what != "" {
			add(n, what+" in pure code", remedyChan)
		}
		if call, ok := n.(*ast.CallExpr); ok && printsPointer(f.info, call) {
			add(call, "%p prints an address, which differs from run to run", "print an id")
		}
		return true
	})
	return found
}

// timeFunc recognizes a banned function of package time whatever the import is
// called, also where it is passed as a value.
func timeFunc(info *types.Info, n ast.Node) (string, bool) {
	id, ok := n.(*ast.Ident)
	if !ok {
		return "", false
	}
	function, ok := info.Uses[id].(*types.Func)
	if !ok || function.Pkg() == nil || function.Pkg().Path() != "time" || function.Signature().Recv() != nil {
		return "", false
	}
	return function.Name(), slices.Contains(timeFuncs, function.Name())
}

// checkInstant keeps clocks off the wire: an Instant belongs to one incarnation of
// one node, and no other node can read it.
func checkInstant(f *file) []complaint {
	if f.pkg != messageHome && !strings.HasPrefix(f.pkg, messageHome+"/") {
		return nil
	}
	var found []complaint
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		name, ok := f.info.Uses[id].(*types.TypeName)
		if ok && name.Name() == "Instant" && name.Pkg() != nil && name.Pkg().Path() == f.module+"/"+kernelHome {
			found = append(found, f.at(id.Pos(), "node.Instant in "+f.pkg, "send a duration: the receiver's clock is another one"))
		}
		return true
	})
	return found
}

func channelUse(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChanType:
		return "channel"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "channel send"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "channel receive"
		}
	}
	return ""
}

var pointerVerb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

// printsPointer looks for the verb in calls of functions named like formatters.
func printsPointer(info *types.Info, call *ast.CallExpr) bool {
	if !isFormatter(call.Fun) {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		value := info.Types[arg].Value
		if value == nil || value.Kind() != constant.String {
			return false
		}
		plain := strings.ReplaceAll(constant.StringVal(value), "%%", "")
		return pointerVerb.MatchString(plain)
	})
}

func isFormatter(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return strings.HasSuffix(fun.Name, "f")
	case *ast.SelectorExpr:
		return strings.HasSuffix(fun.Sel.Name, "f")
	}
	return false
}
