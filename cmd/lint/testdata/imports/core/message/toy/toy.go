package toy

import _ "hyperscale/core/message"
