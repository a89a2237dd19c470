package event

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The list of reasons has each of them once.
func TestShedReasonsAreWhole(t *testing.T) {
	b, err := os.ReadFile("peer.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []ShedReason
	for _, m := range regexp.MustCompile(`(?m)^\tShed\w+ +ShedReason = "(\w+)"`).FindAllSubmatch(b, -1) {
		all = append(all, ShedReason(m[1]))
	}
	if len(all) < 15 || !slices.Equal(all, ShedReasons()) {
		t.Errorf("the list is %v, and the reasons %v", ShedReasons(), all)
	}
}
