package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"hyperscale/docs/site"
)

func main() {
	out := flag.String("o", "out/site", "`folder` to write the pages into")
	root := flag.String("root", ".", "`folder` of the repository")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "site: %q is not taken: see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := write(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func write(root, out string) error {
	files, faults := site.Build(os.DirFS(root))
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d faults, nothing written", len(faults))
	}
	if err := site.Save(files, out); err != nil {
		return err
	}
	fmt.Printf("%d files: open %s\n", len(files), filepath.Join(out, "index.html"))
	return nil
}
