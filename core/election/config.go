package election

import (
	"time"

	"hyperscale/core/node"
)

// Poster sends a message to a fellow; it may be lost. uplink.Links is one.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Config is one voter of one group.
type Config struct {
	Group  string
	Self   node.Addr
	Voters []node.Addr // configured, Self included

	TimeoutMin time.Duration // a leader that is silent for so long may be replaced
	TimeoutMax time.Duration // and one that hears no majority for so long steps down
	Heartbeat  time.Duration

	FitMax      int           // local health up to which a voter stands
	HandOverAt  int           // from which a leader hands over to a fit voter
	StepDownAt  int           // from which it steps down, fit voter or not
	DelayStep   time.Duration // by which standing is delayed for each point of health and each rank
	LeaderlessN int           // timeouts without a leader after which anybody stands

	FlapLimit  int           // changes of leader within FlapWindow
	FlapWindow time.Duration //
	FlapPause  time.Duration // without standing, after so many
}

// Default returns a voter that lacks only its group.
func Default() Config {
	return Config{
		TimeoutMin: time.Second, TimeoutMax: 1500 * time.Millisecond, Heartbeat: 250 * time.Millisecond,
		FitMax: 4, HandOverAt: 6, StepDownAt: 7, DelayStep: 100 * time.Millisecond, LeaderlessN: 3,
		FlapLimit: 4, FlapWindow: time.Minute, FlapPause: 30 * time.Second,
	}
}
