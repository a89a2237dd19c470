package export

import (
	"net/url"
)

// Discreet returns an address without parts that may be secret: user, password, and the values
// of its query. It returns any other text as it is.
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
