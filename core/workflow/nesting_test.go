package workflow

import (
	"fmt"
	"strings"
	"testing"

	"hyperscale/core/message"
)

// Values that contain the same ones again and again are small, but hashing or freezing them
// takes almost unbounded time.
func TestWovenTuplesAreRefused(t *testing.T) {
	//lint:orderfree each case stands alone
	for name, step := range map[string]string{
		"tuple":      "x = (x, x)",
		"bare":       "x = x, x",
		"sum":        "x = (x,) + (x,)",
		"product":    "x = (x,) * 2",
		"of a list":  "x = tuple([x, x])",
		"zip":        "x = zip([x], [x])[0]",
		"arguments":  "x = rest(x, x)",
		"lambda":     "x = (lambda *a: a)(x, x)",
		"struct":     "x = struct(a = x, b = x)",
		"of a chain": "x = (x, 1)",
	} {
		t.Run(name, func(t *testing.T) {
			text := "def rest(*a):\n    return a\n\ndef weave():\n    x = ()\n    for i in range(300):\n        " + step +
				"\n    return x\n\ny = {weave(): 1}\nworkflow(name = \"w\", steps = [step(\"a\", http.get(\"http://h/\"))])\n"
			_, wrong := Load(message.Program{Main: "a.star", Files: []message.File{{Name: "a.star", Data: []byte(text)}}})
			err := fmt.Sprint(wrong)
			if !strings.Contains(err, "holds other ones more than 1048576 times over") && !strings.Contains(err, "a tuple is nested more than 200 deep") {
				t.Errorf("%q", err)
			}
		})
	}
}
