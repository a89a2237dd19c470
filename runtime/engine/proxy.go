package engine

// proxy is where connections go instead of the target.
type proxy struct {
	authorization string // the line of a head; empty: none
}
