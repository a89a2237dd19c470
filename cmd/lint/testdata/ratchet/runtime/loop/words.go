package loop

// say prints for whoever asks, when it is
// told, and for fellows.
func say() string {
	return "nobody asked; untolded" + `it comes
	to nothing`
}
