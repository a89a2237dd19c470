// Package curl reads curl lines, as a person pastes them, into a plan of runtime/convert.
//
// It is no shell: it understands words, quotes, variables, pipes and the dialects of Windows,
// and runs nothing. Source: the manual page of curl.
//
// Example:
//
//	file, err := curl.Convert("curl https://shop.example/", convert.Options{File: "shop.star"})
//
// Read curl.go, curlflags.go, curlbody.go, curlform.go, curlurl.go; shell.go, shellword.go, dialect.go.
package curl
