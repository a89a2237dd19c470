package console

import (
	"os"
	"testing"
)

// deaf is a program whose first renderers show nothing.
type deaf struct {
	canvas             *Painter
	silent             int
	restored, released int
}

func (d *deaf) ReleaseTerminal() error {
	d.released++
	return nil
}

func (d *deaf) RestoreTerminal() error {
	d.restored++
	if d.restored > d.silent {
		_, err := d.canvas.Write([]byte(enterScreen))
		return err
	}
	return nil
}

// A program that shows nothing once it goes on takes the terminal again.
func TestRestore(t *testing.T) {
	for _, row := range []struct{ silent, restored, released int }{
		{0, 1, 0},
		{1, 2, 1},
	} {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		d := &deaf{canvas: &Painter{File: null}, silent: row.silent}
		restore(d, d.canvas, nil)
		if d.restored != row.restored || d.released != row.released || !d.canvas.isShown() {
			t.Errorf("%d silent: restored %d times and released %d, want %d and %d", row.silent, d.restored, d.released, row.restored, row.released)
		}
		if err := null.Close(); err != nil {
			t.Fatal(err)
		}
	}
	closing := make(chan struct{})
	close(closing)
	d := &deaf{canvas: &Painter{}, silent: 9}
	if restore(d, d.canvas, closing); d.restored != 1 {
		t.Errorf("at its end it was restored %d times, want once", d.restored)
	}
}
