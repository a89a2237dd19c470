package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// exception explains up to so many blocks of a function that nothing runs.
type exception struct {
	function string // manager.Machine.onFile
	blocks   int
	reason   string
}

// readExceptions reads lines `package.Function N: reason`; empty ones and those behind
// # are none.
func readExceptions(in io.Reader) ([]exception, error) {
	var all []exception
	seen := map[string]bool{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, reason, _ := strings.Cut(line, ":")
		function, number, _ := strings.Cut(head, " ")
		count, err := strconv.Atoi(strings.TrimSpace(number))
		reason = strings.TrimSpace(reason)
		switch {
		case err != nil || count < 1 || reason == "" || !strings.Contains(function, "."):
			return nil, fmt.Errorf("line %d, %q: write `package.Function N: reason`, N its blocks that nothing runs", n, line)
		case seen[function]:
			return nil, fmt.Errorf("line %d: %s is named twice: make one line of both", n, function)
		}
		seen[function] = true
		all = append(all, exception{function, count, reason})
	}
	return all, lines.Err()
}

func exceptionsOf(name string) ([]exception, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := readExceptions(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}
