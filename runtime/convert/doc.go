// Package convert writes a workflow file from what other tools have: a curl line, a
// browser's recording (HAR), an OpenAPI or Swagger description, a Postman collection.
//
// It is not a client and not a checker: it sends nothing, reads no file and writes none.
// cmd/hyperscale passes it bytes, stores the text, and shows the notes.
//
// Sources: curl's manual page; HAR 1.2; OpenAPI 3.0 and 3.1, Swagger 2.0; Postman
// collections 2.0 and 2.1. docs/from-other-tools.md says what is kept and what is not.
//
// A separate package reads each source into a Plan, a small model of requests. This package
// tidies the plan, hides its secrets, and prints it. Texts of a plan may hold marks: characters
// that no source can have, around the name of a param or of a value that an earlier step
// extracts.
//
// Invariants:
//
//	CONVERT-1 Whatever is returned loads: core/workflow takes it, without a --set.
//	CONVERT-2 Nothing is left out in silence: what is not kept is in File.Notes, and beside the
//	          step that it belongs to where there is one.
//	CONVERT-3 No secret is in the text: what looks like one is a param without its value.
//	CONVERT-4 Hostile bytes are refused or converted, in time and memory linear in their length;
//	          never a panic.
//	CONVERT-5 The same source gives the same text.
//
// Example:
//
//	file, err := curl.Convert("curl https://shop.example/", convert.Options{File: "shop.star"})
//
// Read plan.go, mark.go, ordered.go, source.go; tidy.go, bodies.go, cookies.go, secret.go, name.go; write.go,
// writejson.go, print.go. The readers are the packages curl, har, openapi and postman.
package convert
