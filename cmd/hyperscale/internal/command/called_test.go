package command

import (
	"strings"
	"testing"
)

func TestCalledAs(t *testing.T) {
	for arg0, want := range map[string]string{
		"hyperscale":       "hyperscale",
		"./bin/hyperscale": "./bin/hyperscale",
		"bin/hyperscale":   "bin/hyperscale",
		"/opt/hyperscale":  "/opt/hyperscale",
		"/tmp/go-build4157753200/b001/exe/hyperscale":                                "go run ./cmd/hyperscale",
		"/home/ann/.cache/go-build/71/" + strings.Repeat("7a", 32) + "-d/hyperscale": "go run ./cmd/hyperscale",
		"/home/ann/go-build/hyperscale":                                              "/home/ann/go-build/hyperscale",
		"/tmp/go-build4157753200/b001/hyperscale.test":                               "hyperscale",
	} {
		if got := calledAs(arg0); got != want {
			t.Errorf("%s: got %q, want %q", arg0, got, want)
		}
	}
}
