package retry

import "time"

func doubled(d time.Duration) time.Duration { return d << 1 }
