package manager

import (
	"strings"
	"testing"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
)

// The largest program with the largest given values fits a frame. The manager refuses a larger
// one with a reason, before a stream would break.
func TestGivenValuesFitAFrame(t *testing.T) {
	var given []message.Provided
	for range message.ProvidedMax {
		given = append(given, message.Provided{Name: strings.Repeat("n", 64), To: make([]uint32, 100), Value: make([]byte, 32<<10)})
	}
	p := message.Program{Main: "m", Files: []message.File{{Name: "m", Data: make([]byte, 512<<10)}}}
	if why := subjob.TooMuch(p, given); why != "" {
		t.Error(why)
	}
	for range 500 {
		p.Params = append(p.Params, message.Param{Name: "n", Value: strings.Repeat("v", 1000)})
	}
	if why := subjob.TooMuch(p, given); !strings.Contains(why, "have 12") || !strings.Contains(why, "provide less") {
		t.Errorf("got %q", why)
	}
	if why := subjob.TooMuch(p, nil); why != "" {
		t.Errorf("without values it is not ours to judge: %s", why)
	}
}
