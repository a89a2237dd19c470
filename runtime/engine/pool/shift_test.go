package pool

import "testing"

// The clock of the load begins behind the setup: what the setup's connections remember stays as old as it is.
func TestInstantsOfConnectionsFollowTheClock(t *testing.T) {
	const by, age = 5_000_000_000, 20
	k := &sockets{}
	talk, multiple, trunk := k.Conns.take(), k.Conns.take(), k.Conns.take()
	k.Conns.At(talk).talk = &dialogue{heard: by - age, rested: by - age}
	k.Conns.At(multiple).multi = &multi{heard: by - age, asked: by - age}
	k.Conns.At(trunk).multi = &multi{heard: by - age, talk: &dialogue{rested: by - age}}
	k.lingering = []lingerer{{until: by + age}}
	k.Shift(by)
	two, three := k.Conns.At(multiple).multi, k.Conns.At(trunk).multi
	for what, got := range map[string][2]int64{
		"a talk was heard":        {k.Conns.At(talk).talk.heard, -age},
		"a talk rested":           {k.Conns.At(talk).talk.rested, -age},
		"streams were heard":      {two.heard, -age},
		"a PING was sent":         {two.asked, -age},
		"a trunk was heard":       {three.heard, -age},
		"nothing is asked":        {three.asked, 0},
		"a trunk's talk rested":   {three.talk.rested, -age},
		"a goodbye is waited for": {k.lingering[0].until, age},
	} {
		if got[0] != got[1] {
			t.Errorf("%s at %d, want %d", what, got[0], got[1])
		}
	}
}
