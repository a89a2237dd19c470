package netsim

// Doubles counts, by opening and accepting host, the streams that an opener keeps in addition
// to another one to the same host. No node needs two for long.
func (s *Streams) Doubles() map[[2]Host]int {
	seen, doubles := map[[2]Host]bool{}, map[[2]Host]int{}
	for _, c := range s.conns {
		if c.id == 0 || c.side[0].state.ended() || c.side[0].mute {
			continue
		}
		way := [2]Host{c.side[0].host, c.side[1].host}
		if seen[way] {
			doubles[way]++
		}
		seen[way] = true
	}
	return doubles
}
