// Package openapi reads an OpenAPI or Swagger description into a plan of runtime/convert.
//
// It validates no description: it uses the requests that one describes, and makes an example of
// each schema. Sources: OpenAPI 3.0 and 3.1, Swagger 2.0.
//
// Example:
//
//	file, err := openapi.Convert(data, convert.Options{File: "shop.star", From: "shop.yaml"})
//
// Read openapi.go, schema.go, contents.go.
package openapi
