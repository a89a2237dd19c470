// Package lifeguard plays the experiments of the paper of that name (Dadgar, Phillips,
// Currey, arXiv 1707.00788) in the simulator. It counts how often slow members make healthy
// ones look dead, and what that costs.
//
// It is no scenario: nothing in it is right or wrong.
//
// As in the paper, a blocked member stops before each message that it would send and after each
// that it receives. Its timers run on: in the program that the paper measured they had threads
// of their own. When the block ends, waiting messages go out, then come in. All settings face
// the same anomalies, of the same members at the same times. A process that is stopped whole
// is kinder to SWIM, as nothing times out meanwhile; the scenario paused-process plays that.
//
// Threshold: C members are blocked once, for D. A long block is a true failure and gives the
// times of detection. Interval: they are blocked for D again and again with pauses I for two
// minutes, which gives false positives.
//
// A false positive (FP) is a verdict that a member is dead which was never blocked. FP- is one
// at a member that was never blocked either.
//
// Read setting.go, member.go, play.go, summary.go, picture.go.
package lifeguard
