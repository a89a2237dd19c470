package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/core/workflow/collect"
	"hyperscale/runtime/rows"
)

// TestLinks: the file that a person names may be a link to anywhere. What it names may not.
func TestLinks(t *testing.T) {
	around := t.TempDir()
	folder := filepath.Join(around, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"far.star": "x = 1\n", "key.txt": "outside", "folder/near.txt": "inside"} {
		if err := os.WriteFile(filepath.Join(around, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(around, "key.txt"), fileMax+1); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"main.star": "../far.star", "load.star": "../far.star", "key.txt": filepath.Join(around, "key.txt"), "link.txt": "near.txt"} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	from := named{Folder(folder), "main.star"}
	for _, name := range []string{"load.star", "key.txt", "../far.star"} {
		if _, err := from.Read(name); !errors.Is(err, rows.ErrOutside) || errors.Is(err, collect.ErrLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"main.star": "x = 1\n", "link.txt": "inside", "near.txt": "inside"} {
		if got, err := from.Read(name); err != nil || string(got) != want {
			t.Errorf("%s has %q: %v", name, got, err)
		}
	}
	for _, l := range []collect.Large{{Name: "key.txt", Whole: true}, {Name: "key.txt"}} {
		if _, err := ReadFeeds(folder, []collect.Large{l}); !errors.Is(err, rows.ErrOutside) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	text := `load("load.star", "x")` + "\n"
	if err := os.Remove(filepath.Join(folder, "main.star")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.star"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := collect.Files("main.star", from)
	if err == nil || !strings.Contains(err.Error(), `main.star:1:`) || !strings.Contains(err.Error(), `load: "load.star" leads out of the folder `+folder) {
		t.Errorf("it says %v", err)
	}
}
