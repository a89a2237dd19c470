// Command release builds the product for every system that it runs on: `make release`.
//
// Each binary is static, stripped and reproducible: the same commit and the same Go give the same bytes in
// any folder of any machine. Beside it lie its bill of materials, as SPDX 2.3 in JSON, and SHA256SUMS.
//
// For Linux there are two: the whole product, and with -node behind its name the binary of the image, which has no
// simulator (the build tag node).
//
// It signs and publishes nothing.
//
// Invariants:
//
//	RELEASE-1 A binary depends on the commit, on Go's version and on nothing else: neither on a path, a time,
//	          an environment nor a state of git's work tree. -twice proves it: it builds an export of the commit
//	          in another folder, and compares.
//	RELEASE-2 The bill names each module that the linker took, as the binary itself tells, and no other.
//	RELEASE-3 A folder that was begun holds no file of an earlier release.
//
// Read main.go, build.go, then bill.go.
package main
