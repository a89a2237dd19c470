// Package pagetest opens pages in a real browser, without a window, and returns the findings of
// a harness, a page around them.
//
// It is for tests alone: no command imports it. Each page's own test says how the page must
// look.
//
// Invariants:
//
//	PAGETEST-1 The browser reaches the test's own server and nothing else. axe-core, which judges pages, is a package of npm
//	           at one version: it is no part of the product.
//	PAGETEST-2 A page that makes the browser's console complain fails the test.
//	PAGETEST-3 In CI (HYPERSCALE_CI) a missing browser is a failure, and so is npm. Elsewhere it skips the
//	           test: a page that no browser opened is not known to work.
//
// Read browser.go, axe.go.
package pagetest
