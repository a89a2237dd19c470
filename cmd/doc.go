// Package cmd is the floor of the commands. No package imports it.
//
// hyperscale is the product's only binary, lint checks the house rules, and coverage lists code
// that no world runs. catalogue generates core/message's code other than its codec. site makes
// web pages of the manuals. release builds the binaries, and size compares one with that of a commit. dashboards writes the rules of
// Prometheus and the dashboards of Grafana. chaos breaks a real cluster and lets the checker judge it. Each
// command's package comment says what it does; core and runtime hold its parts.
package cmd
