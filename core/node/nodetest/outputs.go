package nodetest

import "hyperscale/core/node"

// sinks are the node.Outputs of Env: the test decides what becomes of each delivery.
type sinks struct {
	recorder *Recorder
	open     []node.Delivery // neither ended nor forgotten, in the order of their deliveries
}

func (s *sinks) find(id node.DeliveryID) int {
	for i := range s.open {
		if s.open[i].ID == id {
			return i
		}
	}
	return -1
}

// Deliver implements node.Outputs.
func (s *sinks) Deliver(d node.Delivery) {
	if s.find(d.ID) >= 0 {
		node.Bug("nodetest: delivery %d begins twice", d.ID)
	}
	s.open = append(s.open, d)
	again := ""
	if d.Again {
		again = " again"
	}
	s.recorder.line("deliver %d %s%s", d.ID, d.Sink, again)
}

// Forget implements node.Outputs.
func (s *sinks) Forget(id node.DeliveryID) {
	if at := s.find(id); at >= 0 {
		s.open = append(s.open[:at], s.open[at+1:]...)
	}
	s.recorder.line("forget %d", id)
}

// Deliveries lists the deliveries that have neither ended nor been forgotten.
func (e *Env) Deliveries() []node.Delivery { return append([]node.Delivery(nil), e.sinks.open...) }

// Delivered delivers news of a delivery.
func (e *Env) Delivered(d node.Delivered) {
	if at := e.sinks.find(d.ID); at >= 0 && d.Verdict != node.DeliveryTrying {
		e.sinks.open = append(e.sinks.open[:at], e.sinks.open[at+1:]...)
	}
	e.step(node.Input{Kind: node.InputDelivered, Delivered: &d})
}
