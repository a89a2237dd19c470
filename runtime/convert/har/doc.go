// Package har reads the recording of a browser into a plan of runtime/convert.
//
// It plays nothing back: what an answer gives and a later request takes becomes an extraction, where
// one place of the answer says so. Source: HAR 1.2.
//
// Example:
//
//	file, err := har.Convert(data, convert.Options{File: "shop.star", From: "shop.har"})
//
// Read har.go, correlate.go.
package har
