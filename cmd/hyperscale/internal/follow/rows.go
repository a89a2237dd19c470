package follow

import (
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/kinds"
)

// rowsKind is the kind that --out KIND=PLACE gives rows to.
func rowsKind(name string) (outputs.Kind, bool) {
	k, ok := kinds.Find(name)
	return k, ok && !k.Named
}
