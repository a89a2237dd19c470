package author

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/cmd/hyperscale/internal/source"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/exec"
	"hyperscale/runtime/process"
	"hyperscale/runtime/protocol/custom"
	"hyperscale/runtime/ui/units"
)

// What commands say of custom programs.
const (
	AllowCustom  = "let custom.client start programs that lie below the file's folder"
	CustomRemedy = "write --allow-custom, which lets programs run that lie below the file's folder"
)

//go:embed kits
var kits embed.FS

// writeKit writes a program to start from.
func writeKit(cmd *cobra.Command, name, language string) error {
	for _, flag := range sourceFlagNames {
		if cmd.Flags().Changed(flag) {
			return command.Usage("--custom writes a program, and --%s a workflow: leave one of them out", flag)
		}
	}
	text, err := kits.ReadFile("kits/" + language + ".txt")
	if err != nil {
		return command.Usage("--custom %s is no language of a kit: write python, go or javascript", language)
	}
	if err := source.Create(name, string(text)); err != nil {
		return command.AsUsage(err)
	}
	base := filepath.Base(name)
	does := fmt.Sprintf("step(\"book\", custom.call(custom.client([%q]), \"book\", {\"id\": \"17\"}))", base)
	if language == "go" {
		built := strings.TrimSuffix(base, ".go")
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next, in a workflow beside it, behind `go build -o %s %s`:\n  %s\n", name, built, name, strings.Replace(does, base, built, 1))
		return err
	}
	if err := os.Chmod(name, 0o755); err != nil { //nolint:gosec // it is a program
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next, in a workflow beside it:\n  %s\n", name, does)
	return err
}

// tryPrograms plays one call of each custom program of a file.
func tryPrograms(w io.Writer, file string, program message.Program) error {
	loaded, err := workflow.Load(program)
	if err != nil {
		return err
	}
	folder := (&exec.Surroundings{Custom: filepath.Dir(file)}).Programs(0)
	defer folder.Stop()
	var done []string
	for _, plan := range loaded.Plan().Workflows {
		flow := loaded.Workflow(plan.Name)
		for _, c := range flow.Customs {
			if slices.Contains(done, c.Key()) {
				continue
			}
			done = append(done, c.Key())
			line, err := tryProgram(folder, c, callOf(loaded, c))
			if err != nil {
				return command.Usage("%v", err)
			}
			if _, err := fmt.Fprintf(w, "  custom    %s\n", units.Clean(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// callOf is the first step that calls a program, with x in place of its values; nil: there is none, or the
// file has secrets, whose values validate does not have.
func callOf(loaded *workflow.Program, c *request.Custom) *request.Request {
	if len(loaded.Secrets()) > 0 {
		return nil
	}
	for _, plan := range loaded.Plan().Workflows {
		w := loaded.Workflow(plan.Name)
		values := make([][]byte, len(w.Vars))
		for i := range values {
			values[i] = []byte("x")
		}
		for i := range w.Steps {
			if r := w.Steps[i].Request; r != nil && r.Custom != nil && r.Custom.Key() == c.Key() {
				return r.Filled(values)
			}
		}
	}
	return nil
}

// tryWithin is how long a program may take for its hello, and as long again for an answer.
const tryWithin = 10 * time.Second

// trial is a conversation with one process.
type trial struct {
	name     string
	pipes    process.Pipes
	conn     *custom.Conn
	answered string
}

// Answered implements custom.Listener.
func (t *trial) Answered(_ uint64, a *custom.Answer) {
	t.answered = fmt.Sprintf("%d", a.Status)
	if a.Err != nil {
		t.answered = fmt.Sprintf("%s (%s)", a.Err.Kind, a.Err.Detail)
	}
}

// tryProgram starts a program, plays a call, if there is one, and ends it.
func tryProgram(folder *process.Folder, c *request.Custom, call *request.Request) (string, error) {
	pipes, err := folder.Start(c.Program)
	if err != nil {
		return "", err
	}
	defer pipes.Close()
	t := &trial{name: c.Program[0], pipes: pipes, conn: custom.New(custom.Hello{InFlight: 1})}
	greeted := func() bool { _, said := t.conn.Program(); return said }
	if err := t.until(greeted, "say hello: answer the first line of stdin, and flush stdout (scripts buffer it)"); err != nil {
		return "", err
	}
	p, _ := t.conn.Program()
	line := fmt.Sprintf("%s says hello as %q", c.Program[0], p.Name)
	if call != nil {
		began := time.Now()
		of := custom.Compile(call.Custom.Call, []custom.Part{{Text: string(call.Body), Value: -1}})
		if _, err := t.conn.Operate(of, custom.Order{Timeout: tryWithin, Sent: new(uint64)}); err != nil {
			return "", err
		}
		if err := t.until(func() bool { return t.answered != "" }, "answer the call "+call.Custom.Call+": flush stdout behind each answer"); err != nil {
			return "", err
		}
		line += fmt.Sprintf(", and answers %s with %s after %s", call.Custom.Call, t.answered, units.Duration(time.Since(began)))
	}
	t.conn.End()
	over := func() bool { _, said := t.conn.Calls(); return said }
	return line, t.until(over, `end: say {"calls":N} behind {"end":true}`)
}

// until writes and reads until something holds.
func (t *trial) until(holds func() bool, does string) error {
	b := make([]byte, 64<<10)
	for end := time.Now().Add(tryWithin); !holds(); {
		left := time.Until(end)
		if left <= 0 {
			return fmt.Errorf("custom program %s did not, within %v, %s", t.name, tryWithin, does)
		}
		watch := []unix.PollFd{{Fd: int32(t.pipes.Out), Events: unix.POLLIN}, {Fd: int32(t.pipes.Fate), Events: unix.POLLIN}, {Fd: -1}}
		if out := t.conn.Output(); len(out) > 0 {
			n, err := unix.Write(t.pipes.In, out)
			t.conn.Sent(max(0, n))
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if errors.Is(err, unix.EAGAIN) || err == nil && n < len(out) { // one that closed its stdin may yet answer
				watch[2] = unix.PollFd{Fd: int32(t.pipes.In), Events: unix.POLLOUT}
			}
		}
		if _, err := unix.Poll(watch, int(left/time.Millisecond)+1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		n, err := unix.Read(t.pipes.Out, b)
		if n > 0 {
			if err := t.conn.Feed(b[:n], t); err != nil {
				return fmt.Errorf("custom program %s: %w", t.name, err)
			}
			continue
		}
		if errors.Is(err, unix.EAGAIN) && watch[1].Revents == 0 {
			continue
		}
		return t.fate(end, b)
	}
	return nil
}

// fate says how the program ended.
func (t *trial) fate(end time.Time, b []byte) error {
	for err := error(unix.EINTR); errors.Is(err, unix.EINTR); {
		left := max(0, time.Until(end)) // below 0 poll has no end
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(t.pipes.Fate), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
	}
	n, _ := unix.Read(t.pipes.Fate, b)
	if n <= 0 {
		return fmt.Errorf("custom program %s closed its stdout and lives on: read lines until the stdin ends", t.name)
	}
	return fmt.Errorf("custom program %s %s", t.name, b[:n])
}
