package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

type options struct {
	root, worlds, properties, exceptions string
	list, json, leave                    string
	most                                 int
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "`folder` of the repository")
	flag.StringVar(&o.worlds, "worlds", "", "profile of the worlds, a `file`")
	flag.StringVar(&o.properties, "properties", "", "profile of the properties, a `file`; empty: none")
	flag.StringVar(&o.exceptions, "exceptions", "", "what is known not to be reached, a `file`; empty: testdata/unreached.txt")
	flag.StringVar(&o.leave, "leave", "", "packages of core that are not judged, with those below them: a,b")
	flag.StringVar(&o.list, "list", "", "write what no world runs to a `file` instead of stdout")
	flag.StringVar(&o.json, "json", "", "write all of it as JSON to a `file`")
	flag.IntVar(&o.most, "most", 5, "fail when more than so many of a hundred blocks run nowhere")
	flag.Parse()
	if flag.NArg() > 0 || o.worlds == "" {
		fmt.Fprintln(os.Stderr, "coverage: give -worlds FILE, a profile that `go tool covdata textfmt` wrote: see -help")
		os.Exit(2)
	}
	if o.exceptions == "" {
		o.exceptions = filepath.Join(o.root, "testdata", "unreached.txt")
	}
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(o *options, out io.Writer) error {
	all := blocks{}
	if err := all.readFile(o.worlds, func(b *block) { b.worlds = true }); err != nil {
		return err
	}
	if o.properties != "" {
		if err := all.readFile(o.properties, func(b *block) { b.property = true }); err != nil {
			return err
		}
	}
	if o.leave != "" {
		if n := all.leave(strings.Split(o.leave, ",")); n > 0 {
			fmt.Fprintf(out, "%d blocks of %s are not judged.\n", n, o.leave)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("%s names no block of core: build the program with -cover and -coverpkg=./core/... first", o.worlds)
	}
	if err := all.name(o.root); err != nil {
		return err
	}
	exceptions, err := exceptionsOf(o.exceptions)
	if err != nil {
		return err
	}
	r := judge(all.sorted(), exceptions)
	if err := write(o, &r, out); err != nil {
		return err
	}
	return r.verdict(o)
}

func write(o *options, r *report, out io.Writer) error {
	var err error
	if o.list != "" {
		err = os.WriteFile(o.list, []byte(r.list()), 0o644)
	} else {
		_, err = io.WriteString(out, r.list()+"\n")
	}
	if o.json != "" {
		text, _ := json.MarshalIndent(r, "", " ") // numbers and strings
		err = errors.Join(err, os.WriteFile(o.json, append(text, '\n'), 0o644))
	}
	for _, s := range r.Stale {
		fmt.Fprintf(out, "%s: %s: correct the line\n", o.exceptions, s)
	}
	_, tableErr := io.WriteString(out, r.table())
	return errors.Join(err, tableErr)
}

// verdict returns an error for unexplained blocks, and for too many that nothing runs.
func (r *report) verdict(o *options) error {
	switch {
	case r.Unexplained > 0:
		return fmt.Errorf("nothing runs %d blocks, and %s does not say why: write a world or a property, remove them, or name them with their reason", r.Unexplained, o.exceptions)
	case r.Unreached*100 > r.Blocks*o.most:
		return fmt.Errorf("nothing runs %s of all blocks, at most %d %% may stay: write worlds or properties for them", r.share(r.Unreached), o.most)
	}
	return nil
}
