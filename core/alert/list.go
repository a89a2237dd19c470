package alert

import "time"

// ID is an alert of the list. Values are in Notes, on the wire: never renumber, and add at the end.
type ID uint8

// The alerts.
const (
	QueueHigh ID = iota
	CircuitOpen
	SustainedShedding
	Emergency
	DeadLetters
	CriticalShed
	HighLane
	DestinationSaturated
	LeaderOverloaded
	WorkersOverloaded
	WorkersUnhealthy
	NoWorkerHealthy
	WorkerCircuit
	CertificateExpires
	DiskLow
	SinkBehind
	SinkLost
	IDs
)

// Rule describes an alert.
type Rule struct {
	Name     string
	Group    bool // about a group of nodes: its leader reports it
	Host     bool // about what no machine sees: runtime/host judges it
	Critical bool // jobs stop, or are rejected, until a person acts
	For      time.Duration
	Clear    time.Duration // for which the condition must be gone
	When     string        // the condition, for people
	Remedy   string
}

// rules is the list.
func rules() [IDs]Rule {
	all := machineRules()
	for id, r := range hostRules() {
		if r.Name != "" {
			all[id] = r
		}
	}
	return all
}

// hostRules are those of what no machine sees.
func hostRules() [IDs]Rule {
	return [IDs]Rule{
		CertificateExpires: {
			Name: "certificate-expires", Host: true, Clear: 5 * time.Second,
			When:   "a node's certificate, or one that it hangs on, ends within 14 days, or a third of its life if that is less, or has ended: then peers reject new streams",
			Remedy: "write new files over --tls-cert and --tls-key: the node reads them again within a second",
		},
		DiskLow: {
			Name: "disk-low", Host: true, For: 30 * time.Second, Clear: 30 * time.Second,
			When:   "less than 10 % of the volume of a node's --data is free: a full disk takes no write, and the node refuses new work",
			Remedy: "free space on the volume of --data, or enlarge it; `hyperscale doctor` measures it",
		},
		SinkBehind: {
			Name: "sink-behind", Host: true, Clear: 5 * time.Second,
			When:   "a sink is behind: a gate has waited for it to take rows for more than 5 minutes, and what it does not have gate.output_timeout after a job's end is lost",
			Remedy: "see why in the gate's log and in `hyperscale status JOB`, and repair the place or what the section outputs says of it; rows wait for it",
		},
		SinkLost: {
			Name: "sink-lost", Host: true, Clear: 10 * time.Minute,
			When:   "a sink is given up and lacks rows: it did not take them gate.output_timeout after the job's end, it rejected a gate's credentials for 5 minutes, or it gives no answers",
			Remedy: "repair the place or its credentials; `hyperscale status JOB` says how many rows each sink lacks",
		},
	}
}

// machineRules are those that the machines of roles judge.
func machineRules() [IDs]Rule {
	return [IDs]Rule{
		QueueHigh: {
			Name: "queue-high", For: 5 * time.Minute, Clear: time.Minute,
			When:   "half of gate.queue_max jobs wait at a gate",
			Remedy: "add workers, or submit less; raise gate.queue_max if jobs may wait longer",
		},
		CircuitOpen: {
			Name: "circuit-open", Critical: true, Clear: 10 * time.Second,
			When:   "majorities of the gates have failed three times in 30 s: a gate rejects what needs one",
			Remedy: "see `hyperscale status --cluster` for the gates that are not alive, and start or reconnect them",
		},
		SustainedShedding: {
			Name: "sustained-shedding", For: 5 * time.Minute, Clear: time.Minute,
			When:   "a gate refuses more than 10 requests a second for want of room or time",
			Remedy: "find the clients that send most, by the log's `shed` lines; spread them over all gates, or add gates",
		},
		Emergency: {
			Name: "emergency", Critical: true, Clear: 30 * time.Second,
			When:   "at least two of these hold at one gate: its queue is half full, jobs start so late that it dispatches at a quarter of gate.dispatch_rate_max, requests overload it, its majorities fail",
			Remedy: "stop submitting, see `hyperscale status --cluster` and the log for what is slow, and repair that first",
		},
		DeadLetters: {
			Name: "dead-letters", Group: true, For: 10 * time.Minute, Clear: time.Minute,
			When:   "more than 100 dead letters, or half of gate.letters_max, are kept",
			Remedy: "`hyperscale jobs --dead` has the reasons; replay them with `hyperscale replay`, or let gate.letter_age end them",
		},
		CriticalShed: {
			Name: "critical-shed", Critical: true, Clear: 10 * time.Minute,
			When:   "a node's mailbox has lost a message on which leases or the membership hang",
			Remedy: "give the node more CPU, or move nodes away from it; report it if the node was idle",
		},
		HighLane: {
			Name: "high-lane", For: time.Minute, Clear: time.Minute,
			When:   "90 % of a node's lane of dispatches and files are full",
			Remedy: "give the node more CPU, or add nodes of its role",
		},
		DestinationSaturated: {
			Name: "destination-saturated", For: time.Minute, Clear: time.Minute,
			When:   "half of what a stream may hold waits to be written to one peer",
			Remedy: "see that the peer is not paused and that the link to it has room",
		},
		LeaderOverloaded: {
			Name: "leader-overloaded", Group: true, For: 5 * time.Second, Clear: 30 * time.Second,
			When:   "the leader of the gates, or of a datacenter's managers, is slow: its loop lags by a second",
			Remedy: "give the node more CPU; `hyperscale drain` moves its work and its leadership",
		},
		WorkersOverloaded: {
			Name: "workers-half-overloaded", Group: true, For: 30 * time.Second, Clear: 30 * time.Second,
			When:   "half of a datacenter's workers have too many results that wait for their managers",
			Remedy: "see that managers are alive and their disks fast; raise worker.outbox_max if results are many and small",
		},
		WorkersUnhealthy: {
			Name: "workers-80-unhealthy", Group: true, Critical: true, For: 10 * time.Second, Clear: 30 * time.Second,
			When:   "80 % of a datacenter's workers, of three at least, are suspect, dead or away",
			Remedy: "see the network between workers and managers, and the workers' logs; start what is down",
		},
		NoWorkerHealthy: {
			Name: "no-worker-healthy", Group: true, Critical: true, For: 10 * time.Second, Clear: 10 * time.Second,
			When:   "no worker of a datacenter that had some is healthy",
			Remedy: "start workers with this datacenter's --managers, or repair the network to them",
		},
		WorkerCircuit: {
			Name: "worker-circuit-open", Clear: 30 * time.Second,
			When:   "a worker's machine has failed three shards within a minute: a manager gives it one shard each half minute as a trial, until it runs one",
			Remedy: "read why in that worker's log; drain it with `hyperscale drain`, or repair its memory, disk or installation",
		},
	}
}

// RuleOf returns the description of an alert.
func RuleOf(id ID) Rule { return rules()[id] }

// String returns the alert's name.
func (id ID) String() string { return rules()[id].Name }

// Severity names how urgent an alert is.
func (r *Rule) Severity() string {
	if r.Critical {
		return "critical"
	}
	return "warning"
}

// Text describes a raised alert, by the name that a node gave it, for people. A newer node may name
// one that this node does not know.
func Text(name, why string) string {
	for id := range IDs {
		if r := RuleOf(id); r.Name == name {
			return "alert " + name + ": " + r.When + " (" + why + "): " + r.Remedy
		}
	}
	return "alert " + name + ": " + why
}
