package cluster

import (
	"time"

	"hyperscale/core/node"
)

// arrival says when a message reaches a machine: never (Lost), or at an instant. A
// past instant means now.
type arrival func(to node.ID, in *node.Input) time.Duration

// delayWrapper delays or drops messages of a machine's streams, as a world chooses.
type delayWrapper struct {
	wrapper
	stage   *Cluster
	arrives arrival
	id      node.ID
	kept    map[node.Message]node.Input
}

// Lost means that a message never arrives.
const Lost = -1

// Step implements node.Machine.
func (d *delayWrapper) Step(env node.Env, in *node.Input) {
	w := d.stage.World
	switch in.Kind {
	case node.InputMessage:
		if at := d.arrives(d.id, in); at == Lost {
			return
		} else if at > w.Now() {
			m := in.Message
			d.kept[m] = *in
			w.At(at, func() {
				if w.Alive(d.id) {
					w.Command(d.id, m, func(node.Message) {})
				}
			})
			return
		}
	case node.InputCommand:
		kept, ok := d.kept[in.Message]
		if !ok {
			break // its stream, or the incarnation that received it, has ended
		}
		delete(d.kept, in.Message)
		d.Machine.Step(env, &kept)
		return
	case node.InputStreamBroken:
		//lint:orderfree what is deleted does not depend on the order
		for m, kept := range d.kept {
			if kept.Stream == in.Stream {
				delete(d.kept, m)
			}
		}
	}
	d.Machine.Step(env, in)
}
