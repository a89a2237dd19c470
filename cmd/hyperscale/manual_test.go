package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/docs/site"
)

// manualText is what people read and type from.
func manualText(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, name := range append(names, "../../README.md", "../../docs/editors/README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimPrefix(name, "../../")] = text
	}
	if len(texts) < 10 {
		t.Fatalf("only %d manuals", len(texts))
	}
	return texts
}

// typed is a block of commands, as a reader types them.
type typed struct {
	line   int
	text   string
	shown  []string // of a console block: the output according to the manual
	notRun string   // why not; empty if it is run
}

// commandsOf finds a manual's blocks of commands: those that a fence calls sh or console, and
// any others in which a line begins with hyperscale.
func commandsOf(t *testing.T, name string, text []byte) []typed {
	t.Helper()
	var found []typed
	for _, b := range site.Blocks(text) {
		isOurs := slices.Contains([]string{"sh", "bash", "console"}, b.Language)
		for line := range strings.Lines(b.Text) {
			isOurs = isOurs || b.Language == "" && strings.HasPrefix(line, "hyperscale ")
		}
		if !isOurs {
			continue
		}
		c := typed{line: b.Line, text: b.Text}
		if b.Language == "console" {
			c.text, c.shown = fromConsole(b.Text)
		}
		if why, ok := strings.CutPrefix(b.Note, "not run: "); ok {
			c.notRun = why
		} else if b.Note == "test" {
			c.notRun = "CI's step `test` runs it" // .ci/run reads it here
		} else if b.Note != "" {
			t.Errorf("%s:%d: the comment says %q: write `ci: not run: REASON`", name, b.Line, b.Note)
		}
		found = append(found, c)
	}
	return found
}

// fromConsole separates the commands after $ from the output.
func fromConsole(text string) (string, []string) {
	var input strings.Builder
	var output []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			input.WriteString(command)
		} else {
			output = append(output, strings.TrimRight(line, "\n"))
		}
	}
	return input.String(), output
}

// TestManualCommands runs the manuals' commands, each page's blocks in order. Each page has its
// own shell and empty folder, and its own network if possible. All pages run at the same time:
// they mostly wait.
func TestManualCommands(t *testing.T) {
	alone := isolation(t)
	turns := make(chan struct{}, 1) // where the pages use the same ports
	texts := manualText(t)
	ran, played := 0, map[string]chan string{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		blocks := slices.DeleteFunc(commandsOf(t, name, texts[name]), func(c typed) bool { return c.notRun != "" })
		if len(blocks) == 0 || missing(t, name, blocks) {
			continue
		}
		ran += len(blocks)
		folder, end := t.TempDir(), make(chan string, 1)
		played[name] = end
		go func() {
			if alone == nil {
				turns <- struct{}{}
				defer func() { <-turns }()
			}
			began := time.Now()
			defer func() { t.Logf("%s took %v", name, time.Since(began).Round(100*time.Millisecond)) }()
			end <- typeAll(t.Context(), folder, blocks, alone)
		}()
	}
	for _, name := range slices.Sorted(maps.Keys(played)) {
		t.Run(name, func(t *testing.T) {
			if wrong := <-played[name]; wrong != "" {
				t.Error(wrong)
			}
		})
	}
	if ran < 10 {
		t.Errorf("only %d blocks of commands are run", ran)
	}
}

// missing skips a page that needs a program that is not installed. In CI that is a failure.
func missing(t *testing.T, name string, blocks []typed) bool {
	t.Helper()
	for _, b := range blocks {
		for _, words := range shellCommands(b.text, map[string]string{}) {
			if !slices.Contains([]string{"bash", "curl", "jq", "pgrep", "pkill"}, words[0]) {
				continue
			}
			if _, err := exec.LookPath(words[0]); err == nil {
				continue
			}
			if os.Getenv("HYPERSCALE_CI") != "" {
				t.Errorf("%s, line %d: %s is missing: install it", name, b.line, words[0])
			}
			t.Logf("%s is left out: line %d needs %s, which is missing", name, b.line, words[0])
			return true
		}
	}
	return false
}

// shellProlog makes a page's shell differ from a person's. A command that fails ends it, except
// with 99, which is a verdict on the target (and this machine may be slow). `sleep` also waits
// until background processes listen. `go` builds nothing a second time.
const shellProlog = `
set -uE -o pipefail
line=0
trap 'code=$?; if [[ $code != 99 ]]; then echo "line $line: exit code $code: $BASH_COMMAND" >&2; exit 3; fi' ERR
settle() {
	local job address n
	for job in $(jobs -p); do
		address=$(tr '\0' '\n' <"/proc/$job/cmdline" 2>/dev/null | sed -n '/^--listen$/{n;p}' || true)
		for ((n = 0; n < 200; n++)); do
			if [[ -z $address ]] || ! kill -0 "$job" 2>/dev/null || (exec 3<>"/dev/tcp/${address%:*}/${address#*:}") 2>/dev/null; then
				break
			fi
			command sleep 0.1
		done
	done
}
sleep() { command sleep "$@"; settle; }
go() {
	case "$*" in
	"run ./cmd/hyperscale "*) shift 2; hyperscale "$@" ;;
	"build -o "*" ./cmd/hyperscale") mkdir -p "$(dirname "$3")"; ln -sf "$(type -P hyperscale)" "$3" ;;
	*) echo "go $*: this test does not know it" >&2; return 1 ;;
	esac
}
mkdir -p bin
ln -s "$(type -P hyperscale)" bin/hyperscale
ln -s "$REPOSITORY"/{examples,testdata,docs} .
`

// script is the script of a page's shell. It provides what pages assume: a file test.star and
// something to test.
func script(blocks []typed) string {
	var b strings.Builder
	b.WriteString(shellProlog)
	var all strings.Builder
	for _, c := range blocks {
		all.WriteString(c.text)
	}
	if !strings.Contains(all.String(), " target --listen") {
		b.WriteString("hyperscale target --listen 127.0.0.1:8080 >/dev/null &\nsettle\n")
	}
	if strings.Contains(all.String(), " test.star") && !strings.Contains(all.String(), "new test.star") {
		b.WriteString("hyperscale new test.star 2>/dev/null\nsed -i 's/\"10s\"/\"2s\"/' test.star\n")
	}
	for _, c := range blocks {
		fmt.Fprintf(&b, "echo '%s%d'\nline=%d\n%s\nsettle\n", blockMark, c.line, c.line, c.text)
	}
	return b.String()
}

const blockMark = "@@@ block of line "

// typeAll runs a page's blocks in one shell, and returns what is wrong.
func typeAll(ctx context.Context, folder string, blocks []typed, alone *syscall.SysProcAttr) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	args := []string{"bash", "-c", script(blocks)}
	attr := syscall.SysProcAttr{Setpgid: true}
	if alone != nil {
		args, attr = append([]string{"loopback"}, args...), *alone
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		return err.Error()
	}
	log, err := os.Create(filepath.Join(folder, "log")) // a file, so that the test does not wait for processes that remain
	if err != nil {
		return err.Error()
	}
	defer func() { _ = log.Close() }() // the test reads it by its name
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = &attr, log, log
	cmd.Dir = filepath.Join(folder, "work")
	cmd.Env = append(os.Environ(), "HOME="+folder, "REPOSITORY="+repository, "HYPERSCALE_HISTORY="+filepath.Join(folder, "history.db"), "TERM=dumb", "GITHUB_ACTIONS=", "GITHUB_STEP_SUMMARY=")
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := os.Mkdir(cmd.Dir, 0o755); err != nil {
		return err.Error()
	}
	ended := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // processes that the page left running
	}
	out, err := os.ReadFile(log.Name())
	if ended = cmp.Or(ended, err); ended != nil {
		return fmt.Sprintf("%v\n%s", ended, out)
	}
	return notPrinted(blocks, string(out)) + untracked(cmd.Dir)
}

// untracked lists the files that a page's commands leave and that `git status` shows where
// they are typed, at the top of a clone.
func untracked(folder string) string {
	ignored, err := os.ReadFile("../../.gitignore")
	if err != nil {
		return err.Error()
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		return err.Error()
	}
	var wrong strings.Builder
	for _, file := range left {
		linked := file.Type()&os.ModeSymlink != 0 // the prolog's
		matches := func(pattern string) bool {
			ok, err := path.Match(strings.Trim(pattern, "/"), file.Name())
			return err == nil && ok
		}
		if !linked && !slices.ContainsFunc(strings.Fields(string(ignored)), matches) {
			fmt.Fprintf(&wrong, "its commands leave %s, which .gitignore does not name\n", file.Name())
		}
	}
	return wrong.String()
}

// notPrinted says which of the lines that a console block shows its commands did not print.
func notPrinted(blocks []typed, out string) string {
	var wrong strings.Builder
	for _, b := range blocks {
		_, printed, _ := strings.Cut(out, fmt.Sprintf("%s%d\n", blockMark, b.line))
		printed, _, _ = strings.Cut(printed, blockMark)
		for _, want := range b.shown {
			if !sayingsAgree(want, printed) {
				fmt.Fprintf(&wrong, "the block of line %d shows %q, but it prints\n%s", b.line, want, printed)
			}
		}
	}
	return wrong.String()
}

// A word that is the same in each run; units are not.
var word = regexp.MustCompile(`[\pL_][\pL_.]{2,}`)

func wordsOf(line string) []string {
	words := word.FindAllString(line, -1)
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) == 3 && strings.HasSuffix(w, "iB") })
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, "s") // 1 core, 3 cores
	}
	return words
}

// sayingsAgree says whether some line has the same words in the same order, with any numbers,
// units and bars. A line without words must occur as it is. "..." matches anything.
func sayingsAgree(want, printed string) bool {
	words := wordsOf(want)
	for line := range strings.Lines(printed) {
		if len(words) > 0 && slices.Equal(words, wordsOf(line)) || len(words) == 0 && strings.TrimSpace(line) == strings.TrimSpace(want) {
			return true
		}
	}
	return strings.TrimSpace(want) == "..." || strings.TrimSpace(want) == ""
}

// isolation gives a process its own network, or is nil if that is not allowed.
func isolation(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	mine := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	for _, way := range []syscall.SysProcAttr{
		{Setpgid: true, Cloneflags: syscall.CLONE_NEWNET},
		{Setpgid: true, Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER, UidMappings: mine(os.Getuid()), GidMappings: mine(os.Getgid())},
	} {
		cmd := exec.Command("loopback", "true")
		attr := way
		cmd.SysProcAttr = &attr
		if cmd.Run() == nil {
			return &way
		}
	}
	t.Log("this system gives nobody a network of his own: the manuals' ports must be free")
	return nil
}

// loopback brings up the loopback device of a network that is new, and becomes its arguments.
func loopback() {
	if err := upAndExec(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "loopback:", err)
		os.Exit(1)
	}
}

func upAndExec(args []string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request); err != nil {
		return err
	}
	program, err := exec.LookPath(args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	return syscall.Exec(program, args, os.Environ())
}
