package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The generator rejects a message whose directive leaves open how it travels, who sends it, or
// what a mailbox without room does with it.
func TestDirectivesThatLeaveSomethingOpenAreRejected(t *testing.T) {
	for _, tc := range []struct{ what, directive, want string }{
		{"all that is needed", "kind=9 class=control priority=high full=keep from=gate since=0", ""},
		{"a refusal's fields", "kind=9 class=control priority=high full=refuse from=gate,client since=2 stub=A", ""},
		{"a right", "kind=9 class=control priority=high full=keep from=client since=0 needs=view", ""},
		{"no right of a client", "kind=9 class=control priority=high full=keep from=client since=0", "wants needs="},
		{"a right of a node", "kind=9 class=control priority=high full=keep from=client,gate since=0 needs=view", "wants needs="},
		{"a right that is none", "kind=9 class=control priority=high full=keep from=client since=0 needs=all", "needs=all is no right"},
		{"a subject", "kind=9 class=control priority=high full=latest from=gate since=0 subject=A,B", ""},
		{"no kind", "class=control priority=high full=keep from=gate since=0", "want kind="},
		{"no full", "kind=9 class=control priority=high from=gate since=0", "want full="},
		{"an unknown full", "kind=9 class=control priority=high full=never from=gate since=0", "want full="},
		{"no from", "kind=9 class=control priority=high full=keep since=0", "want from="},
		{"a role that is none", "kind=9 class=control priority=high full=keep from=door since=0", "from=door is no role"},
		{"no since", "kind=9 class=control priority=high full=keep from=gate", "since="},
		{"a version that is none", "kind=9 class=control priority=high full=keep from=gate since=x", "want a minor version"},
		{"a refusal without fields", "kind=9 class=control priority=high full=refuse from=gate since=0", "wants stub="},
		{"fields of no refusal", "kind=9 class=control priority=high full=keep from=gate since=0 stub=A", "wants stub="},
		{"a subject of what replaces nothing", "kind=9 class=control priority=high full=keep from=gate since=0 subject=A", "only full=latest"},
		{"a field that is none", "kind=9 class=control priority=high full=latest from=gate since=0 subject=C", "has no field C"},
		{"a word that is none", "kind=9 class=control priority=high full=keep from=gate since=0 till=3", "till= is not known"},
	} {
		path := filepath.Join(t.TempDir(), "thing.go")
		source := "package message\n\n//catalogue:message " + tc.directive + "\ntype Thing struct {\n\tA uint64 `msg:\"a\"`\n\tB string `msg:\"b\"`\n}\n"
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := parse([]string{path})
		if err == nil {
			_, err = emit(c)
		}
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.what, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want an error that says %q", tc.what, err, tc.want)
		}
	}
}

// TestOmittedFieldsKeepTheHeadOfTheirStruct: the head of 16 fields is longer than that of 15, so that the
// generator rejects a struct which may have either.
func TestOmittedFieldsKeepTheHeadOfTheirStruct(t *testing.T) {
	for _, c := range []struct {
		fields, omitted int
		ok              bool
	}{{15, 15, true}, {16, 1, false}, {17, 1, true}, {17, 2, false}, {20, 4, true}} {
		var source strings.Builder
		source.WriteString("package message\n\ntype Thing struct {\n")
		for i := range c.fields {
			option := ""
			if i < c.omitted {
				option = ",omitempty"
			}
			fmt.Fprintf(&source, "\tF%d uint64 `msg:\"f%d%s\"`\n", i, i, option)
		}
		source.WriteString("}\n")
		path := filepath.Join(t.TempDir(), "thing.go")
		if err := os.WriteFile(path, []byte(source.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parse([]string{path}); (err == nil) != c.ok {
			t.Errorf("%d of %d fields are omitted: %v", c.omitted, c.fields, err)
		}
	}
}
