package author

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/runtime/process"
)

// Each kit has 50 lines at most, and its interpreter or compiler makes a program of it that answers a call.
func TestKits(t *testing.T) {
	for language, needs := range map[string]string{"python": "python3", "javascript": "node", "go": "go"} {
		t.Run(language, func(t *testing.T) {
			kit, err := kits.ReadFile("kits/" + language + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(kit, []byte("\n")); n > 50 {
				t.Errorf("it has %d lines, 50 at most", n)
			}
			if _, err := osexec.LookPath(needs); err != nil {
				if os.Getenv("HYPERSCALE_CI") != "" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			dir := t.TempDir()
			program := filepath.Join(dir, "steps")
			if language == "go" {
				if err := os.WriteFile(program+".go", kit, 0o644); err != nil {
					t.Fatal(err)
				}
				if out, err := osexec.Command("go", "build", "-o", program, program+".go").CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			} else if err := os.WriteFile(program, kit, 0o755); err != nil {
				t.Fatal(err)
			}
			for args, want := range map[string]string{
				`{"id": "17"}`: `^  custom    steps says hello as "` + language + ` kit", and answers book with 200 after .*\n$`,
				`{"n": 1}`:     `^  custom    steps says hello as "` + language + ` kit", and answers book with server E42 \(no seat\) after .*\n$`,
			} {
				main := filepath.Join(dir, "test.star")
				text := "workflow(name = \"w\", steps = [step(\"a\", custom.call(custom.client([\"steps\"]), \"book\", " + args + "))])"
				var out bytes.Buffer
				if err := tryPrograms(&out, main, message.Program{Main: "test.star", Files: []message.File{{Name: "test.star", Data: []byte(text)}}}); err != nil || !regexp.MustCompile(want).Match(out.Bytes()) {
					t.Errorf("%s: %v %q", args, err, &out)
				}
			}
		})
	}
}

// A program whose pipe closes at the very end of its time is not waited for.
func TestFateThatIsLate(t *testing.T) {
	var fate [2]int
	if err := unix.Pipe2(fate[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fate[0])
	defer unix.Close(fate[1])
	late := &trial{name: "run", pipes: process.Pipes{Fate: fate[0]}}
	if err := late.fate(time.Now().Add(-time.Hour), make([]byte, 100)); !strings.Contains(err.Error(), "lives on") {
		t.Error(err)
	}
}
