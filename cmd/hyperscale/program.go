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
	files, err := workflow.Files(main, func(name string) ([]byte, error) {
		return readSource(filepath.Join(folder, filepath.FromSlash(name)))
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return message.Program{}, nil, usage("%s does not exist: check the name, or write one with `hyperscale new %s`", file, file)
	case err != nil:
		return message.Program{}, nil, asUsage(err)
	}
	return loadProgram(main, files, flags)
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
		return nil, fmt.Errorf("%s has %d bytes, more than a workflow file may: keep data out of it", name, info.Size())
	}
	return os.ReadFile(name)
}

func loadProgram(main string, files []message.File, flags *loadFlags) (message.Program, *message.Plan, error) {
	params, err := flags.parameters()
	if err != nil {
		return message.Program{}, nil, err
	}
	program := message.Program{Main: main, Files: files, Params: params, VUs: flags.vus, Duration: flags.duration, Seed: flags.seed, Rate: flags.rate, RatePer: flags.ratePer}
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
