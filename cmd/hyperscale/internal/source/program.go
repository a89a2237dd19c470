package source

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
)

// fileMax bounds one source file; a program's own limit is lower.
const fileMax = 4 << 20

// Read reads a file and the files that it loads, and applies the flags.
func Read(file string, flags *Flags) (message.Program, *message.Plan, error) {
	folder, main := filepath.Dir(file), filepath.Base(file)
	files, large, err := workflow.Files(main, func(name string) ([]byte, error) {
		return ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) && command.IsURL(file): // run takes one, and does not ask here
		return message.Program{}, nil, command.Usage("%[1]s is an address, not a file: `%[2]s run %[1]s --save test.star` writes a file and runs it", file, command.Called())
	case errors.Is(err, fs.ErrNotExist):
		return message.Program{}, nil, command.Usage("%s does not exist: check the name, or write one with `%s new %s`", file, command.Called(), file)
	case err != nil:
		return message.Program{}, nil, command.AsUsage(err)
	}
	feeds, err := ReadFeeds(folder, large)
	if err != nil {
		return message.Program{}, nil, command.AsUsage(err)
	}
	return Load(main, files, feeds, flags)
}

// ReadFile reads a source file of a bounded size.
func ReadFile(name string) ([]byte, error) {
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

// Load loads a program from files that are read already.
func Load(main string, files []message.File, feeds []message.FeedFile, flags *Flags) (message.Program, *message.Plan, error) {
	params, err := flags.parameters()
	if err != nil {
		return message.Program{}, nil, err
	}
	program := message.Program{Main: main, Files: files, Feeds: feeds, Params: params, VUs: flags.VUs, Duration: flags.Duration, Seed: flags.seed, Rate: flags.rate, RatePer: flags.ratePer}
	if program.Seed == 0 {
		program.Seed = drawSeed()
	}
	loaded, err := workflow.Load(program)
	if err != nil {
		return message.Program{}, nil, command.AsUsage(err)
	}
	return program, loaded.Plan(), nil
}

func drawSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.LittleEndian.Uint64(b[:]) | 1
}
