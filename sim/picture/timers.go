package picture

import (
	"fmt"

	"hyperscale/core/node"
)

// timerName is the name of one of core/node's timers. Timers of roles have no prefix, as a node
// has one role.
func timerName(k node.TimerKey) string {
	part, names := timerNames(k.Part)
	if i := int(k.Kind) - 1; i >= 0 && i < len(names) {
		return part + names[i]
	}
	return fmt.Sprintf("%d.%d", k.Part, k.Kind)
}

// timerNames are the names for the kinds of a part, in their order.
func timerNames(p node.Part) (part string, kinds []string) {
	switch p {
	case node.PartClient:
		return "", []string{"timeout", "silence"}
	case node.PartGate:
		return "", []string{"silence", "job", "retry", "sweep", "push", "queue", "stop", "rows"}
	case node.PartManager:
		return "", []string{"heartbeat", "job", "dispatch", "retry", "sweep", "push", "worker", "drain", "sum"}
	case node.PartWorker:
		return "", []string{"heartbeat", "renewal", "shard", "kill", "push", "retry", "sweep", "drain", "hold"}
	case node.PartUplink:
		return "uplink ", []string{"reconnect", "silence", "beat"}
	case node.PartLease:
		return "lease ", []string{"hail", "renew", "expire", "flush", "sweep", "read"}
	case node.PartArchive:
		return "archive ", []string{"retry"}
	case node.PartSwim:
		return "swim ", []string{"probe", "ack", "relay", "suspect", "gossip", "push-pull", "reap", "join", "hold"}
	case node.PartElection:
		return "election ", []string{"timeout", "beat", "quorum", "stand"}
	case node.PartHealth:
		return "health ", []string{"lag"}
	case node.PartDiscovery:
		return "discovery ", []string{"refresh"}
	}
	return "", nil
}

// routineTimer says that a timer fires all the time, whatever happens.
func routineTimer(k node.TimerKey) bool {
	switch timerName(k) {
	case "heartbeat", "sweep", "push", "uplink beat", "lease renew", "lease flush", "lease sweep", "swim probe", "swim ack",
		"swim gossip", "swim push-pull", "swim reap", "election beat", "election quorum", "health lag", "discovery refresh":
		return true
	}
	return false
}
