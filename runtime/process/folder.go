package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Most bounds the programs that run at once in one folder's name: of an executor.
const Most = 64

// Folder starts programs that lie in it. Stop ends all of them.
type Folder struct {
	Path    string   // empty: no program may run
	Remedy  string   // what allows programs; for errors
	Environ []string // NAME=value, beside PATH and LANG
	User    *User    // whom they run as; nil: this process's user
	Group   int      // the process group that they join; 0: each leads its own
	Strict  bool     // a kernel without a filter of system calls starts none

	mu      sync.Mutex
	stopped bool
	running map[int]bool // by number of the process
	group   sync.WaitGroup
}

// NoteMost bounds a note, in bytes: a pipe takes it at once.
const NoteMost = TailBytes + 128

// order says what to start.
type order struct {
	path, dir string
	args      []string
}

// User is whom programs run as.
type User struct{ UID, GID uint32 }

// Pipes are the ends of a program's pipes, which do not block. Their owner closes them.
type Pipes struct {
	In   int // to write: its stdin
	Out  int // to read: its stdout
	Fate int // to read: how it ended, once it has
}

// Close closes them.
func (p Pipes) Close() {
	for _, fd := range []int{p.In, p.Out, p.Fate} {
		_ = unix.Close(fd) // what is written to a pipe needs no close
	}
}

// Start starts a program. An error says what to do.
func (f *Folder) Start(program []string) (Pipes, error) {
	path, dir, err := f.find(program)
	if err != nil {
		return Pipes{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.stopped:
		return Pipes{}, fmt.Errorf("custom program %s: its executor has ended", program[0])
	case len(f.running) == Most:
		return Pipes{}, fmt.Errorf("custom program %s: %d processes run already, the most of an executor: lower processes", program[0], Most)
	}
	return f.launch(&order{path: path, dir: dir, args: program})
}

// Stop kills the programs, and waits until they are reaped. Those in a group of another process end with
// the kill of that group, too.
func (f *Folder) Stop() {
	f.mu.Lock()
	f.stopped = true
	for pid := range f.running {
		f.kill(pid)
	}
	f.mu.Unlock()
	f.group.Wait()
}

// kill ends a program, and its group if it leads one.
func (f *Folder) kill(pid int) {
	if f.Group == 0 {
		pid = -pid
	}
	_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
}

// find returns the file of a program, and the folder that it runs in.
func (f *Folder) find(program []string) (path, dir string, err error) {
	name := program[0]
	if f.Path == "" {
		return "", "", fmt.Errorf("custom program %s may not run here: %s", name, f.Remedy)
	}
	if !filepath.IsLocal(name) {
		return "", "", fmt.Errorf("custom program %s is not a path below the folder of programs: name it as it lies there, such as bin/legacy", name)
	}
	if dir, err = filepath.Abs(f.Path); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", "", fmt.Errorf("folder of custom programs %s: %w", f.Path, err)
	}
	path, err = filepath.EvalSymlinks(filepath.Join(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("custom program %s does not exist in %s: copy it there", name, dir)
	case err != nil:
		return "", "", fmt.Errorf("custom program %s: %w", name, err)
	}
	if below, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(below) {
		return "", "", fmt.Errorf("custom program %s leads to %s, out of the folder of programs: copy it into %s", name, path, dir)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("custom program %s: %w", name, err)
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("custom program %s is no file: name a program", name)
	case info.Mode()&0o111 == 0:
		return "", "", fmt.Errorf("custom program %s may not be executed: chmod +x %s", name, path)
	}
	return path, dir, nil
}

// environment is what a program gets.
func (f *Folder) environment() []string {
	all := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	return append(slices.DeleteFunc(all, func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return slices.ContainsFunc(f.Environ, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	}), f.Environ...)
}
