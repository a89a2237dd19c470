package event

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Alert: a condition that an operator should act on has begun or ended. It comes once per
// transition. core/alert has the list.
type Alert struct {
	Alert    string // its name in the list
	Change   AlertChange
	Severity string // warning or critical
	Group    string // that the alert is about; empty: this node
	Why      string
	Remedy   string
}

// AlertChange is what a node reports of an alert.
type AlertChange string

// The changes. A new leader of a group takes over what the former one reported; that is no
// transition.
const (
	AlertRaised  AlertChange = "raised"
	AlertCleared AlertChange = "cleared"
	AlertTaken   AlertChange = "taken-over"
	AlertPassed  AlertChange = "passed-on"
)

// CircuitChanged: a gate asks majorities again, lets one trial through, or spares them requests. So does
// a manager with a worker whose machine fails shards.
type CircuitChanged struct {
	Peer  node.ID // the worker; empty: the majorities of the gates
	State string  // closed, half-open, open
}

// LoadChanged: a gate's level has changed: normal, degraded, limited, emergency.
type LoadChanged struct {
	Level string
	Rank  uint8 // of the level, 0 to 3
	Why   string
}

// JobBegan: a job runs, after it waited in the queue and for its managers' answers.
type JobBegan struct {
	Job    message.JobID
	Waited time.Duration // in the queue
	Took   time.Duration // from its dispatch
}

// FleetCounted: how a manager sees its datacenter's workers, after it has changed. It comes at most
// once a heartbeat.
type FleetCounted struct {
	Healthy    uint32
	Unhealthy  uint32 // suspect, dead or away
	Overloaded uint32 // of the healthy ones
	Draining   uint32
	Tripped    uint32 // whose circuit is open, healthy or not
	CoresFree  uint32
	CoresTotal uint32
}

// EventName implements node.Event.
func (Alert) EventName() string { return "alert" }

// EventName implements node.Event.
func (CircuitChanged) EventName() string { return "circuit-changed" }

// EventName implements node.Event.
func (LoadChanged) EventName() string { return "load-changed" }

// EventName implements node.Event.
func (JobBegan) EventName() string { return "job-began" }

// EventName implements node.Event.
func (FleetCounted) EventName() string { return "fleet-counted" }
