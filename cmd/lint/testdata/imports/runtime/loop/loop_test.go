package loop

import _ "hyperscale/core/message/toy"
