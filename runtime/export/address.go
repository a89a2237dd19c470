package export

import (
	"net/url"
)

// Discreet writes an address without what may be a secret in it: user, password, and
// the values of its query. What is no address comes back as it is.
func Discreet(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return hidden
	}
	if u.User != nil {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" {
		u.RawQuery = hidden
	}
	u.Fragment = ""
	return clean(u.String())
}

const hidden = "hidden"
