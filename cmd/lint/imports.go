package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// checkImports holds the imports of ours against the table, and keeps test
// harnesses and package testing out of production code.
func checkImports(f *file) []complaint {
	var found []complaint
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		production := !f.test && !isHarness(f.pkg)
		if production && (imported == "testing" || strings.HasPrefix(imported, "testing/")) {
			found = append(found, f.at(spec.Pos(), "production code imports "+imported,
				"move it to a _test.go file or to a harness package like core/node/nodetest"))
		}
		target, ours := below(f.module, imported)
		if !ours || target == f.pkg {
			continue
		}
		if isHarness(target) {
			if production {
				found = append(found, f.at(spec.Pos(), fmt.Sprintf("production code imports the test harness %s", target),
					"import it from _test.go files only, or move what you need beside the harness"))
			}
			continue
		}
		if target == toys && !production {
			continue // a test machine's message needs no row
		}
		if why := forbidden(f.pkg, target); why != "" {
			found = append(found, f.at(spec.Pos(), fmt.Sprintf("%s imports %s", f.pkg, target), why))
		}
	}
	return found
}

// below cuts the module path off an import path.
func below(module, imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// checkRoomsExist complains of a package without a row and, once the product
// binary stands, of a row without its package.
func checkRoomsExist(t *tree) ([]complaint, error) {
	var found []complaint
	seen := map[string]bool{}
	for _, f := range t.files {
		if _, ok := roomOf(f.pkg); ok || seen[f.pkg] {
			continue
		}
		seen[f.pkg] = true
		found = append(found, complaint{path: f.path, wrong: fmt.Sprintf("package %s is in no row of the import table", f.pkg),
			remedy: "move it into a room that exists, or add a row with its reason to cmd/lint/rooms.go"})
	}
	if !isDir(t.root, treeIsWhole) {
		return found, nil
	}
	for _, r := range rooms {
		if slices.Contains(optionalRooms, r.name) {
			continue
		}
		for _, pattern := range r.paths {
			listed := strings.TrimSuffix(pattern, "/...")
			if !isDir(t.root, listed) {
				found = append(found, complaint{path: "cmd/lint/rooms.go",
					wrong:  fmt.Sprintf("the import table lists %s, which does not exist", listed),
					remedy: "take it out of the table, or bring the package back"})
			}
		}
	}
	return found, nil
}

func isDir(root, name string) bool {
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}
