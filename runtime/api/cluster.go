package api

import (
	"net/http"
	"slices"

	"hyperscale/core/message"
	"hyperscale/runtime/view"
)

// DatacenterList is what /v1/datacenters answers.
type DatacenterList struct {
	Datacenters []view.Datacenter `json:"datacenters"`
}

// AlertList is what operators should act on.
type AlertList struct {
	Gate   string   `json:"gate"`   // who answered
	Alerts []string `json:"alerts"` // name, reason and remedy in one line
}

// OutputList is what /v1/outputs answers.
type OutputList struct {
	Gate    string        `json:"gate"` // whose configuration it is
	Outputs []view.Output `json:"outputs"`
}

func (c *call) outputs() error {
	list := OutputList{c.server.config.Gate, view.OutputsOf(nil)}
	if ask := c.server.config.Outputs; ask != nil {
		list.Outputs = view.OutputsOf(ask())
	}
	return c.answer(http.StatusOK, list)
}

func (c *call) cluster() error {
	s := c.server
	group, err := shared(c.r.Context(), s, &s.lists.cluster, &message.ClusterQuery{})
	if err != nil {
		return err
	}
	nodes, err := shared(c.r.Context(), s, &s.lists.nodes, &message.StatusQuery{})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, view.ClusterOf(s.withAlerts(group), nodes))
}

// withAlerts adds what the machine that answers does not see of this gate: its certificate, its disk, its sinks. Callers share
// the answer, so it stays as it is.
func (s *Server) withAlerts(group *message.ClusterStatus) *message.ClusterStatus {
	if s.config.Alerts == nil {
		return group
	}
	all := *group
	all.Warnings = slices.Concat(group.Warnings, s.config.Alerts())
	return &all
}

func (c *call) datacenters() error {
	list, err := shared(c.r.Context(), c.server, &c.server.lists.places, &message.DatacenterQuery{})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, DatacenterList{view.DatacentersOf(list)})
}

func (c *call) alerts() error {
	group, err := shared(c.r.Context(), c.server, &c.server.lists.cluster, &message.ClusterQuery{})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, AlertList{group.Gate, append([]string{}, c.server.withAlerts(group).Warnings...)})
}
