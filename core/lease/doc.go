// Package lease keeps one owner per job, and its record, among a configured set
// of members: a replicated register a job, by majority, without a log.
package lease
