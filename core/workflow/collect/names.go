package collect

import (
	"fmt"
	"path"
	"strings"

	"hyperscale/core/plan"
	"hyperscale/core/workflow/glob"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// InsideFolder checks that a name is inside the main file's folder.
func InsideFolder(fn, name string) *language.Fault {
	if name == "" || path.IsAbs(name) || strings.Contains(name, "\\") || path.Clean(name) != name || name == ".." || name == "." || strings.HasPrefix(name, "../") {
		return language.Faultf("%s: %q is not a path inside the file's folder", fn, language.Clip(name, 80))
	}
	return nil
}

// GlobPattern checks the pattern of a file.glob.
func GlobPattern(text string) (glob.Pattern, *language.Fault) {
	if err := InsideFolder("file.glob", text); err != nil {
		return glob.Pattern{}, err.Do("write file.glob(\"folder/*.jpg\")")
	}
	pattern, err := glob.Parse(text)
	if err != nil {
		return glob.Pattern{}, language.Faultf("file.glob: %q %v", language.Clip(text, 80), err).Do("write file.glob(\"folder/*.jpg\")")
	}
	return pattern, nil
}

// CheckFileName checks that load() stays inside the main file's folder.
func CheckFileName(name string) *language.Fault {
	if err := InsideFolder("load", name); err != nil {
		return err.Do("write load(\"folder/file.star\", \"name\")")
	}
	if !strings.HasSuffix(name, ".star") {
		return language.Faultf("load: %q does not end in .star", language.Clip(name, 80))
	}
	return nil
}

// TooLarge rejects a program whose files have too many bytes.
func TooLarge(total int) error {
	return &language.Error{Message: fmt.Sprintf("the program's files have %s, the limit is %s", guard.Size(uint64(total)), guard.Size(plan.FileBytesMax)), Remedy: "keep data out of the files"}
}
