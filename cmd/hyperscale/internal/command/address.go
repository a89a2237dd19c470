package command

import (
	"regexp"
	"strings"
)

// IsURL says whether an argument of run is an address and not a file.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// schemeless matches an address without its scheme: localhost:8080, shop.example/path.
var schemeless = regexp.MustCompile(`^(localhost|[\w-]+(\.[\w-]+)+|\[[0-9a-f:]+\])(:[0-9]+)?(/.*)?$`)

// IsSchemeless says whether an argument looks like an address without http://.
func IsSchemeless(s string) bool { return !strings.HasSuffix(s, ".star") && schemeless.MatchString(s) }
