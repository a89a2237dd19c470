package scenarios_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hyperscale/core/alert"
	"hyperscale/scenarios"
)

// docs/proof.md has a row for each alert, whose worlds and planted bug exist.
func TestEachAlertHasItsProof(t *testing.T) {
	page, err := os.ReadFile("../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	world := regexp.MustCompile("`([a-z0-9-]+)`")
	for id := range alert.IDs {
		_, row, found := strings.Cut(string(page), "\n| `"+id.String()+"` |")
		if !found {
			t.Errorf("docs/proof.md has no row for %v", id)
			continue
		}
		if alert.RuleOf(id).Host {
			continue // no world has certificates or a volume
		}
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, "|")
		worlds := world.FindAllStringSubmatch(cells[0]+cells[1], -1)
		if len(world.FindAllString(cells[0], -1)) == 0 || alert.RuleOf(id).Group == strings.Contains(cells[1], "of one") {
			t.Errorf("%v: no world, or no word of take-overs for an alert of a group: %s", id, row)
		}
		if alert.RuleOf(id).Group && !world.MatchString(cells[1]) {
			t.Errorf("%v: no world in which a later leader takes it over: %s", id, row)
		}
		for _, w := range worlds {
			if _, err := scenarios.Find(w[1]); err != nil {
				t.Errorf("%v: %v", id, err)
			}
		}
		if _, err := os.Stat(filepath.Join("../testdata/mutants", strings.TrimSpace(cells[2])+".txt")); err != nil {
			t.Errorf("%v: its planted bug: %v", id, err)
		}
	}
}
