package command

import (
	"strings"
)

// IsURL says whether an argument of run is an address and not a file.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}
