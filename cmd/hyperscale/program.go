package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/rows"
)

func sortedParams(values map[string]string) []message.Param {
	var params []message.Param
	for _, name := range slices.Sorted(maps.Keys(values)) {
		params = append(params, message.Param{Name: name, Value: values[name]})
	}
	return params
}

// fileMax is what is read of one source file; a program's own limit is lower.
const fileMax = 4 << 20

// readProgram collects a file, what it loads, and what the flags say.
func readProgram(file string, flags *loadFlags) (message.Program, *message.Plan, error) {
	folder, main := filepath.Dir(file), filepath.Base(file)
	files, large, err := workflow.Files(main, func(name string) ([]byte, error) {
		return readSource(filepath.Join(folder, filepath.FromSlash(name)))
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return message.Program{}, nil, usage("%s does not exist: check the name, or write one with `hyperscale new %s`", file, file)
	case err != nil:
		return message.Program{}, nil, asUsage(err)
	}
	feeds, err := readFeeds(folder, large)
	if err != nil {
		return message.Program{}, nil, asUsage(err)
	}
	return loadProgram(main, files, feeds, flags)
}

// readFeeds looks at the rows that are too many to travel: whoever runs the program has
// to find the same.
func readFeeds(folder string, large []workflow.Large) ([]message.FeedFile, error) {
	var feeds []message.FeedFile
	for _, l := range large {
		sheet, err := rows.Read(filepath.Join(folder, filepath.FromSlash(l.Name)), l.JSON)
		if err != nil {
			return nil, fmt.Errorf("feed: %w", err)
		}
		feeds = append(feeds, sheet.Name(l.Name))
		if err := sheet.Close(); err != nil {
			return nil, fmt.Errorf("feed: %w", err)
		}
	}
	return feeds, nil
}

// readSource reads a source file of a bounded size.
func readSource(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: give a workflow file", name)
	}
	if info.Size() > fileMax {
		return nil, fmt.Errorf("%s has %d bytes, more than a workflow file may: take its rows with feed.csv or feed.json: %w", name, info.Size(), workflow.ErrLarge)
	}
	return os.ReadFile(name)
}

func loadProgram(main string, files []message.File, feeds []message.FeedFile, flags *loadFlags) (message.Program, *message.Plan, error) {
	params, err := flags.parameters()
	if err != nil {
		return message.Program{}, nil, err
	}
	program := message.Program{Main: main, Files: files, Feeds: feeds, Params: params, VUs: flags.vus, Duration: flags.duration, Seed: flags.seed, Rate: flags.rate, RatePer: flags.ratePer}
	if program.Seed == 0 {
		program.Seed = drawSeed()
	}
	loaded, err := workflow.Load(program)
	if err != nil {
		return message.Program{}, nil, asUsage(err)
	}
	return program, loaded.Plan(), nil
}

func drawSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.LittleEndian.Uint64(b[:]) | 1
}

// isURL says whether an argument of run is an address and not a file.
func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}
