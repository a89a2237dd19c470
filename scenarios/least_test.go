package scenarios

import (
	"strings"
	"testing"
	"time"

	"hyperscale/scenarios/stage"
)

// The worlds that may be shorter than their own length.
func TestOnlyOpenEndedWorldsMayBeShorter(t *testing.T) {
	shorter := map[string]bool{"steady": true, "storm": true, "storm-beyond": true, "gossip": true, "canary": true}
	for _, s := range All() {
		if err := s.Check(0); err != nil {
			t.Errorf("%s, as long as it is: %v", s.Name, err)
		}
		if err := s.Check(s.Virtual); err != nil {
			t.Errorf("%s, as long as it is: %v", s.Name, err)
		}
		err := s.Check(s.Shortest() - time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), s.Shortest().String()) {
			t.Errorf("%s, a millisecond too short: %v", s.Name, err)
		}
		if err := s.Check(s.Virtual - time.Millisecond); (err == nil) != shorter[s.Name] {
			t.Errorf("%s, a millisecond shorter than it is: %v", s.Name, err)
		}
	}
}

// A world of the least legal length gets a correct verdict. The canary shows what a failure
// looks like.
func TestTheLeastIsEnough(t *testing.T) {
	for _, s := range All() {
		if s.Least == 0 || s.ExpectedLoss != "" || s.Name == "gossip" {
			continue
		}
		for seed := range uint64(10) {
			if r := s.Run(stage.Options{Seed: 1 + seed, Virtual: s.Least}); r.Outcome != stage.OK {
				t.Errorf("%s, seed %d, %v long: %s", s.Name, r.Seed, s.Least, r.Detail)
			}
		}
	}
}

// A run that is cut short does not judge what only its end shows, a loss included.
func TestACutRunIsNotJudgedByItsEnd(t *testing.T) {
	for _, name := range []string{"canary", "death-by-gossip"} {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if r := s.Run(stage.Options{Seed: 1, Until: time.Second}); r.Outcome != stage.OK || !strings.HasPrefix(r.Detail, "cut at 1s") {
			t.Errorf("%s: %s, %q", name, r.Outcome, r.Detail)
		}
	}
}

// Seed 7730042 drew a crash of zero length: a voter that should have returned was missing.
func TestAForgottenVoterIsBack(t *testing.T) {
	s, err := Find("forgotten-vote")
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Run(stage.Options{Seed: 7730042}); r.Outcome != stage.OK {
		t.Errorf("%s: %s", r.Outcome, r.Detail)
	}
}

// Seed 703077361218 drew a delay of zero, which is not a fault: the world did not begin.
func TestOldProgressDrawsADelay(t *testing.T) {
	s, err := Find("old-progress")
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Run(stage.Options{Seed: 703077361218, Until: 2 * time.Second}); r.Outcome != stage.OK {
		t.Errorf("%s: %s", r.Outcome, r.Detail)
	}
}

// Worlds that judge what their own faults should do fail by seed, not by schedule: these seeds
// once did. A member of back-from-dead was suspected anew at the moment of judgement, and the last
// word of a crashed member of flap-epoch came 31 s late.
func TestSeedsThatOnceFailed(t *testing.T) {
	//lint:orderfree each seed is judged for itself
	for name, seed := range map[string]uint64{"back-from-dead": 108008930960, "flap-epoch": 44466576448} {
		s, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if r := s.Run(stage.Options{Seed: seed}); r.Outcome != stage.OK {
			t.Errorf("%s %d: %s: %s", name, seed, r.Outcome, r.Detail)
		}
	}
}
