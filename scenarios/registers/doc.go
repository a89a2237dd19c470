// Package registers holds worlds of lease registers (core/lease) and archives
// (core/archive) without any role around them.
//
// It judges little itself: package checker judges grants, windows and operations.
//
// Source: DESIGN.md, "Ownership". A leaseStage is a script: which member does what, and
// which datagrams wait, are lost or come twice.
//
// Invariants:
//
//	REGISTERS-1 After healing each job of a register has one owner.
//	REGISTERS-2 Each file that a majority keeps is fetched by each member.
//
// Example:
//
//	all := registers.Worlds()
//
// Read register.go and registrar.go, lease_stage.go, then lease_worlds.go, lease_lost.go,
// lease_disks.go and lease_pages.go; files.go is about archives.
package registers
