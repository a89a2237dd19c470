// Package postman reads a Postman collection into a plan of runtime/convert.
//
// It runs no script of a collection: a script becomes a note. Source: Postman collections 2.0 and 2.1.
//
// Example:
//
//	file, err := postman.Convert(data, convert.Options{File: "shop.star", From: "shop.json"})
//
// Read postman.go, collected.go.
package postman
