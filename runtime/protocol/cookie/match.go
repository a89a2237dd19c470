package cookie

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// domainMatches says whether a host is a domain or below it (5.1.3).
func domainMatches(host, domain string) bool {
	if host == domain {
		return true
	}
	return len(host) > len(domain) && host[len(host)-len(domain)-1] == '.' && strings.HasSuffix(host, domain) && !isAddress(host)
}

// isAddress distinguishes an IP address from a name: the last label of a network name is not a
// number.
func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.IndexByte(host, ':') >= 0 || last != "" && strings.Trim(last, "0123456789") == ""
}

// isSuffix says whether anyone can register names below a domain.
func isSuffix(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// pathMatches says whether a path is a cookie's or below it (5.1.4).
func pathMatches(path, of string) bool {
	if !strings.HasPrefix(path, of) {
		return false
	}
	return len(path) == len(of) || of[len(of)-1] == '/' || path[len(of)] == '/'
}

// pathOf is the path of a request's target.
func pathOf(target string) string {
	if cut := strings.IndexAny(target, "?#"); cut >= 0 {
		target = target[:cut]
	}
	if target == "" || target[0] != '/' {
		return "/"
	}
	return target
}

// defaultPath is that of a cookie which does not say: the folder of the request.
func defaultPath(target string) string {
	path := pathOf(target)
	if last := strings.LastIndexByte(path, '/'); last > 0 {
		return path[:last]
	}
	return "/"
}
