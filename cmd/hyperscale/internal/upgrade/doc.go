// Package upgrade is the command that shows the versions of the groups, and raises their levels.
//
// It decides nothing: each group raises its own level, once all of its members tell the version. The
// command raises none if one group is held back.
//
// Source: DESIGN.md, "Membership and leases".
//
// Read upgrade.go.
package upgrade
