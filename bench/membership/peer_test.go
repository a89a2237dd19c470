package membership

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPeer(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		o, err := runPeer(draw(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", o)
	})
	t.Logf("%v", time.Since(began))
}
