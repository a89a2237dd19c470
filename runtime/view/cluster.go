package view

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Cluster is what `status --cluster --json` prints. Fields may be added, never renamed.
type Cluster struct {
	Gate     string    `json:"gate"`     // who answered, as it sees all that follows
	Standing string    `json:"standing"` // founding, joining, member
	Draining bool      `json:"draining"`
	Leader   string    `json:"leader"` // address, empty when none is known
	Term     uint64    `json:"term"`
	Gates    []string  `json:"gates"` // the configured set
	Members  []Member  `json:"members"`
	Nodes    []Node    `json:"nodes"` // of datacenters
	Jobs     []JobLine `json:"jobs"`  // the newest that this gate owns
	Leases   []Lease   `json:"leases"`
	LeaseSum uint32    `json:"lease_sum"` // with those that are not listed
	Alarms   uint32    `json:"alarms"`    // since this gate started
	Alarm    string    `json:"alarm"`     // the newest that was not seen to end
	Warnings []string  `json:"warnings"`
}

// Member is one gate of the configured set.
type Member struct {
	Node        string `json:"node"` // empty when it was never heard
	Address     string `json:"address"`
	Incarnation uint64 `json:"incarnation"`
	State       string `json:"state"` // unknown, alive, no manager, suspect, dead, left
	By          string `json:"by"`    // who raised the suspicion, or the death
	Reason      string `json:"reason"`
	SinceNS     int64  `json:"since_ns"`
	Draining    bool   `json:"draining"`
	Leader      bool   `json:"leader"`
	Version     string `json:"version"` // of the protocol; empty while the gate that answered is not connected to it
}

// Node is a node of a datacenter.
type Node struct {
	Node        string `json:"node"`
	Role        string `json:"role"`
	Datacenter  string `json:"datacenter"`
	Incarnation uint64 `json:"incarnation"`
	State       string `json:"state"` // alive, suspect, dead, left, lost; of managers also joining, no quorum, full, stalled, stuck
	By          string `json:"by"`
	Draining    bool   `json:"draining"`
	SilentNS    int64  `json:"silent_ns"` // since it was last heard
	CoresTotal  uint32 `json:"cores_total"`
	CoresFree   uint32 `json:"cores_free"`
	Subjobs     uint32 `json:"subjobs"` // of jobs, that a manager owns
	Leader      bool   `json:"leader"`  // of its datacenter's managers
	Version     string `json:"version"` // of the protocol; empty if no gate knows it
}

// JobLine is one job of a gate.
type JobLine struct {
	Job      string `json:"job"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Position uint32 `json:"position"`
	AgeNS    int64  `json:"age_ns"`
}

// Lease is the register of one job.
type Lease struct {
	Job      string `json:"job"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Holder   string `json:"holder"` // address, empty for none
	Fence    string `json:"fence"`  // epoch/ordinal of the holder's token
	LeftNS   int64  `json:"left_ns"`
	Released bool   `json:"released"`
	Unknown  bool   `json:"unknown,omitempty"` // the gate that answered has heard of no holder since its start, or for a lease: another gate may know one
}

// ClusterOf shows a cluster as one gate sees it: its group, and its nodes and jobs.
func ClusterOf(c *message.ClusterStatus, list *message.StatusList) Cluster {
	out := Cluster{
		Gate: c.Gate, Standing: c.Standing, Draining: c.Draining, Leader: c.Leader, Term: c.Term, LeaseSum: c.LeaseSum, Alarms: c.Alarms, Alarm: c.Alarm,
		Gates: append([]string{}, c.Gates...), Warnings: append([]string{}, c.Warnings...),
		Members: []Member{}, Nodes: []Node{}, Jobs: []JobLine{}, Leases: []Lease{},
	}
	for _, m := range c.Members {
		out.Members = append(out.Members, Member{m.Node, m.Addr, m.Incarnation, m.State, m.By, m.Reason, int64(m.Since), m.Draining, m.Addr == c.Leader, m.Version})
	}
	for _, n := range list.Nodes {
		out.Nodes = append(out.Nodes, Node{
			n.Node, node.Role(n.Role).String(), n.Datacenter, n.Incarnation, n.State, n.By, n.Draining, int64(n.Silent), n.CoresTotal, n.CoresFree, n.Subjobs, n.Leader, n.Version,
		})
	}
	for _, j := range list.Jobs {
		out.Jobs = append(out.Jobs, JobLine{j.Job.String(), j.Name, j.State.String(), j.Position, int64(j.Age)})
	}
	for _, l := range c.Leases {
		out.Leases = append(out.Leases, Lease{l.Job.String(), l.Name, l.State.String(), holderOf(&l), l.Token.String(), int64(l.Left), l.Released, l.Unheard})
	}
	return out
}

// Datacenter is a line of `datacenters --json`. Fields may be added, never renamed.
type Datacenter struct {
	Name       string `json:"name"`
	Health     string `json:"health"`
	Managers   uint32 `json:"managers"`
	Workers    uint32 `json:"workers"`
	CoresTotal uint32 `json:"cores_total"`
	CoresFree  uint32 `json:"cores_free"`
	RoundTrip  int64  `json:"round_trip_ns"` // 0: not known
	Favoured   bool   `json:"favoured"`
}

// DatacentersOf shows a list of datacenters.
func DatacentersOf(l *message.DatacenterList) []Datacenter {
	out := []Datacenter{}
	for _, d := range l.Datacenters {
		out = append(out, Datacenter{d.Name, d.Health.String(), d.Managers, d.Workers, d.CoresTotal, d.CoresFree, int64(d.RoundTrip), d.Favoured})
	}
	return out
}
