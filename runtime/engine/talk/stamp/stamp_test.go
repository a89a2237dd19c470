package stamp

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A stamp is as old as the time that has passed since, whatever the base of the clock that reads it.
func TestAge(t *testing.T) {
	c := New()
	rapid.Check(t, func(t *rapid.T) {
		written, read := c.at.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "written"))), c.at.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "read")))
		sent, after := rapid.Int64Range(0, 1e15).Draw(t, "sent"), rapid.Int64Range(-int64(time.Second), 1e15).Draw(t, "after")
		at := c.Of(written, sent)
		if at < 0 {
			t.Skip("before the kernel began")
		}
		now := c.Of(read, int64(written.Sub(read))+sent+after)
		age, known := c.Age(string(c.Append(nil, at)), now)
		if known != (after >= -slack) || known && age != max(0, after) {
			t.Errorf("%d, %v, want %d", age, known, after)
		}
	})
}

// Texts that this machine's clock did not write have no age.
func TestUnknownStamps(t *testing.T) {
	c := New()
	now := c.Of(time.Now(), 0)
	own := string(c.Append(nil, now-5))
	if age, known := c.Age(own, now); !known || age != 5 {
		t.Errorf("%q is %d old, %v", own, age, known)
	}
	other := *c
	other.name++
	for _, text := range []string{
		"", "-", "5", own[:digits], own[:digits+1], own[:digits+1] + "-5", own[:digits+1] + "+5", own[:digits+1] + "9223372036854775807", own[:digits+1] + "99999999999999999999",
		"x" + own, own + "x", "+" + own[1:], string(other.Append(nil, now-5)), fmt.Sprint(now), own[:digits] + "_" + own[digits+1:],
	} {
		if age, known := c.Age(text, now); known {
			t.Errorf("%q is %d old", text, age)
		}
	}
}

// Another process of this machine reads the same clock.
func TestProcesses(t *testing.T) {
	if os.Getenv("HYPERSCALE_STAMP") != "" {
		c := New()
		fmt.Printf("stamp %s\n", c.Append(nil, c.Of(time.Now(), 0)))
		return
	}
	c := New()
	before := c.Of(time.Now(), 0)
	child := exec.Command(os.Args[0], "-test.run=^TestProcesses$")
	child.Env = append(os.Environ(), "HYPERSCALE_STAMP=1")
	out, err := child.Output()
	after := c.Of(time.Now(), 0)
	var text string
	if _, scan := fmt.Sscanf(string(out), "stamp %s\n", &text); err != nil || scan != nil {
		t.Fatal(err, scan, string(out))
	}
	if age, known := c.Age(text, after); !known || age > after-before+slack {
		t.Errorf("%q is %d old, %v, and its process began %d ago", text, age, known, after-before)
	}
}

// A stamp costs no memory.
func TestStampAllocates(t *testing.T) {
	c := New()
	buf, text := make([]byte, 0, most), string(c.Append(nil, 1))
	if n := testing.AllocsPerRun(100, func() {
		buf = c.Append(buf[:0], 12345)
		_, _ = c.Age(text, 99)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
