package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// file is one file that this command writes, below the root of the repository.
type file struct {
	name string
	text []byte
}

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if a file differs")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintf(os.Stderr, "dashboards: %v\n", err)
		os.Exit(1)
	}
}

// run writes the files, or says which of them differ.
func run(root string, check bool) error {
	all, err := files(root)
	if err != nil {
		return err
	}
	for _, f := range all {
		name := filepath.Join(root, f.name)
		old, err := os.ReadFile(name)
		if err == nil && bytes.Equal(old, f.text) {
			continue
		}
		if check {
			return fmt.Errorf("%s is not what the tables say: run go run ./cmd/dashboards", f.name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		if err := os.WriteFile(name, f.text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

func files(root string) ([]file, error) {
	manual, err := os.ReadFile(filepath.Join(root, manualName))
	if err != nil {
		return nil, fmt.Errorf("read the manual: %w", err)
	}
	if manual, err = withAlerts(manual); err != nil {
		return nil, err
	}
	all := []file{
		{"deploy/prometheus/alerts.yaml", alertsFile()},
		{"deploy/prometheus/rules.yaml", rulesFile()},
		{manualName, manual},
	}
	for _, b := range boards() {
		text, err := boardFile(&b)
		if err != nil {
			return nil, err
		}
		all = append(all, file{"deploy/grafana/" + strings.TrimPrefix(b.uid, "hyperscale-") + ".json", text})
	}
	return all, nil
}
