package node

type Instant int64

type Time struct{ At Instant }
