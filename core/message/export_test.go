package message

// Codes returns the whole catalogue of refusals.
func Codes() []Code {
	var all []Code
	for c := CodeNone + 1; c < codeEnd; c++ {
		all = append(all, c)
	}
	return all
}
