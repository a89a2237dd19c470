package source

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/collect"
	"hyperscale/core/workflow/inspect"
	"hyperscale/runtime/ui/units"
)

// fileMax bounds one source file; a program's own limit is lower.
const fileMax = 4 << 20

// Read reads a file and the files that it loads, and applies the flags. It tells what looks
// like a mistake in a function: a branch that no virtual user takes may be wrong.
func Read(file string, flags *Flags, tell io.Writer) (message.Program, *message.Plan, error) {
	program, loaded, findings, err := Inspect(file, flags)
	if loaded == nil {
		return program, nil, err
	}
	if err == nil {
		for i := range findings {
			findings[i].Warning = true // the run goes on
		}
		Tell(tell, findings)
	}
	return program, loaded.Plan(), err
}

// Tell writes one finding after another.
func Tell(w io.Writer, findings []inspect.Finding) {
	for _, f := range findings {
		kind := "error"
		if f.Warning {
			kind = "warning"
		}
		_, _ = fmt.Fprintf(w, "%s: %s\n", kind, f.Error.Error()) // a terminal that is gone reads nothing
	}
}

// Inspect reads a file as Read does, and returns the mistakes that it finds. Its error is the
// first that stops the load.
func Inspect(file string, flags *Flags) (message.Program, *workflow.Program, []inspect.Finding, error) {
	folder, main := filepath.Dir(file), filepath.Base(file)
	files, large, err := collect.Files(main, named{Folder(folder), main})
	switch {
	case errors.Is(err, fs.ErrNotExist) && command.IsURL(file): // run takes one, and does not ask here
		return message.Program{}, nil, nil, command.Usage("%[1]s is an address, not a file: `%[2]s run %[1]s --save test.star` writes a file and runs it", file, command.Called())
	case errors.Is(err, fs.ErrNotExist) && command.IsSchemeless(file):
		return message.Program{}, nil, nil, command.Usage("no file is named %[1]s: if it is an address, write `%[2]s run http://%[1]s`", file, command.Called())
	case errors.Is(err, fs.ErrNotExist):
		return message.Program{}, nil, nil, command.Usage("%s does not exist: check the name, or write one with `%s new %s`", file, command.Called(), file)
	case err != nil:
		return message.Program{}, nil, nil, command.AsUsage(err)
	}
	feeds, err := ReadFeeds(folder, large)
	if err != nil {
		return message.Program{}, nil, nil, command.AsUsage(err)
	}
	program, err := assemble(main, files, feeds, flags)
	if err != nil {
		return message.Program{}, nil, nil, err
	}
	var loaded *workflow.Program
	var findings []inspect.Finding
	err = flags.reflected(&program, func() (err error) {
		loaded, findings, err = workflow.InspectOffered(&program, variables(os.Environ(), setPrefix))
		return err
	})
	if err != nil {
		return message.Program{}, nil, findings, command.AsUsage(err)
	}
	err = flags.settle(&program, loaded)
	return program, loaded, findings, err
}

// ReadFile reads a source file of a bounded size.
func ReadFile(name string) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe without a writer would block
	if err != nil {
		return nil, err
	}
	return readSource(file)
}

// readSource reads a source file that is open, and closes it.
func readSource(file *os.File) ([]byte, error) {
	defer func() { _ = file.Close() }() // nothing was written to it
	name := file.Name()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: give a workflow file", name)
	}
	if info.Size() > fileMax {
		return nil, fmt.Errorf("%s has %d bytes, more than a workflow file may: take its rows with feed.csv or feed.json, or send it with file: %w", name, info.Size(), collect.ErrLarge)
	}
	data, err := io.ReadAll(io.LimitReader(file, fileMax+1))
	if err == nil && len(data) > fileMax {
		err = fmt.Errorf("%s grew beyond %d bytes while it was read: %w", name, fileMax, collect.ErrLarge)
	}
	return data, err
}

// Load loads a program from files that are read already.
func Load(main string, files []message.File, feeds []message.FeedFile, flags *Flags) (message.Program, *message.Plan, error) {
	program, err := assemble(main, files, feeds, flags)
	if err != nil {
		return message.Program{}, nil, err
	}
	var loaded *workflow.Program
	err = flags.reflected(&program, func() (err error) {
		loaded, err = workflow.LoadOffered(&program, variables(os.Environ(), setPrefix))
		return err
	})
	if err != nil {
		return message.Program{}, nil, command.AsUsage(err)
	}
	err = flags.settle(&program, loaded)
	return program, loaded.Plan(), err
}

// settle gives a program the values of its secrets, and tells on stderr what the flags and the
// environment did that a person may not expect.
func (f *Flags) settle(program *message.Program, loaded *workflow.Program) (err error) {
	f.Secrets = loaded.Secrets()
	notes := f.notes(os.Environ(), loaded.Plan().Params)
	if program.Secrets, err = f.secrets.resolve(f.Secrets); err != nil {
		if exit := (*command.ExitError)(nil); errors.As(err, &exit) { // an interrupt
			return err
		}
		return command.AsUsage(err)
	}
	for _, note := range notes {
		fmt.Fprintln(os.Stderr, units.CleanLines(note))
	}
	return nil
}

// assemble applies the flags.
func assemble(main string, files []message.File, feeds []message.FeedFile, flags *Flags) (message.Program, error) {
	params, err := flags.parameters()
	if err != nil {
		return message.Program{}, err
	}
	program := message.Program{Main: main, Files: files, Feeds: feeds, Params: params, VUs: flags.VUs, Duration: flags.Duration, Seed: flags.seed, Rate: flags.rate, RatePer: flags.ratePer, Iterations: flags.iterations, Stages: flags.stages}
	switch {
	case program.Seed != 0:
	case flags.Key != "":
		program.Seed = seedOf(flags.Key)
	default:
		program.Seed = drawSeed()
	}
	return program, nil
}

// seedOf is the seed that follows from a key: the same submission with it is the same job.
func seedOf(key string) uint64 {
	sum := sha256.Sum256([]byte("seed " + key))
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

func drawSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.LittleEndian.Uint64(b[:]) | 1
}
