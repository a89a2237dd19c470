package lab

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/node"
)

const (
	figuresFile = "testdata/figures.json"
	pageFile    = "../../../docs/overload.md"
	pictureFile = "../../../docs/overload.svg"
	remedy      = "REWRITE=1 go test ./core/admission/lab"
)

// recorded reads the figures; with REWRITE=1 or OVERLOAD=full it plays them all before.
func recorded(t *testing.T) Figures {
	t.Helper()
	rewrite, full := os.Getenv("REWRITE") != "", os.Getenv("OVERLOAD") == "full"
	var f Figures
	if !rewrite {
		text, err := os.ReadFile(figuresFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", figuresFile, err)
		}
	}
	if !rewrite && !full {
		return f
	}
	measured := Measure()
	if rewrite {
		text, err := json.Marshal(measured)
		if err != nil {
			t.Fatal(err)
		}
		write(t, figuresFile, string(bytes.ReplaceAll(text, []byte(`},{"Name"`), []byte("},\n{\"Name\"")))+"\n")
	} else if diff := cmp.Diff(f, measured); diff != "" {
		t.Errorf("figures, -recorded +measured: %s\n%s", remedy, diff)
	}
	return measured
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page and its picture show the recorded figures. Each bar that the page calls met holds.
func TestPageIsTrue(t *testing.T) {
	f := recorded(t)
	for _, c := range []struct{ file, want string }{{pageFile, f.page()}, {pictureFile, f.picture()}} {
		file, want := c.file, c.want
		if os.Getenv("REWRITE") != "" {
			write(t, file, want)
			continue
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s is not what the laboratory has (%v): %s", file, err, remedy)
		}
	}
	missed := 0
	for _, b := range f.bars() {
		if !b.met {
			missed++
		}
	}
	if missed != missedBars {
		t.Errorf("%d bars are missed, the record is %d: if fewer, lower missedBars", missed, missedBars)
	}
	for d := xml.NewDecoder(strings.NewReader(f.picture())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

// A sample of the figures is what the code plays now: all algorithms at twice the capacity, and
// more of ours. OVERLOAD=full plays all.
func TestSampleOfFigures(t *testing.T) {
	f := recordedOnly(t)
	columns := Columns()
	for i := range columns {
		if got, want := steadyCell(&columns[i], 20, 10), f.Columns[i].Steady[3]; got != want {
			t.Errorf("%s at 2x: %+v, recorded %+v: %s", columns[i].Name, got, want, remedy)
		}
	}
	ours, record := &columns[len(columns)-1], &f.Columns[len(columns)-1]
	if got, want := steadyCell(ours, 100, 10), record.Steady[5]; got != want {
		t.Errorf("ours at 10x: %+v, recorded %+v: %s", got, want, remedy)
	}
	chain := &Chains()[1]
	if got, want := chainCell(ours, chain, 20), record.Chains[1][0]; got != want {
		t.Errorf("ours on a chain: %+v, recorded %+v: %s", got, want, remedy)
	}
	if got, want := Critical(ours, 1, node.Low, 120), record.Critical[2]; got != want {
		t.Errorf("critical requests beside 12x LOW: %+v, recorded %+v: %s", got, want, remedy)
	}
	if got, want := Divide(ours, chainSeeds, 4, oneSource, oneSource), record.Fair[1]; got != want {
		t.Errorf("four elephants: %+v, recorded %+v: %s", got, want, remedy)
	}
}

func recordedOnly(t *testing.T) (f Figures) {
	t.Helper()
	text, err := os.ReadFile(figuresFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A server without overload answers what queueing theory says: M/M/8 at half load makes one
// request in seventeen wait (Erlang C), and one that waits does so for 2 ms in the mean.
func TestServerIsItsTheory(t *testing.T) {
	w := newWorld(&Columns()[0], []int{pool}, []int{0})
	c := &watched{}
	w.servers[0].control = c
	w.spread(1, "caller", node.Normal, []change{{0, capacity / 2}})
	w.run(time.Second, 400*time.Second)
	if share := c.waits * 10_000 / c.begun; share < 560 || share > 620 {
		t.Errorf("%d of 10,000 requests wait, want about 590", share)
	}
	if mean := c.waited / time.Duration(c.waits); mean < 1900*time.Microsecond || mean > 2100*time.Microsecond {
		t.Errorf("a request that waits does so for %v, want 2 ms", mean)
	}
	if mean := c.took / time.Duration(c.begun); mean < 7920*time.Microsecond || mean > 8080*time.Microsecond {
		t.Errorf("handling takes %v, want 8 ms", mean)
	}
}

type watched struct {
	plain
	begun, waits int
	waited, took time.Duration
}

func (c *watched) end(_ node.Instant, _ *request, waited, took time.Duration) {
	c.begun++
	c.took += took
	if waited > 0 {
		c.waits++
		c.waited += waited
	}
}
