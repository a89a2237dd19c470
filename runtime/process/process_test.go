package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// write writes an executable script into a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// all reads a pipe to its end.
func all(t *testing.T, fd int) string {
	t.Helper()
	f := os.NewFile(uintptr(fd), "pipe")
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(time.Minute))
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// PROCESS-2, PROCESS-4, PROCESS-5: what a program gets, and what its fate says.
func TestPrograms(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("HYPERSCALE_TEST_SECRET", "it")
	if err := unix.Dup3(1, 200, 0); err != nil { // one that this process has inherited, say
		t.Fatal(err)
	}
	defer unix.Close(200)
	for _, tt := range []struct{ name, script, out, fate string }{
		{"an end", "echo hello", "hello\n", "exited with code 0"},
		{"a code", "echo why >&2; exit 7", "", "exited with code 7\nwhy"},
		{"a signal", "kill -9 $$", "", "was killed by signal 9 (killed)"},
		{"its arguments are no shell's", `echo "$1"`, "$(id) ; *\n", "exited with code 0"},
		{"its folder", "pwd", "DIR\n", "exited with code 0"},
		{"its environment", "env | sort | grep -v ^_= | grep -v ^SHLVL=", "LANG=C.UTF-8\nOWN=1\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nPWD=DIR\n", "exited with code 0"},
		{"its descriptors", "[ -e /proc/$$/fd/200 ] || echo none", "none\n", "exited with code 0"},
		{"no core, no privileges", "ulimit -c; grep NoNewPrivs /proc/$$/status", "0\nNoNewPrivs:\t1\n", "exited with code 0"},
		{"a megabyte on stderr", "yes why | head -c 1048576 >&2; echo last >&2", "", "exited with code 0\n" + strings.Repeat("why\n", TailLines-1) + "last"},
		{"a long line", "head -c 100000 /dev/zero | tr '\\0' a >&2", "", "exited with code 0\n" + strings.Repeat("a", TailBytes)},
		{"what is no text", `printf 'a\377b' >&2`, "", "exited with code 0\na?b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "run", tt.script)
			f := &Folder{Path: dir, Environ: []string{"OWN=1"}}
			defer f.Stop()
			p, err := f.Start([]string{"run", "$(id) ; *"})
			if err != nil {
				t.Fatal(err)
			}
			_ = unix.Close(p.In)
			if got := all(t, p.Out); got != strings.ReplaceAll(tt.out, "DIR", dir) {
				t.Errorf("stdout %q, want %q", got, tt.out)
			}
			if got := all(t, p.Fate); got != tt.fate || len(got) > NoteMost {
				t.Errorf("fate %q, want %q", got, tt.fate)
			}
		})
	}
}

// PROCESS-1: what lies elsewhere does not run, and the error says what to do.
func TestWhatDoesNotRun(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	write(t, out, "run", "echo out")
	write(t, dir, "plain", "echo")
	for _, err := range []error{os.Chmod(filepath.Join(dir, "plain"), 0o644), os.Symlink(filepath.Join(out, "run"), filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "odd"), []byte("#!/no/such/interpreter\n"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"../run": "not a path below", filepath.Join(out, "run"): "not a path below", "": "not a path below", "link": "out of the folder",
		"plain": "chmod +x", "bin": "is no file", "missing": "does not exist", "odd": "no such file",
	} {
		f := &Folder{Path: dir}
		if _, err := f.Start([]string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		f.Stop()
	}
	f := &Folder{Remedy: "write --allow-custom"}
	if _, err := f.Start([]string{"run"}); err == nil || err.Error() != "custom program run may not run here: write --allow-custom" {
		t.Error(err)
	}
	f = &Folder{Path: dir}
	f.Stop()
	write(t, dir, "run", "echo")
	if _, err := f.Start([]string{"run"}); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("behind Stop: %v", err)
	}
}

// PROCESS-3: Stop ends what a program started, too, and a program that joined a group cannot leave it.
func TestGroups(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	write(t, dir, "leaves", "sleep 1000 & echo $!; sleep 1000 & echo $!; wait")
	f := &Folder{Path: dir}
	p, err := f.Start([]string{"leaves"})
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	f.mu.Lock()
	for pid := range f.running {
		children = append(children, pid)
	}
	f.mu.Unlock()
	_ = unix.SetNonblock(p.Out, false)
	b := make([]byte, 100)
	for said := ""; strings.Count(said, "\n") < 2; {
		n, err := unix.Read(p.Out, b)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		said += string(b[:n])
		if strings.Count(said, "\n") == 2 {
			for _, line := range strings.Fields(said) {
				pid, _ := strconv.Atoi(line)
				children = append(children, pid)
			}
		}
	}
	f.Stop()
	p.Close()
	if len(children) != 3 {
		t.Fatal(children)
	}
	for _, pid := range children {
		for tries := 0; ; tries++ {
			state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if errors.Is(err, os.ErrNotExist) || err == nil && strings.Contains(string(state), ") Z ") || errors.Is(err, syscall.ESRCH) {
				break // gone, or its new parent has yet to reap it
			}
			if tries > 2000 {
				t.Fatalf("process %d lives: %s", pid, state)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// A program that was reaped is no longer among those that Stop kills, though what it left behind holds its
// stderr: another process may have its number.
func TestReapedProgramsAreForgotten(t *testing.T) {
	defer goleak.VerifyNone(t)
	leader := exec.Command("sleep", "1000")
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	group := leader.Process.Pid
	defer func() {
		_ = unix.Kill(-group, unix.SIGKILL)
		_ = leader.Wait()
	}()
	dir := t.TempDir()
	write(t, dir, "leaves", "sleep 1000 & read -r line")
	f := &Folder{Path: dir, Group: group}
	defer f.Stop()
	p, err := f.Start([]string{"leaves"})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	pid := 0
	for pid = range f.running {
	}
	f.mu.Unlock()
	p.Close() // it ends with its stdin
	for end := time.Now().Add(10 * time.Second); unix.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d lives", pid)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running[pid] {
		t.Errorf("process %d is reaped, and Stop would kill what has its number", pid)
	}
}

// PROCESS-3: the filter keeps a program in the group that it was started in.
func TestNoOtherGroup(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		if os.Getenv("HYPERSCALE_CI") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no setsid here: util-linux has it")
	}
	dir := t.TempDir()
	write(t, dir, "flees", "setsid sleep 0 || echo kept")
	f := &Folder{Path: dir}
	defer f.Stop()
	p, err := f.Start([]string{"flees"})
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(p.In)
	if got := all(t, p.Out); got != "kept\n" {
		t.Errorf("%q", got)
	}
	if got := all(t, p.Fate); !strings.HasPrefix(got, "exited with code 0") {
		t.Errorf("%q", got)
	}
}
