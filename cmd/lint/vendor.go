package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// vendors are libraries that only some packages may import, with the paths below them. First match wins.
var vendors = []struct {
	path string
	may  []string // packages, or with "/..." all below; tests are free
	why  string
}{
	{"github.com/quic-go", []string{"runtime/protocol/island/quic/...", "runtime/protocol/hostile/http3/..."},
		"quic-go starts goroutines of its own: runtime/protocol/island/quic keeps them beside the loop, and its API moves with each version"},
	{"golang.org/x/crypto/ssh", []string{"runtime/protocol/island/ssh/...", "runtime/protocol/hostile/ssh/..."},
		"x/crypto/ssh starts seven goroutines a connection: runtime/protocol/island/ssh keeps them beside the loop"},
	{"github.com/pkg/sftp", []string{"runtime/protocol/island/ssh/...", "runtime/protocol/hostile/ssh/..."},
		"pkg/sftp starts goroutines of its own: runtime/protocol/island/ssh keeps them beside the loop"},
	{"github.com/twmb/franz-go", nil,
		"a client that retries and reconnects by itself sends another load: runtime/protocol/kafka has the frames, bench/servers the twin"},
	{"modernc.org/sqlite", []string{"runtime/history/...", "runtime/outputs/relational/..."},
		"a database is opened where its tables are: ask runtime/history for runs, runtime/outputs/relational for rows"},
	{"github.com/bufbuild/protocompile", []string{"core/workflow/schema/..."},
		"a schema is read once, before the clock: core/workflow/schema makes descriptors of it"},
}

// checkVendors complains of a library in a package that the table does not name.
func checkVendors(f *file) []complaint {
	if f.test {
		return nil
	}
	var found []complaint
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		for _, v := range vendors {
			if imported != v.path && !strings.HasPrefix(imported, v.path+"/") {
				continue
			}
			if !slices.ContainsFunc(v.may, func(pattern string) bool { return matches(pattern, f.pkg) }) {
				found = append(found, f.at(spec.Pos(), fmt.Sprintf("%s imports %s", f.pkg, imported), v.why))
			}
			break
		}
	}
	return found
}

const (
	codecFloor   = "runtime/protocol"
	remedyIsland = "a codec is bytes in, bytes out: what needs goroutines is an island, see runtime/protocol/island"
)

// concurrent are the packages of protocols that are no codecs: they may start goroutines and use channels.
var concurrent = []string{"runtime/protocol/island/...", "runtime/protocol/hostile/..."}

// checkCodecs keeps goroutines and channels out of the codecs.
func checkCodecs(f *file) []complaint {
	if f.test || isHarness(f.pkg) || !strings.HasPrefix(f.pkg, codecFloor+"/") ||
		slices.ContainsFunc(concurrent, func(pattern string) bool { return matches(pattern, f.pkg) }) {
		return nil
	}
	var found []complaint
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		what := ""
		if n != nil {
			what = channelUse(n)
		}
		if _, ok := n.(*ast.GoStmt); ok {
			what = "go statement"
		}
		if what != "" {
			found = append(found, f.at(n.Pos(), what+" in a codec", remedyIsland))
		}
		return true
	})
	return found
}
