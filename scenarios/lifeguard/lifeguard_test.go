package lifeguard

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func tiny(c ...int) Grid {
	return Grid{C: c, D: []time.Duration{32768 * time.Millisecond}, I: []time.Duration{64 * time.Millisecond}, Repeats: 1, Failures: 1}
}

// The shape of the paper's results, on two points of its grid: the same seed gives the same
// figures, every mechanism helps, and none delays detection.
func TestLifeguardKeepsTheHealthyAlive(t *testing.T) {
	again := Config{Seed: 2, Members: 16, Grid: tiny(2)}
	if diff := cmp.Diff(Play(again), Play(again)); diff != "" {
		t.Errorf("two runs of one seed differ:\n%s", diff)
	}
	s := Play(Config{Seed: 1, Members: 48, Grid: tiny(2, 10)})
	plain, paper, ours := s.Columns[Plain], s.Columns[Paper], s.Columns[Ours]
	if plain.FPHealthy == 0 || paper.FPHealthy*50 > plain.FPHealthy || ours.FPHealthy > paper.FPHealthy {
		t.Errorf("FP- of SWIM %d, Lifeguard %d, ours %d: want fifty times fewer, and no more", plain.FPHealthy, paper.FPHealthy, ours.FPHealthy)
	}
	for _, k := range s.Columns {
		if k.First.Count != 12 || k.Full.Count+k.Missed != 12 || k.First.Median > k.Full.Median || k.Full.Median > 16_000 {
			t.Errorf("%s: 12 members failed, first detection %+v, full dissemination %+v, missed %d", k.Setting, k.First, k.Full, k.Missed)
		}
		if k.FPHealthy > plain.FPHealthy*11/10 { // the buddy system alone changes little here
			t.Errorf("%s has FP- %d, SWIM %d", k.Setting, k.FPHealthy, plain.FPHealthy)
		}
	}
	if n := len(strings.Split(s.Table(), "\n")); n < 15 {
		t.Errorf("the table has %d lines", n)
	}
	for d := xml.NewDecoder(strings.NewReader(s.Picture())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}
