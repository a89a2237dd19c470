package command

import "testing"

// A release says its stamp; any other build says what it knows of its commit.
func TestVersion(t *testing.T) {
	if got := Version(); got == "" {
		t.Error("a build without a stamp says nothing")
	}
	stamped = "v1.2.3"
	defer func() { stamped = "" }()
	if got := Version(); got != "v1.2.3" {
		t.Errorf("a release says %q", got)
	}
}
