package gate

import "hyperscale/core/node"

type Machine struct{ id node.ID }
