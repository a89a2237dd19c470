// Package election chooses at most one leader a term among a group's configured
// voters.
//
// A leader here decides nothing about jobs: they are owned by registers
// (core/lease), one by one. It is who does what needs doing once in a group.
//
// Source: Ongaro's dissertation "Consensus: Bridging Theory and Practice" (2014),
// 3.4 (elections), 4.2.3 (pre-vote, leader stickiness), 6.4 (a leader that hears no
// majority steps down), without a log; eligibility by local health after
// Lifeguard (arXiv 1707.00788).
package election
