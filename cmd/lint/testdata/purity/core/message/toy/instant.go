package toy

import clock "hyperscale/core/node"

type Toy struct{ At clock.Instant }

type Instant struct{} // another one

type Box struct{ In Instant }
