package archive

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// mend makes a node fetch what its own records name.
func (l *library) mend(i int) {
	named := map[message.FileDigest]bool{}
	//lint:orderfree a set
	for file := range l.accepted[i] {
		named[l.digest(file)] = true
	}
	l.toys[i].Mend(l.envs[i], named)
}

// One disk is lost after the other, many times. Each node that returns copies the records and
// mends its files before the next loss: kept files stay on a majority.
func TestMendedFilesOutliveDisksLostInTurn(t *testing.T) {
	lost := 0
	rapid.Check(t, func(t *rapid.T) {
		l := newLibrary(t, 1)
		draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		write := func(*rapid.T) {
			file, owner := draw("file", 7), draw("owner", 3)
			l.keep(owner, file)
			l.pump()
			l.write(owner, file)
			l.accept((owner+1)%3, file)
			l.accept((owner+2)%3, file)
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": write,
			"lose": func(*rapid.T) {
				i := draw("node", 3)
				l.restart(i, true)
				l.accepted[i] = maps.Clone(l.accepted[(i+1)%3]) // it rejoins with the records of both others
				maps.Copy(l.accepted[i], l.accepted[(i+2)%3])
				l.mend(i)
				l.pump()
				if draw("slow", 4) == 0 { // a peer that is silent for a while
					l.cut[(i+1)%3] = true
					l.pass(5 * time.Second)
					l.cut = [3]bool{}
				}
				l.pass(30 * time.Second)
				l.mend(i)
				l.pump()
				l.pass(time.Second)
				lost++
			},
			"": l.holds,
		})
		for _, file := range slices.Sorted(maps.Keys(l.chosen)) {
			for i := range l.envs {
				if l.accepted[i][file] && !l.has(i, l.digest(file)) {
					t.Fatalf("node %d has the record that names file %d, and lacks the file", i, file)
				}
			}
		}
	})
	if lost == 0 {
		t.Error("no disk was ever lost")
	}
}

// A role's fetch overtakes Mend, which has half of the places.
func TestFetchOvertakesMend(t *testing.T) {
	w := world(1, 3, nil)
	w.Discard = true
	w.Start()
	x := w.Machine().(*toy)
	var asked []message.FileDigest
	x.post = func(_ node.Addr, m node.Message) {
		if f, ok := m.(*message.FileFetch); ok {
			asked = append(asked, f.File)
		}
	}
	named := map[message.FileDigest]bool{}
	for i := range 20 {
		named[message.FileDigest{1, byte(i)}] = true
	}
	x.Mend(w, named)
	if len(asked) != mendMax {
		t.Fatalf("Mend asks for %d files at a time, want %d", len(asked), mendMax)
	}
	x.Fetch(w, message.FileDigest{2}, 1)
	if asked[len(asked)-1] != (message.FileDigest{2}) {
		t.Error("a fetch waits for what Mend wants")
	}
	x.Mend(w, named)
	if n := len(named) - mendMax; len(x.wanted) != n {
		t.Errorf("%d files are wanted, want %d, each once", len(x.wanted), n)
	}
}
