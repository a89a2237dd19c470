package site

import (
	"path"
	"strings"
)

// Entry is a line of the navigation.
type Entry struct {
	Source string // file or folder of the repository
	Label  string
}

// Section is a group of them.
type Section struct {
	Title   string
	Entries []Entry
}

// Navigation is every page's menu, and the order in which the pages are read.
func Navigation() []Section {
	return []Section{
		{"Begin", []Entry{
			{home, "What it is"},
			{"docs/first-five-minutes.md", "First five minutes"},
			{"docs/from-other-tools.md", "From k6, Locust, wrk"},
		}},
		{"Write tests", []Entry{
			{"docs/workflows.md", "Workflow files"},
			{"examples", "Examples"},
			{"docs/editors/README.md", "Editors"},
		}},
		{"Read results", []Entry{
			{"docs/result.md", "The result file"},
			{"docs/outputs.md", "Other outputs"},
			{"docs/compare.md", "Comparing runs"},
			{"docs/history.md", "The history of runs"},
		}},
		{"Operate", []Entry{
			{"docs/operations.md", "Clusters"},
			{"docs/deploy.md", "Deployment"},
			{"docs/settings.md", "Settings"},
			{"docs/api.md", "HTTP API"},
			{"docs/security.md", "Security"},
		}},
		{"Trust it", []Entry{
			{"docs/proof.md", "How it is proved"},
			{"docs/scenarios.md", "Scenarios"},
			{"docs/lifeguard.md", "Slow members"},
			{"docs/vulnerable.md", "Overloads that stay"},
			{"docs/overload.md", "Overload"},
			{"docs/performance.md", "Performance"},
		}},
		{"Change it", []Entry{
			{"DESIGN.md", "The design"},
			{"docs/ownership.md", "Ownership"},
			{"docs/engine.md", "The load engine"},
			{"docs/decisions.md", "Decisions"},
			{"CONTRIBUTING.md", "Contributing"},
		}},
	}
}

// home is where a reader begins.
const home = "docs/index.md"

// readme is checked as the pages are, and no page: its reader has the repository.
const readme = "README.md"

// outOf is the page's file for a file or folder of the repository.
func outOf(source string, folder bool) string {
	switch {
	case source == "DESIGN.md":
		return "design.html"
	case source == "CONTRIBUTING.md":
		return "contributing.html"
	case source == "docs/editors/README.md":
		return "editors.html"
	case path.Dir(source) == "docs" && isMarkdown(source):
		return strings.TrimSuffix(path.Base(source), ".md") + ".html"
	case folder:
		return path.Join("files", source, "index.html")
	}
	return path.Join("files", source+".html")
}

// imageOut is where an image of the repository is copied to.
func imageOut(source string) string {
	if path.Dir(source) == "docs" {
		return path.Base(source)
	}
	return path.Join("files", source)
}

func isMarkdown(name string) bool { return path.Ext(name) == ".md" }

// relative is the link from one page's file to another file.
func relative(from, to string) string {
	up := strings.Split(path.Dir(from), "/")
	down := strings.Split(to, "/")
	if up[0] == "." {
		up = nil
	}
	for len(up) > 0 && len(down) > 1 && up[0] == down[0] {
		up, down = up[1:], down[1:]
	}
	return strings.Repeat("../", len(up)) + strings.Join(down, "/")
}
