package lease

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A proposal that is due does what its phase, its answers and its times say.
func TestDecide(t *testing.T) {
	const hold = 9 * time.Second
	now := node.Instant(20 * time.Second)
	late, early := now.Add(-hold), now.Add(-hold+1)
	high := message.LeaseToken{Epoch: 2, Ordinal: 1}
	for _, tc := range []struct {
		name string
		p    proposal
		want move
	}{
		{"a back-off is over", proposal{phase: waiting}, toBegin},
		{"promises are missing", proposal{phase: preparing, attempt: attempt{began: early}}, toPrepare},
		{"members may have forgotten their promises", proposal{phase: preparing, attempt: attempt{began: late}}, toBegin},
		{"one has promised a higher token", proposal{phase: preparing, attempt: attempt{began: late, refused: 1}}, toFail},
		{"the accepts of a grant are missing", proposal{phase: granting, offer: offer{sent: early}}, toAccept},
		{"the window of a grant is over", proposal{phase: granting, offer: offer{sent: late}}, toBackOff},
		{"a renewal is not due", proposal{phase: holding, tenure: tenure{renewAt: now + 1}}, toWait},
		{"a renewal is due", proposal{phase: holding, tenure: tenure{renewAt: now}}, toRenew},
		{"an update is open", proposal{phase: holding, offer: offer{open: true}, tenure: tenure{renewAt: now + 1}}, toAccept},
		{"an update is open when a renewal is due", proposal{phase: holding, offer: offer{open: true}, tenure: tenure{renewAt: now}}, toRenew},
		{"a member has promised a higher token than the holder's", proposal{phase: holding, attempt: attempt{refused: 1}, offer: offer{open: true}}, toReacquire},
		{"a majority has accepted nevertheless", proposal{phase: holding, attempt: attempt{refused: 1}, tenure: tenure{renewAt: now + 1}}, toWait},
		{"a release has no majority", proposal{phase: releasing, offer: offer{sent: late}}, toAccept},
		{"a member has promised while it was released", proposal{phase: releasing, attempt: attempt{refused: 1}, offer: offer{sent: early}}, toAccept},
		{"and the others are silent for a window", proposal{phase: releasing, attempt: attempt{refused: 1}, offer: offer{sent: late}}, toFail},
		{"the successor is silent", proposal{phase: leaving, attempt: attempt{token: high}, reg: &register{promised: high}}, toConsent},
		{"the successor prepares", proposal{phase: leaving, reg: &register{promised: high}}, toEnd},
	} {
		if got := tc.p.decide(now, hold); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
