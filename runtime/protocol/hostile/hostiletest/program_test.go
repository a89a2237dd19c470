package hostiletest

import (
	"syscall"
	"testing"
)

// A program answers, and ends with the test that started it, also where that does not stop it.
func TestProgramsEndWithTheirTests(t *testing.T) {
	shell := Need(t, "sh", "dash")
	if p := Start(t, shell, "-c", "echo ready; read word; cat; echo ended"); p.Line() != "ready" || p.Stop() != "ended" {
		t.Error("the program did not say what it says at the end of its input")
	}
	var pid int
	t.Run("left", func(t *testing.T) {
		p := Start(t, shell, "-c", "echo ready; exec sleep 60")
		p.Line()
		pid = p.pid
	})
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the program runs on")
	}
}
