// Package alert decides when a condition that an operator should act on begins and ends, and which
// node reports it.
//
// It measures nothing, sends nothing and reads no clock: roles pass it readings and the time, and
// emit its changes. No machine acts on an alert.
//
// A list names all alerts. Each has a time for which its condition must hold before the node raises
// it, and one for which it must be gone before the node clears it. Between the two thresholds of a
// condition a reading is Between, which begins neither. A node that cannot judge reads Unknown.
//
// An alert is about a node, or about a group. Each node reports those about itself. Of a group every
// member judges, and its leader alone reports. What leaders have reported is a Note: term, count and a
// set. Members keep the latest note that they have, and tell each other (core/quorum). A new leader begins with the note's set, so it repeats no transition that it heard of. It
// reports what the note lacks, so it loses none.
//
//	            reading             the leader's note
//	member   -> private state       hears notes, reports nothing
//	takes over   raised, not noted  -> raised
//	             noted              -> taken over; cleared once the condition has been gone for long enough
//	leads        private state differs from the note -> raised, cleared
//	stops leading                   -> passed on
//
// Invariants:
//
//	ALERT-1 Between two Raised of one alert of a node's incarnation lies a Cleared or a Passed, and
//	        Cleared follows Raised or Taken.
//	ALERT-2 A reading that contradicts an alert's state for less than the alert's time changes nothing.
//	ALERT-3 A member that leads in a later term, and has the latest note, reports no transition that
//	        the note has.
//	ALERT-4 Notes merge by (term, count): in any order, any number of times, they give one note.
//
// A transition is repeated if the next leader did not get its note, since the former one was lost or
// cut off at that moment: it reports first. An alert twice is better than none.
//
// Rate, Load, Post and Lines are readings of more than one moment.
//
// Read list.go, alarm.go, note.go, board.go, then rate.go, load.go, post.go
// and lines.go.
package alert
