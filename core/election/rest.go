package election

import "hyperscale/core/node"

// Rests reports this voter's ledgers against their rest: term and vote are on disk. Answers to
// the last round remain until the next one.
func (e *Election) Rests(tell node.Tell) {
	tell("election/writes", len(e.puts), 0)
	tell("election/outcomes", len(e.outcomes), 0)
	tell("election/admitted", len(e.admitted), len(e.others))
	tell("election/changes", len(e.changes), e.config.FlapLimit)
	tell("election/beats answered", len(e.acks), len(e.others))
	tell("election/votes of the round", len(e.round.granted), len(e.others)+1)
	tell("election/joins of the round", len(e.round.joined), len(e.others)+1)
}
