// Package operatortest has doubles of the two sides of runtime/operator: an API server of Kubernetes that has LoadTests and
// ConfigMaps, and the HTTP API of the gates.
//
// The API server is none: it checks no schema (deploy/check does) and no rights. It shares no code with the operator.
//
// Source: deploy.md, tier 2; the Kubernetes API's concepts (resource versions, continue, bookmarks, server-side apply).
//
// Read kube.go, answers.go, gates.go, direct.go.
package operatortest
