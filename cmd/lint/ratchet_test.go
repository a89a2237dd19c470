package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestFiguresAreThoseOfTheReference compares the planted module's figures with what
// an independent program printed of it: ratchet.shape is its output, as it was.
func TestFiguresAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/ratchet.shape")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"methods": "methods", "fields": "fields", "bools": "bools", "stored funcs": "functions", "files": "files", "knots": "knot"}
	line := regexp.MustCompile(`(?m)^(.{16}) +\d+ above \d+: (.*)$`)
	var want []string
	for _, part := range line.FindAllStringSubmatch(string(content), -1) {
		name := names[strings.TrimSpace(part[1])]
		if name == "" {
			t.Fatalf("the reference measures %q, which has no name here", part[1])
		}
		for place := range strings.SplitSeq(part[2], ", ") {
			if place != "" && !strings.HasSuffix(place, " 0") {
				want = append(want, name+" "+place)
			}
		}
	}
	found, err := figures("testdata/ratchet")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		if f.measure != "words" && f.measure != "label" {
			got = append(got, fmt.Sprint(f.measure, " ", f.place, " ", f.value))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("figures differ from the reference's (-want +got):\n%s", diff)
	}
}

// TestKnotHasADumbTwin: two files are in one circle when each reaches the other.
func TestKnotHasADumbTwin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 7
		g := map[string]map[string]bool{}
		for i := range rapid.IntRange(0, most).Draw(t, "files") {
			g[string(rune('a'+i))] = map[string]bool{}
		}
		names := slices.Sorted(maps.Keys(g))
		for _, from := range names {
			for _, to := range names {
				if from != to && rapid.IntRange(0, 3).Draw(t, from+to) == 0 {
					g[from][to] = true
				}
			}
		}
		want := 0
		for _, one := range names {
			size := 0
			for _, other := range names {
				if reaches(g, one, other) && reaches(g, other, one) {
					size++
				}
			}
			want = max(want, size)
		}
		if got := circle(g); len(got) != want {
			t.Fatalf("the largest circle is %v, %d files are in one", got, want)
		}
	})
}

func reaches(g map[string]map[string]bool, from, to string) bool {
	seen := map[string]bool{from: true}
	for range g {
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			maps.Copy(seen, g[name])
		}
	}
	return seen[to]
}

// TestLower runs the one command that writes the list.
func TestLower(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/ratchet")); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(root, filepath.FromSlash(exceptionsFile))
	must := func(code int, args ...string) {
		t.Helper()
		var stdout, stderr strings.Builder
		if got := command(root, args, &stdout, &stderr); got != code {
			t.Fatalf("lint %q exits with %d, not %d: %s%s", args, got, code, stdout.String(), stderr.String())
		}
	}
	write := func(lines string) {
		t.Helper()
		if err := os.WriteFile(list, []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(want string) {
		t.Helper()
		got, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
	}

	must(exitNotLoaded, "-lower") // lines that do not parse
	must(exitNotLoaded, "-because", "it adds nothing alone")

	// It lowers and deletes; it neither raises nor adds.
	write("# A head.\nwords README.md 3 as listed\nmethods core/gate.box 40 it has grown\nmethods core/gate.gone 41 gone\nmethods core/lease.Acceptor 70 shrunk\nfields runtime/loop.fits 25 done\n")
	must(exitClean, "-lower")
	holds("# A head.\nmethods core/gate.box 40 it has grown\nmethods core/lease.Acceptor 61 shrunk\nwords README.md 3 as listed\n")
	must(exitComplaints)

	// With a reason it raises and adds, and the tree is clean.
	must(exitClean, "-lower", "-because", "it was split")
	holds(`# A head.
methods core/gate.Machine 41 it was split
methods core/gate.box 41 it was split
methods core/lease.Acceptor 61 shrunk
fields runtime/loop.grouped 21 it was split
fields runtime/loop.local 21 it was split
bools runtime/loop.four 4 it was split
functions core/stats.closure 2 it was split
files runtime/api 21 it was split
knot core/ring 9 it was split
label G1 2 it was split
label HTTP2-1 2 it was split
label STATS-1 2 it was split
words README.md 3 as listed
words runtime/loop 6 it was split
`)
	must(exitClean)
}

// TestWordsHaveReplacements lists a page, a package, and refuses another place.
func TestWordsHaveReplacements(t *testing.T) {
	t.Parallel()
	var got, stderr strings.Builder
	for _, place := range []string{"README.md", "runtime/loop", "core/nowhere"} {
		fmt.Fprintln(&got, place, command("testdata/ratchet", []string{"-words", place}, &got, &stderr))
	}
	got.WriteString(stderr.String())
	compare(t, "testdata/ratchet.words", got.String())
}
