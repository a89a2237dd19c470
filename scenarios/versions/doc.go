// Package versions holds worlds whose nodes are of several versions: rolling upgrades and the way back.
//
// It has no old binary: an aged node is this version without what later ones added
// (scenarios/cluster). A test of cmd/hyperscale runs two binaries.
//
// Source: DESIGN.md, "Membership and leases".
//
// Invariants:
//
//	VERSIONS-1 No member has a level above the version of a configured member that runs, until that
//	           one goes back.
//	VERSIONS-2 No node acts as a member on a disk above its version.
//	VERSIONS-3 After healing every group has the level that an operator ordered.
//
// Example:
//
//	all := versions.Worlds()
//
// Read versions.go.
package versions
