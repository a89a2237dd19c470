package glob

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// disk is the names of files; one that ends with @ is a link that leads out.
type disk []string

func (d disk) List(folder string) ([]Entry, error) {
	var all []Entry
	for _, name := range d {
		rest, ok := strings.CutPrefix(name, folder+"/")
		if folder == "" {
			rest, ok = name, true
		}
		if !ok {
			continue
		}
		first, _, below := strings.Cut(rest, "/")
		e := Entry{Name: first, Kind: Plain, Bytes: int64(len(name))}
		switch {
		case below:
			e = Entry{Name: first, Kind: Folder}
		case strings.HasSuffix(first, "@"):
			e.Kind = Outside
		}
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	slices.Reverse(all)
	return all, nil
}

func names(all []Entry) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Name)
	}
	return out
}

func TestFind(t *testing.T) {
	here := disk{"main.star", "up/b.jpg", "up/a.jpg", "up/.c.jpg", "up/x/a.jpg", "up/x/y/a.png", "up/.git/a.jpg", "out/in@"}
	for _, test := range []struct{ pattern, want string }{
		{"up/*.jpg", "up/a.jpg up/b.jpg"},
		{"up/*", "up/a.jpg up/b.jpg"},
		{"up/**", "up/a.jpg up/b.jpg up/x/a.jpg up/x/y/a.png"},
		{"**/a.*", "up/a.jpg up/x/a.jpg up/x/y/a.png"},
		{"up/**/a.jpg", "up/a.jpg up/x/a.jpg"},
		{"up/?.jpg", "up/a.jpg up/b.jpg"},
		{"up/[b-z].jpg", "up/b.jpg"},
		{"up/.*", "up/.c.jpg"},
		{"up/.git/*", "up/.git/a.jpg"},
		{"up/a.jpg", "up/a.jpg"},
		{"gone/*", ""},
		{"up", ""},
		{"out/*", `"out/in@" is a link that leads out of the folder, or nowhere`},
	} {
		p, err := Parse(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Find(here, p, 9)
		got := strings.Join(names(found), " ")
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.pattern, got, test.want)
		}
	}
	if _, err := Parse("up/[a"); err == nil {
		t.Error("a [ without its ] is a pattern")
	}
}

// A pattern that finds too much, and a folder that cannot be listed, are errors.
func TestFindIsBounded(t *testing.T) {
	all, err := Parse("**")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(disk{"a", "b", "c"}, all, 2); err == nil || !strings.Contains(err.Error(), "more than 2 files") {
		t.Errorf("got %v", err)
	}
	if found, err := Find(disk{"a", "b"}, all, 2); err != nil || len(found) != 2 {
		t.Errorf("got %v %v", found, err)
	}
	if _, err := Find(endless{}, all, 9); err == nil || !strings.Contains(err.Error(), "100000 files and folders") {
		t.Errorf("got %v", err)
	}
	if _, err := Find(broken{}, all, 9); err != errBroken {
		t.Errorf("got %v", err)
	}
}

// endless has folders in each folder.
type endless struct{}

func (endless) List(string) ([]Entry, error) {
	all := make([]Entry, 1000)
	for i := range all {
		all[i] = Entry{Name: fmt.Sprint(i), Kind: Folder}
	}
	return all, nil
}

var errBroken = errors.New("the disk is broken")

type broken struct{}

func (broken) List(string) ([]Entry, error) { return nil, errBroken }

// Find returns the files that Match accepts, sorted; Match is what a plain recursion says.
func TestFindIsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "ab", ".a"})
		var here disk
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			name := strings.Join(rapid.SliceOfN(part, 0, 3).Draw(t, "folders"), "/d/")
			here = append(here, path.Join(name, rapid.SampledFrom([]string{"x", "y", ".z"}).Draw(t, "file")))
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"**", "*", "a", "?", "d", "x", ".*", "[a-c]*"}), 1, 6).Draw(t, "pattern"), "/")
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, name := range here {
			if slow(p.parts, strings.Split(name, "/")) {
				want = append(want, name)
			}
			if p.Match(name) != slow(p.parts, strings.Split(name, "/")) {
				t.Fatalf("%s matches %s: %v", text, name, p.Match(name))
			}
		}
		slices.Sort(want)
		found, err := Find(here, p, 100)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Compact(want), names(found)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

// slow matches as it is said: ** is no folder, or one and the rest.
func slow(pattern, name []string) bool {
	switch {
	case len(pattern) == 0 || len(name) == 0:
		return len(pattern) == len(name)
	case pattern[0] == anywhere:
		return slow(pattern[1:], name) || name[0][0] != '.' && slow(pattern, name[1:])
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && (name[0][0] != '.' || pattern[0][0] == '.') && slow(pattern[1:], name[1:])
}

// FuzzMatch matches any pattern with any name: it ends, and says what the recursion says.
func FuzzMatch(f *testing.F) {
	f.Add("up/**/*.jpg", "up/x/a.jpg")
	f.Add("**/**/**/[a", "a/b/.c")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := Parse(pattern)
		if err != nil || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || name == "" || strings.Contains(name, "//") {
			return
		}
		got, parts := p.Match(name), strings.Split(name, "/")
		if len(p.parts)+len(parts) > 16 {
			return // the recursion would take too long
		}
		if got != slow(p.parts, parts) {
			t.Fatalf("%q matches %q: %v", pattern, name, got)
		}
	})
}
