// Package voters holds worlds of machines that do nothing but elect a leader, by
// core/election.
//
// It holds no role: no gate or manager takes part. Package checker judges terms and
// votes; an electorate judges who acts as the leader, and how soon one does.
//
// Source: DESIGN.md, "Ownership".
//
// Invariants:
//
//	VOTERS-1 No voter acts as the leader once another has in a later term.
//	VOTERS-2 After healing all running voters know one leader, who leads.
//
// Example:
//
//	all := voters.Worlds()
//
// Read electorate.go, then election.go.
package voters
