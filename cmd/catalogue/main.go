package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// msgpVersion is the codec generator's; its runtime is pinned in go.mod.
const msgpVersion = "github.com/tinylib/msgp@v1.6.5"

func main() {
	dir := flag.String("dir", ".", "the folder of the message package")
	ofRecords := flag.Bool("records", false, "the folder is core/message/record")
	flag.Parse()
	generate := run
	if *ofRecords {
		generate = runRecords
	}
	if err := generate(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := sources(dir)
	if err != nil {
		return err
	}
	c, err := parse(files)
	if err != nil {
		return err
	}
	code, err := emit(c)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := msgp(f); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "catalogue_gen.go"), code, 0o644)
}

// sources returns the files that declare wire types: those with a msgp directive.
func sources(dir string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range all {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "\n//msgp:limit") {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no file in %s has a //msgp:limit directive: give the message package's folder with -dir", dir)
	}
	slices.Sort(files)
	return files, nil
}

func msgp(file string) error {
	out := strings.TrimSuffix(file, ".go") + "_gen.go"
	cmd := exec.Command("go", "run", msgpVersion, "-io=false", "-tests=false", "-file", file, "-o", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("msgp of %s: %w\n%s", file, err, text)
	}
	return nil
}
