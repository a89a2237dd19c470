package exec

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/exec/confine"
)

// playConfined says what this executor is, or what it may not do.
func playConfined(workflow string) string {
	if workflow == "tries" {
		return strings.Join(tries(), " ")
	}
	var core unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	dumps, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	groups, _ := unix.Getgroups()
	variables := os.Environ()
	slices.Sort(variables)
	status, _ := os.ReadFile("/proc/self/status")
	var state []string
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t"); name == "NoNewPrivs" || name == "Seccomp" {
			state = append(state, name+":\t"+value)
		}
	}
	// The runtime's watcher of threads is older than the filter.
	threads, _ := filepath.Glob("/proc/self/task/*/status")
	for _, name := range threads {
		if status, err := os.ReadFile(name); err == nil && !bytes.Contains(status, []byte(state[1])) { // a thread may end meanwhile
			state = append(state, "a thread has another filter")
		}
	}
	if len(threads) < 2 {
		state = append(state, "no other thread was seen")
	}
	return fmt.Sprintf("core %d, dumpable %d, %s, user %d:%d %v\n%s", core.Max, dumps, strings.Join(state, ", "), os.Geteuid(), os.Getegid(), groups, strings.Join(variables, "\n"))
}

// tries calls what an executor never needs, in a way that does nothing where it is allowed, and
// returns what was not denied.
func tries() (open []string) {
	none, bad := uintptr(0), ^uintptr(0)
	at := func(where string) {
		for _, c := range []struct {
			name           string
			number         uintptr
			first, a, b, c uintptr
		}{
			{"execve", unix.SYS_EXECVE, bad, none, none, none},
			{"execveat", unix.SYS_EXECVEAT, bad, bad, none, none},
			{"ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 0x7fffffff, none, none},
			{"process_vm_readv", unix.SYS_PROCESS_VM_READV, 0x7fffffff, none, none, none},
			{"mount", unix.SYS_MOUNT, bad, bad, bad, none},
			{"unshare", unix.SYS_UNSHARE, none, none, none, none},
			{"setns", unix.SYS_SETNS, bad, none, none, none},
			{"chroot", unix.SYS_CHROOT, bad, none, none, none},
			{"bpf", unix.SYS_BPF, 0x7fff, none, none, none},
			{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, bad, none, bad, bad},
			{"io_uring_setup", unix.SYS_IO_URING_SETUP, 1, bad, none, none},
			{"userfaultfd", unix.SYS_USERFAULTFD, bad, none, none, none},
			{"keyctl", unix.SYS_KEYCTL, 0x7fff, none, none, none},
			{"personality", unix.SYS_PERSONALITY, 0xffffffff, none, none, none},
			{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, bad, bad, none, none},
			{"setsid", unix.SYS_SETPGID, bad, bad, none, none},
			{"reboot", unix.SYS_REBOOT, none, none, none, none},
			{"a process", unix.SYS_CLONE, uintptr(unix.CLONE_SIGHAND), none, none, none}, // invalid without CLONE_VM
		} {
			if _, _, errno := unix.Syscall6(c.number, c.first, c.a, c.b, c.c, none, none); errno != unix.EPERM {
				open = append(open, fmt.Sprintf("%s%s: %v;", c.name, where, errno))
			}
		}
		if _, _, errno := unix.Syscall(unix.SYS_CLONE3, bad, none, none); errno != unix.ENOSYS {
			open = append(open, fmt.Sprintf("clone3%s: %v;", where, errno))
		}
	}
	at("")
	// Threads that were there before the filter, and one that begins after it.
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread() // and ends with its goroutine
		at(" on a thread")
		close(ended)
	}()
	<-ended
	if err := osexec.Command("/proc/self/exe").Start(); err == nil {
		open = append(open, "a program;")
	}
	return open
}

// say runs a workflow that answers in its result.
func (h *harness) say(t *testing.T, id node.ExecID, workflow string) string {
	t.Helper()
	h.run(id, workflow)
	gone, last := h.end(t, id)
	r, ok := last.(*message.ExecResult)
	if !ok {
		t.Fatalf("no result: %s %s", gone.Reason, gone.Tail)
	}
	return r.Error
}

// TestSurroundings: an executor gets the few variables that it needs, no secret and no key, and no
// rights beyond them.
func TestSurroundings(t *testing.T) {
	if errors.Is(confine.Available(), unix.ENOSYS) {
		t.Skip("this kernel has no filters")
	}
	for _, name := range append(inherited(), "AWS_SECRET_ACCESS_KEY", "HOME", "HYPERSCALE_SECRET_TOKEN", "WANTED", "LD_PRELOADED") {
		if name == "GOCOVERDIR" || name == "ZONEINFO" || name == "GODEBUG" {
			continue
		}
		t.Setenv(name, "1")
	}
	os.Unsetenv("GODEBUG")
	os.Unsetenv("GOCOVERDIR")
	h := start(t, func(c *Config) {
		c.MemoryMax, c.Sandbox = 1<<30, SandboxRequire
		c.Pass = append(c.Pass, "WANTED", "UNSET")
	})
	want := fmt.Sprintf("core 0, dumpable 0, NoNewPrivs:\t1, Seccomp:\t2, user %d:%d", os.Geteuid(), os.Getegid())
	variables := "\nGOGC=1\nGOMAXPROCS=1\nGOMEMLIMIT=858993440\nGOTRACEBACK=1\nHYPERSCALE_EXECUTOR_SANDBOX=require\n" + role + "=child\nSSL_CERT_DIR=1\nSSL_CERT_FILE=1\nTZ=1\nWANTED=1"
	if bug, planted := os.LookupEnv("HYPERSCALE_PLANTED_BUG"); planted {
		variables = strings.Replace(variables, "\nSSL_CERT_DIR", "\nHYPERSCALE_PLANTED_BUG="+bug+"\nSSL_CERT_DIR", 1)
	}
	if got := h.say(t, 1, "confined"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, variables) || strings.Count(got, "\n") != strings.Count(variables, "\n") {
		t.Errorf("it is %q, want %q and %q", got, want, variables)
	}
	if got := h.say(t, 2, "tries"); got != "" {
		t.Errorf("it may still do this: %s", got)
	}
	h = start(t, func(c *Config) { c.Sandbox = SandboxOff })
	if got := h.say(t, 1, "confined"); !strings.HasPrefix(got, "core 0, dumpable 0, NoNewPrivs:\t0, Seccomp:\t0, user") {
		t.Errorf("without a filter it is %q", got)
	}
}

// TestExecutorsOfAnotherUser: they have neither the user nor the groups of their worker, and get
// large files as others do.
func TestExecutorsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of other users")
	}
	u, err := FindUser("12345:23456")
	if err != nil {
		t.Fatal(err)
	}
	folder, name := people(t)
	h := start(t, func(c *Config) { c.User, c.Feeds = u, folder })
	if got := h.say(t, 1, "confined"); !strings.Contains(got, ", user 12345:23456 []\n") {
		t.Errorf("it is %q", got)
	}
	startRows(h, 2, name)
	if got := leaseRows(t, h, 2); got != "40+3 true false n40" {
		t.Errorf("it says %q", got)
	}
	h.run(3, "hang")
	h.next(t, 3)
	h.Kill(3)
	if gone, _ := h.end(t, 3); gone.Reason != "killed by its worker" {
		t.Errorf("gone: %+v", gone)
	}
}

// TestHiddenExecutors: a worker says once that /proc hides its executors.
func TestHiddenExecutors(t *testing.T) {
	var log bytes.Buffer
	p := &Pool{config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	p.ready(os.Getpid(), &message.ExecReady{})
	if log.Len() > 0 {
		t.Errorf("of a process that is seen it says %s", log.String())
	}
	const none = 1 << 30 // above all processes
	p.ready(none, &message.ExecReady{})
	p.ready(none, &message.ExecReady{})
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "no budget of memory holds") || !strings.Contains(got, "CAP_SYS_PTRACE") {
		t.Errorf("it says %s", got)
	}
}

func TestFindUser(t *testing.T) {
	for text, want := range map[string]string{
		"7:8": "7:8", "root": "0:0", "no-such-user": "executor_user = no-such-user is unknown: give --executor-user", "7": "executor_user = 7 is unknown", "7:": "is no uid:gid", "7:-1": "is no uid:gid", "4294967295:1": "is no uid:gid",
	} {
		u, err := FindUser(text)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d:%d", u.UID, u.GID)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestSurroundingsAreChecked(t *testing.T) {
	c := Default()
	c.Pass = []string{"A", "A=B", "", "HYPERSCALE_SECRET_T", "GOMEMLIMIT"}
	c.User, c.Sandbox = &User{UID: 0, GID: 5}, "on"
	err := c.Validate()
	for _, want := range []string{`executor_env = "A=B" is no name`, `executor_env = "" is no name`, "executor_env = HYPERSCALE_SECRET_T would give a secret", "executor_env = GOMEMLIMIT is the worker's", "executor_user = 0:5 is root", `executor_sandbox = "on" must be auto, require or off`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if c.Surroundings = (Surroundings{}); c.Validate() != nil {
		t.Error(c.Validate())
	}
}

// refuse makes the kernel refuse filters to this process and its children.
func refuse() error {
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SECCOMP, SkipFalse: 1},
		bpf.RetConstant{Val: 0x00050000 | uint32(unix.EACCES)},
		bpf.RetConstant{Val: 0x7fff0000},
	})
	if err != nil {
		return err
	}
	var program []unix.SockFilter
	for _, r := range raw {
		program = append(program, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: unsafe.SliceData(program)}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, 1, 1, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}

// refused is a worker whose kernel refuses filters: it logs to stdout.
func refused(sandbox Sandbox) {
	os.Setenv(role, "child")
	if err := refuse(); err != nil {
		panic(err)
	}
	c := Default()
	c.Cores, c.Pass, c.Sandbox = 2, passed(), sandbox
	c.Logger = slog.New(slog.NewTextHandler(os.Stdout, nil))
	ended := make(chan node.ExecEvent, 10)
	p, err := New(c, func(e node.ExecEvent) {
		if e.Kind == node.ExecGone {
			ended <- e
		}
	})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(0)
	}
	h := &harness{Pool: p}
	for id := node.ExecID(1); id <= 3; id++ {
		h.run(id, "good")
		fmt.Printf("run %d ended: %q\n", id, (<-ended).Reason)
	}
	h.Close()
	os.Exit(0)
}

// TestAKernelThatRefuses: a worker says once that its executors have no filter, and runs them,
// unless it must not.
func TestAKernelThatRefuses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for sandbox, want := range map[Sandbox][]string{
		SandboxAuto:    {"run 3 ended: \"\"", "level=WARN msg=\"executors run without a filter of system calls\" reason=\"filter system calls: permission denied\"", "--executor-sandbox require"},
		SandboxOff:     {"run 3 ended: \"\""},
		SandboxRequire: {"error: executor_sandbox = require, and this machine gives none: filter system calls: permission denied", "--executor-sandbox auto"},
	} {
		worker := osexec.Command(self)
		worker.Env = append(os.Environ(), role+"=refused "+string(sandbox))
		out, err := worker.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", sandbox, err, out)
		}
		for _, w := range want {
			if !bytes.Contains(out, []byte(w)) {
				t.Errorf("%s: want %q in %s", sandbox, w, out)
			}
		}
		warned := 0
		if sandbox == SandboxAuto {
			warned = 1
		}
		if got := bytes.Count(out, []byte("level=WARN")); got != warned {
			t.Errorf("%s: %d warnings: %s", sandbox, got, out)
		}
	}
}
