package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const (
	exitClean      = 0
	exitComplaints = 1
	exitNotLoaded  = 2
)

// complaint is one broken rule at one place. Line 0 means a whole file or directory and prints
// as 1:1, so that editors can still jump there.
type complaint struct {
	path      string // below the module's root, with slashes
	line, col int
	wrong     string
	remedy    string
}

func (c complaint) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", c.path, max(c.line, 1), max(c.col, 1), c.wrong, c.remedy)
}

func compareComplaints(a, b complaint) int {
	return cmp.Or(
		cmp.Compare(a.path, b.path),
		cmp.Compare(a.line, b.line),
		cmp.Compare(a.col, b.col),
		cmp.Compare(a.wrong, b.wrong),
		cmp.Compare(a.remedy, b.remedy),
	)
}

func main() {
	root, err := moduleRoot(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(exitNotLoaded)
	}
	os.Exit(command(root, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs the command of the flags; without flags it lints.
func command(root string, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lint", flag.ContinueOnError)
	flags.SetOutput(stderr)
	lower := flags.Bool("lower", false, "lower the entries of "+exceptionsFile+" to what is measured, and delete those that are done")
	because := flags.String("because", "", "with -lower: also raise and add entries, for this `reason`")
	words := flags.String("words", "", "list the banned words of a `package` or page with their replacements; . for all")
	show := flags.Bool("figures", false, "print every figure that is measured")
	system := flags.String("system", "", "type-check the packages that are named for another `GOOS/GOARCH`, and lint nothing")
	if err := flags.Parse(args); err != nil {
		return exitNotLoaded
	}
	var err error
	switch {
	case *lower:
		err = rewriteExceptions(root, *because)
	case *because != "":
		err = errors.New("-because goes with -lower")
	case *words != "":
		err = listWords(root, *words, stdout)
	case *system != "":
		err = checkSystem(root, *system, cmp.Or(flags.Arg(0), "./..."))
	case *show:
		err = listFigures(root, stdout)
	default:
		return run(root, flags.Args(), stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "lint:", err)
		return exitNotLoaded
	}
	return exitClean
}

// run lints the module at root and returns the exit code. The rules on the tree
// as a whole hold whatever packages are named.
func run(root string, patterns []string, stdout, stderr io.Writer) int {
	t, err := load(root, patterns)
	if err != nil {
		fmt.Fprintln(stderr, "lint:", err)
		return exitNotLoaded
	}
	complaints, err := t.check()
	if err != nil {
		fmt.Fprintln(stderr, "lint:", err)
		return exitNotLoaded
	}
	for _, c := range complaints {
		fmt.Fprintln(stdout, c)
	}
	if len(complaints) > 0 {
		fmt.Fprintf(stderr, "lint: %d complaints\n", len(complaints))
		return exitComplaints
	}
	return exitClean
}

// check applies every rule and returns the complaints in their order.
func (t *tree) check() ([]complaint, error) {
	var found []complaint
	for _, f := range t.files {
		for _, rule := range fileRules {
			found = append(found, rule(f)...)
		}
	}
	for _, rule := range treeRules {
		more, err := rule(t)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	slices.SortFunc(found, compareComplaints)
	return slices.Compact(found), nil
}

// fileRules look at one Go file with its types.
var fileRules = []func(*file) []complaint{
	checkImports,
	checkPureImports,
	checkPureCode,
	checkVendors,
	checkCodecs,
	checkInstant,
	checkOrder,
	checkShift,
	checkGlobals,
	checkSize,
}

// treeRules look at the packages and files as a whole.
var treeRules = []func(*tree) ([]complaint, error){
	checkRoomsExist,
	checkDoors,
	checkTopLevel,
	checkNotes,
	checkRatchet,
}

// moduleRoot finds the directory with go.mod at dir or above it.
func moduleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod here or above: run it inside the repository")
		}
		dir = parent
	}
}
