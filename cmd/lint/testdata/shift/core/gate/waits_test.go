package gate

import "time"

func expected(tries int) time.Duration { return base << tries }
