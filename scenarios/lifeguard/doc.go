// Package lifeguard plays the experiments of the paper of that name (Dadgar,
// Phillips, Currey, arXiv 1707.00788) in the simulator: how often healthy members
// are taken for dead because others are slow, and what it costs.
//
// It is no scenario: nothing is right or wrong in it, it counts.
//
// A member that is blocked is stopped before each message that it would send and
// after each that it receives, as in the paper; its timers run on, as those of the
// program that the paper measured had threads of their own. What waited goes out,
// then comes in, when the block ends. All settings are played against the same
// anomalies, of the same members at the same times. A process that is stopped whole
// is kinder to SWIM: nothing times out meanwhile, and the scenario paused-process
// plays that.
//
// Threshold: C members are blocked once, for D. What is blocked for long fails
// truly: that gives the times of detection. Interval: they are blocked for D again
// and again with pauses I for two minutes: that gives false positives.
//
// A false positive (FP) is a member's verdict that a member is dead which was never
// blocked; FP- are those at members which were never blocked themselves.
//
// Read setting.go, member.go, play.go, summary.go, picture.go.
package lifeguard
