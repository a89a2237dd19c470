// Package check tests what the folder above holds: the image, units and manifests that start Hyperscale. It is a
// module of its own, so that what reads those formats is no dependency of the product. `make deploy-check` runs it.
//
// A test whose program or right is missing (root, unshare, buildah, ...) skips itself and says SKIPPED; the rest
// needs Go alone. On a machine that has them, all run.
package check
