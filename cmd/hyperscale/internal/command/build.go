package command

import (
	"runtime/debug"
)

// stamped is the version of a release: cmd/release has the linker write it.
var stamped string

// Version is what a release was stamped with. Otherwise it is the module's where it was installed as one, and
// the commit where it was built in a work tree.
func Version() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := info.Main.Version
	if name == "" {
		name = "(devel)"
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return name + commit + dirty
}
